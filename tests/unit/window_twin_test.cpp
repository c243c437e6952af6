// SPDX-License-Identifier: Apache-2.0
// The rolling window against its naive twin, a map from second to counts: the code that BPF programs run, in random
// schedules of bumps on random CPUs, jumps of the clock and readings.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "window_simulated.h"

namespace hotset {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint64_t kLongest = 400; // seconds looked at before now: more than a window knows

class Schedule {
 public:
  Schedule(std::uint32_t seed, window_layout layout, window_clock clock)
      : random_(seed),
        counters_(layout == WINDOW_PUBLISHED ? WINDOW_PUBLISHED_COUNTERS : 1 + pick(WINDOW_MAX_COUNTERS)),
        cpus_(1 + pick(4)),
        window_(layout, clock, cpus_, counters_, seconds(2 + pick(100'000)) + Nanoseconds(pick(1'000'000'000)),
                clock == WINDOW_JIFFIES ? Nanoseconds(pick(static_cast<std::uint64_t>(tick_length().count())))
                                        : Nanoseconds(0)),
        totals_(counters_) {
    if (pick(2) == 0) window_.bump_nested();
  }

  void step() {
    switch (pick(8)) {
      case 0:
        window_.advance(jump());
        break;
      case 1:
        compare();
        break;
      default:
        bump();
    }
  }

  void compare() {
    WindowHistory history = window_.read();
    ASSERT_EQ(history.torn(), 0U);
    std::uint64_t second = window_.second();
    // Up to three ticks after it began, a second without a bump may not be known to run yet.
    ASSERT_LE(history.running(), second);
    ASSERT_TRUE(history.running() == second || just_begun(second));
    std::uint64_t oldest = second > kWindowSeconds ? second - kWindowSeconds : 1;
    ASSERT_GE(history.first(), oldest);
    ASSERT_LE(history.first(), oldest + 1);
    for (std::uint64_t at = second > kLongest ? second - kLongest : 0; at <= second + 1; ++at)
      compare_second(history, at);
    for (std::size_t counter = 0; counter < counters_; ++counter)
      ASSERT_EQ(history.total(counter), totals_[counter]);
    compare_span(history, history.last(pick(kLongest)));
    compare_span(history, window_.read(pick(kLongest)).whole());
  }

 private:
  std::uint64_t pick(std::uint64_t below) {
    return std::uniform_int_distribution<std::uint64_t>(0, below - 1)(random_);
  }

  Nanoseconds jump() {
    switch (pick(6)) {
      case 0:
        return Nanoseconds(pick(1'000'000));
      case 1:
        return seconds(kWindowSeconds) + milliseconds(pick(2000)); // a rollover
      case 2:
        return seconds(pick(20'000)); // hours of suspend
      case 3:
        return seconds(pick(30)); // on the second again
      default:
        return milliseconds(pick(1500));
    }
  }

  void bump() {
    std::size_t counter = pick(counters_), n = pick(3) == 0 ? pick(1'000'000) : 1;
    window_.bump(pick(cpus_), counter, n);
    std::vector<std::uint64_t>& counts = counts_[window_.second()];
    counts.resize(counters_);
    counts[counter] += n;
    totals_[counter] += n;
  }

  [[nodiscard]] std::uint64_t expected(std::uint64_t second, std::size_t counter) const {
    auto counts = counts_.find(second);
    return counts == counts_.end() ? 0 : counts->second[counter];
  }

  bool just_begun(std::uint64_t second) {
    SimulatedWindow before = window_;
    before.advance(-3 * tick_length());
    return before.second() < second;
  }

  void compare_second(const WindowHistory& history, std::uint64_t second) const {
    bool known = second >= history.first() && second <= history.running();
    for (std::size_t counter = 0; counter < counters_; ++counter) {
      std::optional<std::uint64_t> count = history.count(second, counter);
      ASSERT_EQ(count.has_value(), known);
      ASSERT_EQ(count.value_or(0), known ? expected(second, counter) : 0) << "second " << second;
    }
  }

  void compare_span(const WindowHistory& history, const WindowSpan& span) const {
    ASSERT_EQ(span.first, std::max(history.first(), history.running() - std::min(span.requested, history.running())));
    ASSERT_EQ(span.first + span.known, history.running());
    for (std::size_t counter = 0; counter < counters_; ++counter) {
      std::uint64_t sum = 0;
      for (std::uint64_t second = span.first; second < history.running(); ++second)
        sum += expected(second, counter);
      ASSERT_EQ(span.sums[counter], sum);
    }
  }

  std::mt19937 random_;
  std::size_t counters_, cpus_;
  SimulatedWindow window_;
  std::map<std::uint64_t, std::vector<std::uint64_t>> counts_;
  std::vector<std::uint64_t> totals_;
};

struct Kind {
  window_layout layout;
  window_clock clock;
  const char* name;
};

class WindowTwin : public testing::TestWithParam<Kind> {};

TEST_P(WindowTwin, says_the_same_after_any_schedule) {
  for (std::uint32_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    Schedule schedule(seed, GetParam().layout, GetParam().clock);
    for (int step = 0; step < 120; ++step) {
      schedule.step();
      if (HasFatalFailure()) return;
    }
    schedule.compare();
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Each, WindowTwin,
                         testing::Values(Kind{WINDOW_STARTS, WINDOW_JIFFIES, "starts_jiffies"},
                                         Kind{WINDOW_STARTS, WINDOW_BOOTTIME, "starts_boottime"},
                                         Kind{WINDOW_PUBLISHED, WINDOW_JIFFIES, "published_jiffies"},
                                         Kind{WINDOW_PUBLISHED, WINDOW_BOOTTIME, "published_boottime"}),
                         [](const testing::TestParamInfo<Kind>& kind) { return kind.param.name; });

} // namespace
} // namespace hotset
