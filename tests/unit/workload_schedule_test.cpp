// SPDX-License-Identifier: Apache-2.0
#include "workload/schedule.h"

#include <gtest/gtest.h>

namespace hotset {
namespace {

using namespace std::chrono_literals;

constexpr Nanoseconds kPeriod = 2s;

Moment at(Schedule schedule, Nanoseconds elapsed) {
  return moment_at(schedule, kPeriod, elapsed);
}

TEST(Schedule, steady_never_changes) {
  EXPECT_EQ(at(Schedule::steady, 0s), at(Schedule::steady, 1000h));
}

TEST(Schedule, phases_switch_the_hot_set_at_each_period_and_not_before) {
  EXPECT_EQ(at(Schedule::phases, 0s).phase, 0U);
  EXPECT_EQ(at(Schedule::phases, 2s - 1ns).phase, 0U);
  EXPECT_EQ(at(Schedule::phases, 2s).phase, 1U);
  EXPECT_EQ(at(Schedule::phases, 21s).phase, 10U);
  EXPECT_EQ(at(Schedule::phases, 3s).lasts_until, 4s);
}

TEST(Schedule, ramp_grows_in_proportion_to_time_and_starts_anew) {
  EXPECT_EQ(at(Schedule::ramp, 0s).grown, 0.0);
  EXPECT_EQ(at(Schedule::ramp, 500ms).grown, 0.25);
  EXPECT_EQ(at(Schedule::ramp, 1s).grown, 0.5);
  EXPECT_EQ(at(Schedule::ramp, 2s).grown, 0.0);
  EXPECT_NE(at(Schedule::ramp, 2s).allocation, at(Schedule::ramp, 1s).allocation);
}

TEST(Schedule, churn_has_memory_in_the_first_half_of_each_period_only) {
  EXPECT_TRUE(at(Schedule::churn, 0s).allocated);
  EXPECT_FALSE(at(Schedule::churn, 1s).allocated);
  EXPECT_FALSE(at(Schedule::churn, 1s).busy);
  EXPECT_TRUE(at(Schedule::churn, 2s).allocated);
  EXPECT_NE(at(Schedule::churn, 2s).allocation, at(Schedule::churn, 0s).allocation);
  EXPECT_EQ(at(Schedule::churn, 2500ms).lasts_until, 3s);
  EXPECT_EQ(at(Schedule::churn, 3500ms).lasts_until, 4s);
}

TEST(Schedule, bursts_keep_their_memory_while_idle) {
  EXPECT_TRUE(at(Schedule::bursts, 999ms).busy);
  EXPECT_FALSE(at(Schedule::bursts, 1s).busy);
  EXPECT_TRUE(at(Schedule::bursts, 1s).allocated);
  EXPECT_EQ(at(Schedule::bursts, 1s).allocation, at(Schedule::bursts, 2s).allocation);
}

TEST(Pacer, without_a_rate_gives_all_that_is_asked_for) {
  EXPECT_EQ(Pacer(0).take(0s, 256), 256U);
}

TEST(Pacer, holds_the_rate_however_often_it_is_asked) {
  for (Nanoseconds step : {1ms, 7ms, 130ms, 999ms}) {
    Pacer pacer(1000);
    std::uint64_t given = 0;
    for (Nanoseconds now{}; now <= 20s; now += step)
      given += pacer.take(now, 100'000);
    EXPECT_NEAR(static_cast<double>(given), 20'000, 1000);
  }
}

TEST(Pacer, holds_a_rate_below_one_a_second) {
  Pacer pacer(0.1);
  std::uint64_t given = 0;
  for (Nanoseconds now{}; now <= 101s; now += 1ms)
    given += pacer.take(now, 256);
  EXPECT_EQ(given, 10U);
}

TEST(Pacer, says_when_the_next_touch_is_due) {
  Pacer pacer(10);
  EXPECT_EQ(pacer.take(0s, 256), 0U);
  EXPECT_EQ(pacer.take(pacer.next(), 256), 1U);
}

TEST(Pacer, does_not_make_up_for_more_than_a_second) {
  Pacer pacer(100);
  EXPECT_EQ(pacer.take(3600s, 1'000'000), 100U);
}

TEST(Pacer, earns_nothing_in_time_that_was_skipped) {
  Pacer pacer(100);
  pacer.skip_to(10s);
  EXPECT_EQ(pacer.take(10s, 256), 0U);
}

} // namespace
} // namespace hotset
