// SPDX-License-Identifier: Apache-2.0
#include "window_simulated.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace hotset {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class WindowIn : public testing::TestWithParam<window_layout> {
 protected:
  WindowIn() : window(GetParam(), WINDOW_BOOTTIME, 2, WINDOW_PUBLISHED_COUNTERS) {}

  SimulatedWindow window;
};

INSTANTIATE_TEST_SUITE_P(Layout, WindowIn, testing::Values(WINDOW_STARTS, WINDOW_PUBLISHED),
                         [](const auto& layout) { return layout.param == WINDOW_STARTS ? "starts" : "published"; });

TEST_P(WindowIn, the_first_second_is_number_one_and_running) {
  window.bump(0, 3);
  WindowHistory history = window.read();
  EXPECT_EQ(history.running(), 1U);
  EXPECT_EQ(history.count(1, 3), 1U);
  EXPECT_EQ(history.last(60).known, 0U);
  EXPECT_EQ(history.total(3), 1U);
}

TEST_P(WindowIn, slots_never_used_are_no_second_zero) {
  window.advance(seconds(2));
  WindowHistory history = window.read();
  EXPECT_EQ(history.count(0, 0), std::nullopt);
  EXPECT_EQ(history.count(1, 0), 0U);
}

TEST_P(WindowIn, a_second_before_the_start_is_unknown_and_not_zero) {
  window.bump(0, 0);
  window.advance(seconds(10) + milliseconds(1));
  WindowSpan span = window.read().last(60);
  EXPECT_EQ(span.sums[0], 1U);
  EXPECT_EQ(span.known, 10U);
  EXPECT_DOUBLE_EQ(span.coverage(), 10.0 / 60);
  EXPECT_DOUBLE_EQ(span.rate(0).value(), 0.1);
}

TEST_P(WindowIn, the_running_second_is_apart) {
  window.bump(0, 0, 5);
  window.advance(seconds(1));
  window.bump(1, 0, 7);
  WindowHistory history = window.read();
  EXPECT_EQ(history.last(1).sums[0], 5U);
  EXPECT_EQ(history.count(history.running(), 0), 7U);
}

TEST_P(WindowIn, two_seconds_five_minutes_apart_share_a_slot_and_are_not_added) {
  window.bump(0, 0, 40);
  window.advance(seconds(WINDOW_SLOTS));
  window.bump(0, 0, 2);
  window.advance(seconds(1) + milliseconds(1));
  WindowHistory history = window.read();
  EXPECT_EQ(history.last(kWindowSeconds).sums[0], 2U);
  EXPECT_EQ(history.total(0), 42U);
}

TEST_P(WindowIn, a_slot_left_over_on_one_cpu_is_not_added_to_the_others) {
  window.bump(1, 0, 40); // and never again on that CPU
  window.advance(seconds(WINDOW_SLOTS));
  window.bump(0, 0, 2);
  WindowHistory history = window.read();
  EXPECT_EQ(history.count(history.running(), 0), 2U);
  EXPECT_EQ(history.last(kWindowSeconds).sums[0], 0U);
  EXPECT_EQ(history.total(0), 42U);
}

TEST_P(WindowIn, after_a_gap_of_five_minutes_all_known_seconds_are_zero) {
  window.bump(0, 0, 9);
  window.advance(seconds(WINDOW_SLOTS + 5) + milliseconds(1));
  WindowSpan span = window.read().last(kWindowSeconds);
  EXPECT_EQ(span.known, kWindowSeconds);
  EXPECT_EQ(span.sums[0], 0U);
}

TEST_P(WindowIn, the_oldest_known_second_is_299_seconds_back) {
  window.bump(0, 0, 1);
  window.advance(seconds(1));
  window.bump(0, 0, 2);
  window.advance(seconds(WINDOW_SLOTS - 1) + milliseconds(1));
  WindowHistory history = window.read();
  EXPECT_EQ(history.first(), 2U);
  EXPECT_EQ(history.count(1, 0), std::nullopt);
  EXPECT_EQ(history.last(kWindowSeconds).sums[0], 2U);
}

