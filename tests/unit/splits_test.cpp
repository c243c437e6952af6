// SPDX-License-Identifier: Apache-2.0
#include "dataset/splits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace hotset {
namespace {

std::vector<std::size_t> random_datasets(std::mt19937_64& random, std::size_t datasets) {
  std::vector<std::size_t> dataset_of;
  for (std::size_t d = 0; d < datasets; ++d)
    dataset_of.insert(dataset_of.end(), 10 + random() % 50, d * 3); // numbers with gaps: some gave no samples
  return dataset_of;
}

std::set<std::size_t> datasets_in(const std::vector<std::size_t>& part, const std::vector<std::size_t>& dataset_of) {
  std::set<std::size_t> datasets;
  for (std::size_t i : part)
    datasets.insert(dataset_of[i]);
  return datasets;
}

bool disjoint(const std::set<std::size_t>& a, const std::set<std::size_t>& b) {
  return std::ranges::none_of(a, [&](std::size_t x) { return b.contains(x); });
}

TEST(Split, puts_every_row_into_exactly_one_part) {
  std::mt19937_64 random(11);
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const std::vector<std::size_t> dataset_of = random_datasets(random, 3 + random() % 20);
    for (SplitKind kind : {SplitKind::row, SplitKind::dataset}) {
      const Split split = make_split(dataset_of, kind, seed).value();
      std::vector<std::size_t> all = split.train;
      all.insert(all.end(), split.valid.begin(), split.valid.end());
      all.insert(all.end(), split.test.begin(), split.test.end());
      std::ranges::sort(all);
      ASSERT_EQ(all.size(), dataset_of.size());
      for (std::size_t i = 0; i < all.size(); ++i)
        ASSERT_EQ(all[i], i);
      EXPECT_FALSE(split.train.empty() || split.valid.empty() || split.test.empty());
    }
  }
}

TEST(Split, by_data_set_keeps_every_data_set_in_one_part) {
  std::mt19937_64 random(12);
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const std::vector<std::size_t> dataset_of = random_datasets(random, 3 + random() % 20);
    const Split split = make_split(dataset_of, SplitKind::dataset, seed).value();
    const auto train = datasets_in(split.train, dataset_of), valid = datasets_in(split.valid, dataset_of),
               test = datasets_in(split.test, dataset_of);
    EXPECT_TRUE(disjoint(train, valid) && disjoint(train, test) && disjoint(valid, test));
  }
}

TEST(Split, is_the_same_for_the_same_seed_only) {
  const std::vector<std::size_t> dataset_of(500, 0);
  EXPECT_EQ(make_split(dataset_of, SplitKind::row, 5)->test, make_split(dataset_of, SplitKind::row, 5)->test);
  EXPECT_NE(make_split(dataset_of, SplitKind::row, 5)->test, make_split(dataset_of, SplitKind::row, 6)->test);
}

TEST(Split, refuses_too_little) {
  EXPECT_EQ(make_split(std::vector<std::size_t>(kFewestRows - 1, 0), SplitKind::row, 1).error().code,
            ErrorCode::bad_data);
  std::vector<std::size_t> two(100, 0);
  two[0] = 1;
  EXPECT_EQ(make_split(two, SplitKind::dataset, 1).error().code, ErrorCode::bad_data);
  EXPECT_TRUE(make_split(two, SplitKind::row, 1));
}

TEST(Folds, leave_every_data_set_out_once) {
  std::mt19937_64 random(13);
  for (std::size_t datasets : {2u, 5u, 10u, 23u}) {
    const std::vector<std::size_t> dataset_of = random_datasets(random, datasets);
    const std::vector<Split> folds = leave_out_folds(dataset_of, 10, 1);
    EXPECT_EQ(folds.size(), std::min<std::size_t>(10, datasets));
    std::vector<int> tested(dataset_of.size(), 0);
    for (const Split& fold : folds) {
      EXPECT_TRUE(disjoint(datasets_in(fold.train, dataset_of), datasets_in(fold.test, dataset_of)));
      EXPECT_EQ(fold.train.size() + fold.test.size(), dataset_of.size());
      for (std::size_t i : fold.test)
        ++tested[i];
    }
    EXPECT_TRUE(std::ranges::all_of(tested, [](int times) { return times == 1; }));
  }
}

} // namespace
} // namespace hotset
