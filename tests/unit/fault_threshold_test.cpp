// SPDX-License-Identifier: Apache-2.0
// The rule by which the kernel adapts the threshold, as it is compiled into the BPF program.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "bpf/fault.h"

namespace {

constexpr std::uint64_t kPace = 100'000; // µs

// Emits at the threshold, at a steady rate in faults per second; returns the threshold after each emission.
struct Process {
  std::uint64_t threshold = 1;

  void emit_at_threshold(std::uint64_t faults_per_second) {
    std::uint64_t elapsed_us = threshold * 1'000'000 / faults_per_second;
    threshold = fault_next_threshold(threshold, threshold, elapsed_us, kPace);
  }
};

TEST(FaultThreshold, converges_to_one_sample_a_pace_within_ten_emissions_of_a_storm) {
  Process process;
  for (int emission = 0; emission < 10; ++emission)
    process.emit_at_threshold(700'000);
  EXPECT_NEAR(static_cast<double>(process.threshold), 70'000, 700);
}

TEST(FaultThreshold, stays_where_it_is_at_a_steady_rate) {
  Process process{70'000};
  for (int emission = 0; emission < 100; ++emission)
    process.emit_at_threshold(700'000);
  EXPECT_NEAR(static_cast<double>(process.threshold), 70'000, 700);
}

TEST(FaultThreshold, goes_back_to_one_with_the_first_sample_of_a_quiet_process) {
  EXPECT_EQ(fault_next_threshold(70'000, 3, 60'000'000, kPace), 1U);
}

TEST(FaultThreshold, takes_a_burst_of_two_for_no_storm) {
  EXPECT_EQ(fault_next_threshold(1, 1, 1, kPace), 4U);
}

TEST(FaultThreshold, is_never_zero) {
  EXPECT_EQ(fault_next_threshold(0, 0, 0, 0), 1U);
  EXPECT_EQ(fault_next_threshold(1, 0, 1, kPace), 1U);
  EXPECT_EQ(fault_next_threshold(100, 1, std::numeric_limits<std::uint64_t>::max(), kPace), 1U);
}

TEST(FaultThreshold, is_bounded_for_any_numbers) {
  constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();
  for (std::uint64_t threshold : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{FAULT_MAX_THRESHOLD}, kHuge})
    for (std::uint64_t freq : {std::uint64_t{0}, std::uint64_t{1}, kHuge})
      for (std::uint64_t elapsed : {std::uint64_t{0}, std::uint64_t{1}, kHuge})
        for (std::uint64_t pace : {std::uint64_t{0}, std::uint64_t{1}, kHuge}) {
          std::uint64_t next = fault_next_threshold(threshold, freq, elapsed, pace);
          EXPECT_GE(next, 1U);
          EXPECT_LE(next, FAULT_MAX_THRESHOLD);
        }
}

TEST(FaultThreshold, reaches_its_bound_and_not_less_in_the_greatest_storm) {
  EXPECT_EQ(fault_next_threshold(FAULT_MAX_THRESHOLD, 1ULL << 31, 1, 1ULL << 32), FAULT_MAX_THRESHOLD);
}

} // namespace
