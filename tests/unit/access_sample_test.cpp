// SPDX-License-Identifier: Apache-2.0
#include "access/sample.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

namespace hotset {
namespace {

TEST(Frame, draws_blocks_in_proportion_to_their_pages) {
  Frame frame;
  frame.add(0, PageMask::range(0, 10), false);
  frame.add(1, PageMask::range(64, 94), false);
  RandomEngine random(1);
  std::map<std::uint32_t, int> first;
  for (int i = 0; i < 10'000; ++i)
    ++first[frame.draw(1, 64, random).at(0).table];
  EXPECT_NEAR(first[1], 7500, 200);
}

TEST(Frame, never_draws_a_block_twice_and_ends_when_none_is_left) {
  Frame frame;
  for (std::uint32_t table = 0; table < 4; ++table)
    frame.add(table, PageMask::range(10, 500), false);
  RandomEngine random(2);
  std::vector<Unit> drawn = frame.draw(1000, 128, random);
  EXPECT_EQ(drawn.size(), 16);
  std::uint64_t pages = 0;
  std::set<std::pair<std::uint32_t, unsigned>> blocks;
  for (const Unit& unit : drawn) {
    pages += unit.pages.count();
    EXPECT_TRUE(blocks.emplace(unit.table, unit.pages.next(0) / 128).second);
    EXPECT_EQ(unit.pages.next(0) / 128, unit.pages.last() / 128);
  }
  EXPECT_EQ(pages, frame.pages());
}

TEST(Frame, takes_a_huge_page_as_one_unit) {
  Frame frame;
  frame.add(7, PageMask::all(), true);
  RandomEngine random(3);
  std::vector<Unit> drawn = frame.draw(5, 8, random);
  ASSERT_EQ(drawn.size(), 1);
  EXPECT_EQ(drawn[0].pages, PageMask::all());
}

TEST(Frame, without_pages_gives_no_units) {
  Frame frame;
  frame.add(0, {}, false);
  RandomEngine random(4);
  EXPECT_TRUE(frame.draw(16, 64, random).empty());
}

std::vector<Draw> draws_of(unsigned size, std::initializer_list<unsigned> touched) {
  std::vector<Draw> draws;
  for (int repeat = 0; repeat < 20; ++repeat)
    for (unsigned y : touched)
      draws.push_back({size, y, y});
  return draws;
}

TEST(Spread, blocks_that_agree_within_call_for_small_blocks) {
  Spread clustered, even;
  for (int i = 0; i < 10; ++i) {
    clustered.learn(draws_of(64, {0, 64}), 64);
    even.learn(draws_of(64, {32, 30, 34}), 64);
  }
  ClearCosts costs;
  EXPECT_LE(design_sample(clustered, 1'000'000, 20'000, 1e9, costs).block_pages, 8);
  EXPECT_GE(design_sample(even, 1'000'000, 20'000, 1e9, costs).block_pages, 32);
  EXPECT_LT(design_sample(even, 1'000'000, 20'000, 1e9, costs).units,
            design_sample(clustered, 1'000'000, 20'000, 1e9, costs).units);
}

TEST(Design, keeps_to_the_budget_and_draws_no_more_than_the_error_needs) {
  ClearCosts costs;
  SampleDesign poor = design_sample({}, 1'000'000, 1000, 500, costs);
  EXPECT_LE(poor.cost_us, 500);
  SampleDesign rough = design_sample({}, 1'000'000, 100'000, 1e9, costs);
  SampleDesign fine = design_sample({}, 1'000'000, 10'000, 1e9, costs);
  EXPECT_GT(fine.units, rough.units * 10);
  EXPECT_GE(design_sample({}, 1'000'000, 1000, 0, costs).units, kLeastUnits);
}

TEST(Design, draws_enough_that_blocks_which_agree_give_the_interval_asked_for) {
  Spread agree{.ratio = 1, .between = 0, .within = 0, .weight = 256};
  const std::uint64_t frame = 100'000;
  for (double share : {0.02, 0.05, 0.1}) {
    const double error = share * static_cast<double>(frame);
    const SampleDesign design = design_sample(agree, frame, error, 1e9, {});
    const Draw all{.size = design.block_pages, .low = design.block_pages, .high = design.block_pages};
    const std::vector<Draw> draws(design.units, all);
    const RatioHistory learned{.variance = agree.variance(design.block_pages), .weight = 32};
    const Interval total = betting_interval(draws, frame, 0.95, learned);
    EXPECT_LE((total.high - total.low) / 2, 1.1 * error) << share;
    EXPECT_GE((total.high - total.low) / 2, 0.5 * error) << share;
  }
}

TEST(Design, takes_small_blocks_where_larger_ones_would_say_the_same) {
  Spread agree{.ratio = 1, .between = 0, .within = 0, .weight = 256};
  const SampleDesign design = design_sample(agree, 100'000, 10'000, 1e9, {});
  EXPECT_LE(design.block_pages, 8);
  EXPECT_LT(design.cost_us, static_cast<double>(design.units) * ClearCosts().of(1, 32));
}

TEST(Design, that_the_budget_pays_for_is_not_given_up_for_a_larger_block) {
  const Spread spread{};
  const SampleDesign free = design_sample(spread, 1'000'000, 20'000, 1e9, {});
  for (double share : {0.88, 0.9, 0.95, 1.0}) {
    const SampleDesign tight = design_sample(spread, 1'000'000, 20'000, free.cost_us * share, {});
    EXPECT_LE(tight.cost_us, free.cost_us * share);
    const double half_width =
        1.25 * 1.96 * std::sqrt(spread.variance(tight.block_pages) / static_cast<double>(tight.units));
    EXPECT_LE(half_width, 1.1 * 0.02) << share;
  }
}

} // namespace
} // namespace hotset
