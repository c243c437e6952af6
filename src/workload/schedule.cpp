// SPDX-License-Identifier: Apache-2.0
#include "workload/schedule.h"

#include <algorithm>

namespace hotset {
namespace {

constexpr double kMostCreditSeconds = 1.0; // a process that was stopped does not try to make up for hours
constexpr Nanoseconds kSlice = std::chrono::milliseconds(1); // of pacing: fewer wake-ups than touches
constexpr double kLongestWaitSeconds = 3600;

} // namespace

Moment moment_at(Schedule schedule, Nanoseconds period, Nanoseconds elapsed) {
  const auto number = static_cast<std::uint64_t>(elapsed / period);
  const Nanoseconds start = elapsed - elapsed % period;
  const bool first_half = elapsed - start < period / 2;
  const Nanoseconds half_end = first_half ? start + period / 2 : start + period;
  Moment moment{.lasts_until = Nanoseconds::max()};
  switch (schedule) {
    case Schedule::steady:
      break;
    case Schedule::phases:
      moment.phase = number;
      moment.lasts_until = start + period;
      break;
    case Schedule::ramp:
      moment.allocation = number;
      moment.grown = static_cast<double>((elapsed - start).count()) / static_cast<double>(period.count());
      moment.lasts_until = start + period;
      break;
    case Schedule::churn:
      moment.allocation = number;
      moment.allocated = moment.busy = first_half;
      moment.lasts_until = half_end;
      break;
    case Schedule::bursts:
      moment.busy = first_half;
      moment.lasts_until = half_end;
      break;
  }
  return moment;
}

std::uint64_t Pacer::take(Nanoseconds now, std::uint64_t most) {
  if (rate_ == 0) return most;
  credit_ = std::min(credit_ + rate_ * to_seconds(now - last_), std::max(1.0, rate_ * kMostCreditSeconds));
  last_ = now;
  auto due = static_cast<std::uint64_t>(std::min(credit_, static_cast<double>(most)));
  credit_ -= static_cast<double>(due);
  return due;
}

Nanoseconds Pacer::next() const {
  double wait = std::min((1 - credit_) / rate_, kLongestWaitSeconds);
  return last_ + std::max(from_seconds(wait) + Nanoseconds(1), kSlice);
}

} // namespace hotset
