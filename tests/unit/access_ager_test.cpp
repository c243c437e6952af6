// SPDX-License-Identifier: Apache-2.0
#include "access/ager.h"

#include <gtest/gtest.h>

#include <vector>

namespace hotset {
namespace {

std::vector<Run> runs_of(std::size_t count, std::uint64_t pages) {
  std::vector<Run> runs;
  for (std::size_t i = 0; i < count; ++i)
    runs.push_back({.address = (i + 1) << 24, .pages = pages});
  return runs;
}

constexpr ClearCosts kThere{.per_run_us = 1.5}, kElsewhere{.per_run_us = 11.5};

TEST(Ager, goes_to_the_target_for_many_short_runs) {
  EXPECT_TRUE(is_worth_going(runs_of(20, 1), kThere, kElsewhere));
  EXPECT_TRUE(is_worth_going(runs_of(10'000, 32), kThere, kElsewhere));
  EXPECT_FALSE(is_worth_going({}, kThere, kElsewhere));
  EXPECT_FALSE(is_worth_going(runs_of(3, 1), kThere, kElsewhere)) << "fewer interrupts than the way costs";
  EXPECT_FALSE(is_worth_going(runs_of(20, 512), kThere, kElsewhere)) << "the pages are what takes long";
}

TEST(Ager, stays_where_interrupts_are_cheap_or_are_not_saved) {
  EXPECT_FALSE(is_worth_going(runs_of(20, 1), kThere, {.per_run_us = 2.5}));
  EXPECT_FALSE(is_worth_going(runs_of(10'000, 1), kElsewhere, kElsewhere)) << "threads on other processors, too";
}

} // namespace
} // namespace hotset