TEST_P(WindowIn, of_fewer_seconds_says_the_same_about_them) {
  for (std::uint64_t second = 0; second < 100; ++second) {
    window.bump(second % 2, 2, second);
    window.advance(seconds(1));
  }
  WindowHistory all = window.read(), some = window.read(20);
  EXPECT_EQ(some.last(20).sums, all.last(20).sums);
  EXPECT_EQ(some.last(7).sums, all.last(7).sums);
  EXPECT_EQ(some.whole().sums, all.last(kWindowSeconds).sums);
  EXPECT_EQ(some.whole().known, 99U) << "the hundredth has just ended, and may not be known to";
  EXPECT_EQ(some.total(2), all.total(2));
  EXPECT_EQ(some.count(some.running() - 20, 2), all.count(all.running() - 20, 2));
}

TEST_P(WindowIn, counts_of_all_possible_cpus_are_added_and_those_that_never_ran_add_nothing) {
  SimulatedWindow wide(GetParam(), WINDOW_JIFFIES, 8, WINDOW_PUBLISHED_COUNTERS);
  for (std::size_t cpu : {0U, 3U, 7U})
    wide.bump(cpu, 1, cpu + 1);
  EXPECT_EQ(wide.read().total(1), 13U);
  EXPECT_EQ(wide.read().count(1, 1), 13U);
}

TEST_P(WindowIn, a_window_not_started_on_some_cpu_is_refused_with_the_remedy) {
  *window.head(1) = 0;
  Result<WindowHistory> history = WindowHistory::from(window.image());
  ASSERT_FALSE(history);
  EXPECT_EQ(history.error().code, ErrorCode::bad_data);
  EXPECT_NE(to_sentence(history.error()).find("not been started on CPU 1"), std::string::npos);
}

TEST_P(WindowIn, of_another_version_or_shape_is_refused) {
  auto refused = [&](auto change) {
    SimulatedWindow other = window;
    auto* header = reinterpret_cast<window_header*>(other.head(0));
    change(*header);
    Result<WindowHistory> history = WindowHistory::from(other.image());
    if (!history) {
      EXPECT_NE(history.error().remedy, "") << to_sentence(history.error());
    }
    return !history;
  };
  EXPECT_TRUE(refused([](window_header& header) { header.magic = 1; }));
  EXPECT_TRUE(refused([](window_header& header) { header.version = 2; }));
  EXPECT_TRUE(refused([](window_header& header) { header.counters = 5; }));
  EXPECT_TRUE(refused([](window_header& header) { header.slots = 60; }));
  EXPECT_TRUE(refused([](window_header& header) { header.clock = 9; }));
  EXPECT_TRUE(refused([](window_header& header) { header.ticks_per_s = 0; }));
  EXPECT_TRUE(refused([](window_header& header) { header.tick_ns = 0; }));
  EXPECT_FALSE(refused([](window_header&) {}));
}

TEST_P(WindowIn, that_tells_of_times_that_have_not_been_is_not_believed) {
  auto cause = [&](auto change) {
    SimulatedWindow other = window;
    change(*reinterpret_cast<window_header*>(other.head(1)));
    Result<WindowHistory> history = WindowHistory::from(other.image());
    return history ? "" : history.error().cause;
  };
  const auto unbelieved = testing::HasSubstr("header on CPU 1 is not to be believed");
  EXPECT_THAT(cause([](window_header& header) { header.epoch_ns = 1ULL << 63; }), unbelieved);
  EXPECT_THAT(cause([](window_header& header) { header.epoch_ns += 3'600'000'000'000; }), unbelieved);
  EXPECT_THAT(cause([](window_header& header) { header.until = ~0ULL; }), unbelieved);
  EXPECT_THAT(cause([](window_header& header) { header.until = header.epoch + 3600 * header.ticks_per_s; }),
              unbelieved);
  EXPECT_THAT(cause([](window_header& header) { header.ticks_per_s = 1ULL << 63; }), unbelieved);
  EXPECT_THAT(cause([](window_header& header) { header.tick_ns = 1ULL << 40; }), unbelieved);
  EXPECT_EQ(cause([](window_header& header) { header.until = header.epoch + 2 * header.ticks_per_s; }), "");
}

