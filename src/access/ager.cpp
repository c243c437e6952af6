// SPDX-License-Identifier: Apache-2.0
#include "access/ager.h"

#include <utility>

namespace hotset {
namespace {

constexpr double kTrip_us = 40;             // there and back
constexpr std::uint64_t kPagesPerRun = 64;  // on average: more, and the pages take longer than the interrupts
constexpr std::uint64_t kLongestRun = 1024; // pages: the target waits for 0.1 ms

} // namespace

bool is_worth_going(std::span<const Run> runs, const ClearCosts& there, const ClearCosts& elsewhere) {
  const auto count = static_cast<double>(runs.size());
  if (count * (elsewhere.per_run_us - there.per_run_us) <= kTrip_us) return false;
  std::uint64_t pages = 0;
  for (const Run& run : runs) {
    if (run.pages > kLongestRun) return false;
    pages += run.pages;
  }
  return pages <= kPagesPerRun * runs.size();
}

Result<ClearReport> Ager::age(int pidfd, std::span<const Run> runs, std::optional<unsigned> processor) {
  const Nanoseconds begin = own_cpu_time();
  std::optional<Result<ClearReport>> done;
  const bool went = processor && is_worth_going(runs, there_, elsewhere_) &&
                    beside_.run(*processor, [&] { done.emplace(age_runs(pidfd, runs, Pace::in_turns)); });
  if (!went) done.emplace(age_runs(pidfd, runs, Pace::steady));
  if (!*done) return std::move(*done);
  ClearReport& report = **done;
  report.beside = went;
  report.took = own_cpu_time() - begin;
  (went ? there_ : elsewhere_).learn(to_microseconds(report.took), report.runs, report.pages);
  return std::move(*done);
}

} // namespace hotset
