// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>

#include "access/runs.h"

namespace hotset {
namespace {

constexpr std::uint64_t kBase = 16 * kTableBytes;

Region region_at(std::uint64_t table, std::uint32_t vma = 0) {
  return {.address = kBase + table * kTableBytes, .vma = vma};
}
using Runs = std::vector<Run>;

Run run_at(std::uint64_t table, std::uint64_t page, std::uint64_t pages) {
  return {kBase + table * kTableBytes + page * 4096, pages};
}

TEST(Runs, a_gap_is_bridged_when_it_is_cheaper_than_a_run) {
  PageMask pages = PageMask::range(10, 20) | PageMask::range(24, 30) | PageMask::range(35, 40);
  RunBuilder builder(4);
  builder.add(region_at(0), pages);
  EXPECT_EQ(builder.runs(), (Runs{run_at(0, 10, 20), run_at(0, 35, 5)}));
}

TEST(Runs, go_on_across_tables_of_one_mapping_only) {
  RunBuilder builder(8);
  builder.add(region_at(0), PageMask::range(500, 512));
  builder.add(region_at(1), PageMask::range(0, 5));
  builder.add(region_at(2, 1), PageMask::range(0, 5));
  builder.add(region_at(3, 2), PageMask::range(0, 5));
  EXPECT_EQ(builder.runs(), (Runs{run_at(0, 500, 17), run_at(2, 0, 5), run_at(3, 0, 5)}));
}

TEST(Runs, without_bridges_hold_just_the_pages_asked_for) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 1000; ++round) {
    PageMask pages;
    bool set = random() % 2 != 0; // and then in turns, so that ends of words and tables come up, too
    for (unsigned page = 0; page < kTablePages; ++page) {
      if (random() % 4 == 0) set = !set;
      if (set) pages.set(page);
    }
    RunBuilder builder(0);
    builder.add(region_at(0), pages);
    PageMask held;
    std::uint64_t at = kBase;
    for (const auto& run : builder.runs()) {
      ASSERT_TRUE(run.address > at || (run.address == kBase && at == kBase)) << "two runs without a gap";
      at = run.end();
      held |= PageMask::range(static_cast<unsigned>((run.address - kBase) / 4096),
                              static_cast<unsigned>((run.end() - kBase) / 4096));
    }
    ASSERT_EQ(held, pages);
  }
}

TEST(Runs, take_huge_pages_whole_or_not_at_all) {
  Region whole = region_at(1);
  whole.huge = true;
  Region cut = region_at(2, 1);
  cut.huge = true;
  cut.first = 256;
  RunBuilder builder(64);
  builder.add(region_at(0), PageMask::range(0, 512));
  builder.add(whole, PageMask::all());
  builder.add(cut, cut.own());
  EXPECT_EQ(builder.runs(), (Runs{run_at(0, 0, 1024)}));
  EXPECT_EQ(builder.left_out(), 256);
}

TEST(Runs, never_bridge_over_a_huge_page) {
  Region huge = region_at(1);
  huge.huge = true;
  RunBuilder builder(4096);
  builder.add(region_at(0), PageMask::range(500, 512));
  builder.add(huge, {});
  builder.add(region_at(2), PageMask::range(0, 5));
  EXPECT_EQ(builder.runs().size(), 2);
}

TEST(ClearCosts, follow_what_was_measured_within_limits) {
  ClearCosts costs;
  for (int i = 0; i < 50; ++i)
    costs.learn(1000, 1000, 1000);
  EXPECT_NEAR(costs.per_run_us, 0.96, 0.05);
  for (int i = 0; i < 50; ++i)
    costs.learn(10'000, 1, 100'000);
  EXPECT_NEAR(costs.per_page_us, 0.1, 0.01);
  for (int i = 0; i < 50; ++i)
    costs.learn(1e12, 10, 10);
  EXPECT_LE(costs.per_run_us, 150);
  EXPECT_LE(costs.bridge_pages(), 128);
}

} // namespace
} // namespace hotset
