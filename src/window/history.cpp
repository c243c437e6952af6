// SPDX-License-Identifier: Apache-2.0
#include "window/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace hotset {
namespace {

std::unexpected<Error> unreadable(std::string cause, std::string remedy = {}) {
  return fail(ErrorCode::bad_data, "read", "the rolling window", std::move(cause), std::move(remedy));
}

Result<> check(const window_header& header, const WindowImage& image, std::size_t cpu) {
  if (header.magic == 0)
    return unreadable(fmt::format("it has not been started on CPU {}", cpu),
                      "the program that loads it has to start it before it attaches (bpf/window.bpf.h)");
  if (header.magic != WINDOW_MAGIC) return unreadable("its value does not begin with the header of one");
  if (header.version != WINDOW_VERSION)
    return unreadable(
        fmt::format("it is of version {}, and this program reads version {}", header.version, WINDOW_VERSION));
  bool known_clock = header.clock == WINDOW_JIFFIES || header.clock == WINDOW_BOOTTIME;
  if (header.layout != image.layout || header.counters != image.counters || header.slots != WINDOW_SLOTS ||
      !known_clock || header.ticks_per_s == 0 || header.tick_ns == 0)
    return unreadable(fmt::format("its header on CPU {} is not that of a window of {} counters", cpu, image.counters));
  return {};
}

bool has_slot(const WindowImage& image, std::uint64_t second) {
  for (std::size_t cpu = 0; cpu < image.cpus; ++cpu)
    if ((image.slot(cpu, second % WINDOW_SLOTS)[0] & ~WINDOW_BUSY) == second) return true;
  return false;
}

// The newest second that any CPU says has begun, 0 if none does.
std::uint64_t newest_second(const WindowImage& image) {
  std::uint64_t newest = 0;
  for (std::size_t cpu = 0; cpu < image.cpus; ++cpu) {
    window_header header = image.header(cpu);
    if (header.until > header.epoch) newest = std::max<std::uint64_t>(newest, window_second(&header, header.until) - 1);
  }
  return newest;
}

} // namespace

double WindowSpan::coverage() const {
  return requested == 0 ? 0 : static_cast<double>(known) / static_cast<double>(requested);
}

std::optional<double> WindowSpan::rate(std::size_t counter) const {
  if (known == 0) return std::nullopt;
  return static_cast<double>(sums[counter]) / static_cast<double>(known);
}

std::optional<double> WindowSpan::ratio(std::span<const std::size_t> of, std::span<const std::size_t> to) const {
  auto sum = [this](std::span<const std::size_t> counters) {
    double all = 0;
    for (std::size_t counter : counters)
      all += static_cast<double>(sums[counter]);
    return all;
  };
  double divisor = sum(to);
  if (divisor == 0) return std::nullopt;
  return sum(of) / divisor;
}

Result<WindowHistory> WindowHistory::from(const WindowImage& image, std::uint64_t seconds) {
  for (std::size_t cpu = 0; cpu < image.cpus; ++cpu)
    HOTSET_CHECK(check(image.header(cpu), image, cpu));
  WindowHistory history;
  history.totals_.resize(image.counters);
  history.place(image, image.header(0), seconds);
  for (std::size_t cpu = 0; cpu < image.cpus; ++cpu) {
    std::span<const __u64> totals = image.totals(cpu);
    for (std::size_t i = 0; i < totals.size(); ++i)
      history.totals_[i] += totals[i];
    if (image.layout == WINDOW_STARTS)
      history.add_starts(image, cpu);
    else
      history.add_published(image, cpu);
  }
  if (image.layout == WINDOW_PUBLISHED) // the counts of each second become running sums
    for (std::size_t i = image.counters; i < history.before_.size(); ++i)
      history.before_[i] += history.before_[i - image.counters];
  return history;
}

// Which seconds are known. By our clock the kernel is in one of three ticks: epoch_ns may be late by one, and the tick
// that is due may not have come yet. The running second is that of the earliest, for a second that is called whole must
// not grow any more, unless a program has begun a later one; but the slots that the latest may be about to use again
// are not looked at.
void WindowHistory::place(const WindowImage& image, const window_header& header, std::uint64_t seconds) {
  clock_ = static_cast<window_clock>(header.clock);
  epoch_ = Nanoseconds(header.epoch_ns);
  taken_ = image.taken;
  auto elapsed = static_cast<std::uint64_t>(std::max(taken_ - epoch_, Nanoseconds::zero()).count()) / header.tick_ns;
  std::uint64_t earliest = elapsed == 0 ? 0 : (elapsed - 1) / header.ticks_per_s;
  std::uint64_t latest = (elapsed + 1) / header.ticks_per_s;
  running_ = std::max({earliest, newest_second(image), std::uint64_t{1}});
  while (running_ < latest && has_slot(image, running_ + 1))
    ++running_;
  latest = std::max(latest, running_);
  first_ = latest > kWindowSeconds ? latest - kWindowSeconds : 1;
  if (running_ - first_ > seconds) first_ = running_ - seconds;
  before_.resize((running_ - first_ + 2) * counters());
}

// Backwards, for the end of a second is the start of the next one that the CPU has a slot for, or what it has counted
// by now. A start above that end is no start: totals were copied before the slots, and more may have been counted by
// then; between slots it is a torn one.
void WindowHistory::add_starts(const WindowImage& image, std::size_t cpu) {
  std::span<const __u64> totals = image.totals(cpu);
  std::vector<__u64> end(totals.begin(), totals.end());
  auto add_to = [&](std::uint64_t* sums) {
    for (std::size_t i = 0; i < end.size(); ++i)
      sums[i] += end[i];
  };
  add_to(row(running_ + 1));
  bool end_is_a_start = false;
  for (std::uint64_t second = running_; second >= first_; --second) {
    std::span<const __u64> slot = image.slot(cpu, second % WINDOW_SLOTS);
    if (slot[0] == second) {
      bool torn = false;
      for (std::size_t i = 0; i < end.size(); ++i) {
        torn |= slot[1 + i] > end[i];
        end[i] = std::min(end[i], slot[1 + i]);
      }
      torn_ += torn && end_is_a_start ? 1 : 0;
      end_is_a_start = true;
    }
    add_to(row(second));
  }
}

void WindowHistory::add_published(const WindowImage& image, std::size_t cpu) {
  for (std::uint64_t second = first_; second <= running_; ++second) {
    std::span<const __u64> slot = image.slot(cpu, second % WINDOW_SLOTS);
    if (slot[0] == (second | WINDOW_BUSY)) ++torn_;
    if (slot[0] != second) continue;
    std::uint64_t* counts = row(second + 1);
    for (std::size_t i = 0; i < counters(); ++i)
      counts[i] += slot[1 + i];
  }
}

std::optional<std::uint64_t> WindowHistory::count(std::uint64_t second, std::size_t counter) const {
  if (second < first_ || second > running_) return std::nullopt;
  return row(second + 1)[counter] - row(second)[counter];
}

WindowSpan WindowHistory::last(std::uint64_t seconds) const {
  WindowSpan span{.requested = seconds, .first = first_, .known = running_ - first_, .sums = {}};
  if (span.known > seconds) {
    span.known = seconds;
    span.first = running_ - seconds;
  }
  span.sums.resize(counters());
  for (std::size_t i = 0; i < counters(); ++i)
    span.sums[i] = row(running_)[i] - row(span.first)[i];
  return span;
}

} // namespace hotset
