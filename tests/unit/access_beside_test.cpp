// SPDX-License-Identifier: Apache-2.0
#include "access/beside.h"

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

TEST(Beside, is_for_many_short_runs) {
  EXPECT_TRUE(is_worth_going_beside(runs_of(20, 1)));
  EXPECT_TRUE(is_worth_going_beside(runs_of(10'000, 32)));
  EXPECT_FALSE(is_worth_going_beside({}));
  EXPECT_FALSE(is_worth_going_beside(runs_of(4, 1))) << "fewer interrupts than going there and back costs";
  EXPECT_FALSE(is_worth_going_beside(runs_of(20, 512))) << "the pages are what takes long";
}

TEST(Beside, holds_the_target_up_for_no_long_run) {
  auto runs = runs_of(1000, 1);
  ASSERT_TRUE(is_worth_going_beside(runs));
  runs.push_back({.address = std::uint64_t{1} << 40, .pages = 5000});
  EXPECT_FALSE(is_worth_going_beside(runs));
}

TEST(Beside, stays_where_the_target_does_not_run) {
  EXPECT_FALSE(Beside::go(std::nullopt, runs_of(20, 1)).there());
  EXPECT_FALSE(Beside::go(CPU_SETSIZE, runs_of(20, 1)).there());
}

} // namespace
} // namespace hotset