TEST(WindowHistory, does_not_call_a_second_whole_while_the_kernel_may_be_in_it) {
  // Started at the very end of a tick: our clock runs ahead of the kernel's by none of it, and its next tick is late.
  SimulatedWindow window(WINDOW_STARTS, WINDOW_JIFFIES, 1, 1);
  window.advance(seconds(1) - Nanoseconds(1));
  EXPECT_EQ(window.read().running(), 1U);
  window.advance(tick_length()); // the next second has begun, but that tick may be late
  EXPECT_EQ(window.second(), 2U);
  EXPECT_EQ(window.read().running(), 1U);
  window.bump(0, 0); // unless a program says so
  EXPECT_EQ(window.read().running(), 2U);
}

TEST(WindowHistory, what_was_counted_while_it_was_copied_is_not_below_zero) {
  SimulatedWindow window(WINDOW_STARTS, WINDOW_BOOTTIME, 1, 2);
  window.bump(0, 1, 5);
  window.advance(seconds(1));
  window.bump(0, 1, 5);
  window.head(0)[9] = 4; // its total, copied before most of that happened
  WindowHistory history = window.read();
  EXPECT_EQ(history.count(1, 1), 4U);
  EXPECT_EQ(history.count(2, 1), 0U);
  EXPECT_EQ(history.torn(), 0U);
}

TEST(WindowHistory, sees_a_slot_whose_number_was_copied_before_its_starts) {
  SimulatedWindow window(WINDOW_STARTS, WINDOW_BOOTTIME, 1, 2);
  for (int second = 0; second < 3; ++second) {
    window.bump(0, 0, 5);
    window.advance(seconds(1));
  }
  window.slot(0, 3)[1] = 0; // still that of five minutes ago
  EXPECT_EQ(window.read().torn(), 1U);
  window.slot(0, 3)[1] = 10;
  EXPECT_EQ(window.read().torn(), 0U);
}

TEST(WindowHistory, sees_a_published_slot_whose_old_counts_are_being_taken_off) {
  SimulatedWindow window(WINDOW_PUBLISHED, WINDOW_BOOTTIME, 1, WINDOW_PUBLISHED_COUNTERS);
  window.bump(0, 0, 5);
  window.slot(0, 1)[0] |= WINDOW_BUSY;
  WindowHistory history = window.read();
  EXPECT_EQ(history.torn(), 1U);
  EXPECT_EQ(history.count(1, 0), 0U);
  EXPECT_EQ(history.total(0), 5U);
}

TEST(WindowSpan, gives_the_ratio_of_sums_and_none_of_nothing) {
  WindowSpan span{.requested = 2, .first = 1, .known = 2, .sums = {10, 6, 1, 0}};
  std::array<std::size_t, 2> hits{1, 2};
  std::array<std::size_t, 1> lookups{0}, never{3};
  EXPECT_DOUBLE_EQ(span.ratio(hits, lookups).value(), 0.7);
  EXPECT_EQ(span.ratio(hits, never), std::nullopt);
}

TEST(WindowSpan, has_no_rate_when_nothing_is_known) {
  WindowSpan span{.requested = 60, .first = 1, .known = 0, .sums = {0}};
  EXPECT_EQ(span.rate(0), std::nullopt);
  EXPECT_DOUBLE_EQ(span.coverage(), 0);
}

TEST(WindowClock, a_tick_is_a_whole_part_of_a_second) {
  std::uint64_t ticks = ticks_per_second();
  EXPECT_GE(ticks, 24U);
  EXPECT_LE(ticks, 10'000U);
  EXPECT_LE(std::abs(tick_length().count() * static_cast<std::int64_t>(ticks) - 1'000'000'000),
            static_cast<std::int64_t>(ticks));
}

} // namespace
} // namespace hotset
