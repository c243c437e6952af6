// SPDX-License-Identifier: Apache-2.0
#include "fault/window.h"

#include <gtest/gtest.h>

#include "fault/program.h"
#include "fault/target_faults.h"

namespace hotset {
namespace {

using std::chrono::milliseconds;

FaultSample sample(int time_ms, std::uint64_t faults, std::uint64_t total) {
  return {.process = {},
          .comm = {},
          .begin = milliseconds(0),
          .time = milliseconds(time_ms),
          .faults = faults,
          .total = total};
}

TEST(WindowBuilder, ends_with_the_first_sample_at_or_after_the_earliest_time) {
  WindowBuilder builder(milliseconds(0));
  EXPECT_FALSE(builder.add(sample(5, 3, 3), milliseconds(10)));
  EXPECT_TRUE(builder.add(sample(10, 4, 7), milliseconds(10)));
  TargetWindow window = builder.close(milliseconds(10), 7, WindowEnd::sample);
  EXPECT_EQ(window.begin, milliseconds(0));
  EXPECT_EQ(window.end, milliseconds(10));
  EXPECT_EQ(window.faults, 7U);
  EXPECT_EQ(window.emissions, 2U);
  EXPECT_EQ(window.peak_faults, 4U);
  EXPECT_EQ(window.ended_by, WindowEnd::sample);
}

TEST(WindowBuilder, counts_by_totals_and_not_by_the_samples_that_arrived) {
  WindowBuilder builder(milliseconds(0));
  builder.add(sample(5, 3, 3), milliseconds(100)); // others were dropped
  TargetWindow window = builder.close(milliseconds(100), 50, WindowEnd::deadline);
  EXPECT_EQ(window.faults, 50U);
  EXPECT_EQ(window.emissions, 1U);
}

TEST(WindowBuilder, windows_lie_end_to_end_and_add_up_to_the_total) {
  WindowBuilder builder(milliseconds(0));
  std::uint64_t sum = 0;
  Nanoseconds end{};
  for (std::uint64_t total : {4U, 4U, 90U, 100U}) {
    TargetWindow window = builder.close(end + milliseconds(7), total, WindowEnd::deadline);
    EXPECT_EQ(window.begin, end);
    end = window.end;
    sum += window.faults;
  }
  EXPECT_EQ(sum, 100U);
}

TEST(WindowBuilder, a_sample_that_began_in_the_window_before_counts_only_its_part_in_this_one) {
  WindowBuilder builder(milliseconds(0));
  builder.close(milliseconds(10), 100, WindowEnd::deadline);
  builder.add(sample(12, 103, 103), milliseconds(100));
  TargetWindow window = builder.close(milliseconds(20), 110, WindowEnd::deadline);
  EXPECT_EQ(window.peak_faults, 3U);
  EXPECT_LE(window.peak_faults, window.faults);
}

TEST(WindowBuilder, a_late_sample_of_the_window_before_does_not_end_this_one) {
  WindowBuilder builder(milliseconds(0));
  builder.close(milliseconds(10), 100, WindowEnd::deadline);
  EXPECT_FALSE(builder.add(sample(9, 50, 99), milliseconds(0)));
  EXPECT_EQ(builder.close(milliseconds(20), 100, WindowEnd::deadline).faults, 0U);
}

TEST(FaultDifferences, leave_out_what_did_not_change_and_put_the_most_first) {
  ProcessId idle{1, 10}, busy{2, 20}, fresh{3, 30};
  FaultTotals before{{idle, 5}, {busy, 5}};
  std::vector<ProcessFaults> faults = fault_differences(before, {{idle, "i", 5}, {busy, "b", 12}, {fresh, "f", 9}});
  ASSERT_EQ(faults.size(), 2U);
  EXPECT_EQ(faults[0].process, fresh);
  EXPECT_EQ(faults[0].faults, 9U);
  EXPECT_EQ(faults[1].process, busy);
  EXPECT_EQ(faults[1].faults, 7U);
}

TEST(FaultDifferences, take_a_pid_that_is_used_again_for_another_process) {
  FaultTotals before{{ProcessId{1, 10}, 500}};
  std::vector<ProcessFaults> faults = fault_differences(before, {{ProcessId{1, 11}, "n", 3}});
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].faults, 3U);
}

} // namespace
} // namespace hotset
