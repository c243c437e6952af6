// SPDX-License-Identifier: Apache-2.0
#include "workload/hot_set.h"

#include <gtest/gtest.h>

#include <set>

namespace hotset {
namespace {

std::set<std::uint64_t> pages_of(const HotSet& hot, std::uint64_t phase = 0) {
  std::set<std::uint64_t> pages;
  for (std::uint64_t k = 0; k < hot.count(); ++k)
    pages.insert(hot.page(k, phase));
  return pages;
}

TEST(Permutation, gives_every_number_exactly_once_for_any_size) {
  for (std::uint64_t size : {1U, 2U, 3U, 4U, 5U, 7U, 100U, 257U, 4096U, 10007U}) {
    Permutation permutation(size, 42);
    std::set<std::uint64_t> seen;
    for (std::uint64_t i = 0; i < size; ++i)
      seen.insert(permutation(i));
    EXPECT_EQ(seen.size(), size);
    EXPECT_EQ(*seen.rbegin(), size - 1);
  }
}

TEST(Permutation, differs_by_seed_and_repeats_by_seed) {
  Permutation one(1000, 1), again(1000, 1), other(1000, 2);
  int same = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(one(i), again(i));
    same += one(i) == other(i) ? 1 : 0;
  }
  EXPECT_LT(same, 20); // 1 is expected by chance
}

TEST(HotSet, has_exactly_the_asked_share_of_distinct_pages) {
  for (bool scattered : {false, true})
    for (double share : {0.001, 0.01, 0.1, 0.5, 1.0}) {
      HotSet hot(10000, {.share = share, .scattered = scattered});
      auto expected = static_cast<std::uint64_t>(share * 10000 + 0.5);
      EXPECT_EQ(hot.count(), expected);
      std::set<std::uint64_t> pages = pages_of(hot);
      EXPECT_EQ(pages.size(), expected) << share << scattered;
      EXPECT_LT(*pages.rbegin(), 10000U);
    }
}

TEST(HotSet, is_never_empty) {
  EXPECT_EQ(HotSet(3, {.share = 0.001}).count(), 1U);
  EXPECT_EQ(HotSet(1, {.share = 0.001, .scattered = true}).page(0, 0), 0U);
}

TEST(HotSet, contiguous_is_an_interval_and_scattered_is_not) {
  HotSet together(10000, {.share = 0.01});
  EXPECT_EQ(*pages_of(together).begin(), 0U);
  EXPECT_EQ(*pages_of(together).rbegin(), 99U);
  std::set<std::uint64_t> apart = pages_of(HotSet(10000, {.share = 0.01, .scattered = true}));
  int neighbours = 0;
  for (std::uint64_t page : apart)
    neighbours += apart.contains(page + 1) ? 1 : 0;
  EXPECT_LT(neighbours, 10); // 1 is expected of 100 pages drawn from 10,000
  EXPECT_GT(*apart.rbegin(), 8000U);
}

TEST(HotSet, of_a_stride_is_every_nth_page_of_the_share) {
  HotSet hot(1000, {.share = 0.1, .stride = 16});
  EXPECT_EQ(pages_of(hot), (std::set<std::uint64_t>{0, 16, 32, 48, 64, 80, 96}));
}

TEST(HotSet, of_the_next_phase_is_another_one_until_the_pages_are_used_up) {
  for (bool scattered : {false, true}) {
    HotSet hot(1000, {.share = 0.1, .scattered = scattered});
    std::set<std::uint64_t> all;
    for (std::uint64_t phase = 0; phase < 10; ++phase) {
      std::set<std::uint64_t> pages = pages_of(hot, phase);
      EXPECT_EQ(pages.size(), 100U);
      all.merge(pages);
    }
    EXPECT_EQ(all.size(), 1000U);
    EXPECT_EQ(pages_of(hot, 10), pages_of(hot, 0));
  }
}

TEST(HotSet, of_a_region_that_grows_lies_within_what_has_grown) {
  HotSet hot(1000, {.share = 0.5, .scattered = true});
  std::set<std::uint64_t> grown;
  for (std::uint64_t n = 0; n < 10; ++n)
    grown.insert(hot.place(n));
  EXPECT_EQ(hot.count(10), 5U);
  for (std::uint64_t k = 0; k < hot.count(10); ++k)
    EXPECT_TRUE(grown.contains(hot.page(k, 0)));
}

} // namespace
} // namespace hotset
