// SPDX-License-Identifier: Apache-2.0
#include "workload/order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace hotset {
namespace {

constexpr double kSkew = 0.99;

std::vector<std::uint64_t> numbers(Order order, std::uint64_t count, std::size_t length, std::uint64_t seed = 1,
                                   double skew = kSkew) {
  std::vector<std::uint64_t> out(length);
  Sequence(order, skew, seed).fill(count, out);
  return out;
}

std::vector<double> shares(const std::vector<std::uint64_t>& drawn, std::uint64_t count) {
  std::vector<double> out(count);
  for (std::uint64_t number : drawn)
    out[number] += 1.0 / static_cast<double>(drawn.size());
  return out;
}

// Five standard deviations of a share: wrong by chance once in a million seeds, and the seed is fixed.
double tolerance(double share, std::size_t draws) {
  return 5 * std::sqrt(share * (1 - share) / static_cast<double>(draws));
}

TEST(Sequence, sequential_counts_through_and_starts_again) {
  EXPECT_EQ(numbers(Order::sequential, 3, 7), (std::vector<std::uint64_t>{0, 1, 2, 0, 1, 2, 0}));
}

TEST(Sequence, sequential_goes_on_where_the_last_batch_ended) {
  Sequence sequence(Order::sequential, kSkew, 1);
  std::vector<std::uint64_t> batch(2);
  sequence.fill(5, batch);
  sequence.fill(5, batch);
  EXPECT_EQ(batch, (std::vector<std::uint64_t>{2, 3}));
}

TEST(Sequence, of_fewer_numbers_than_before_stays_within_them) {
  for (Order order : {Order::sequential, Order::uniform, Order::zipf}) {
    Sequence sequence(order, kSkew, 1);
    std::vector<std::uint64_t> batch(1000);
    for (std::uint64_t count : {1000U, 7U, 1U, 50U}) {
      sequence.fill(count, batch);
      EXPECT_LT(*std::ranges::max_element(batch), count);
    }
  }
}

TEST(Sequence, repeats_by_seed_and_differs_by_seed) {
  for (Order order : {Order::uniform, Order::zipf}) {
    EXPECT_EQ(numbers(order, 1000, 100, 7), numbers(order, 1000, 100, 7));
    EXPECT_NE(numbers(order, 1000, 100, 7), numbers(order, 1000, 100, 8));
  }
}

TEST(Sequence, does_not_depend_on_how_it_is_cut_into_batches) {
  for (Order order : {Order::sequential, Order::uniform, Order::zipf}) {
    Sequence sequence(order, kSkew, 3);
    std::vector<std::uint64_t> pieces(100);
    for (std::size_t at = 0; at < 100; at += 20)
      sequence.fill(1000, std::span(pieces).subspan(at, 20));
    EXPECT_EQ(pieces, numbers(order, 1000, 100, 3));
  }
}

TEST(Sequence, is_the_same_on_every_machine) {
  EXPECT_EQ(numbers(Order::uniform, 1000, 5, 1), (std::vector<std::uint64_t>{749, 372, 438, 954, 202}));
  EXPECT_EQ(numbers(Order::zipf, 1000, 5, 1), (std::vector<std::uint64_t>{3, 64, 39, 0, 229}));
}

TEST(Sequence, uniform_draws_each_number_alike) {
  constexpr std::size_t kDraws = 200'000;
  std::vector<double> found = shares(numbers(Order::uniform, 100, kDraws), 100);
  for (double share : found)
    EXPECT_NEAR(share, 0.01, tolerance(0.01, kDraws));
}

TEST(Sequence, zipf_draws_follow_the_law_for_skews_below_at_and_above_one) {
  constexpr std::size_t kDraws = 200'000;
  constexpr std::uint64_t kCount = 1000;
  for (double skew : {0.5, 0.99, 1.0, 1.5, 3.0}) {
    double sum = 0;
    for (std::uint64_t k = 0; k < kCount; ++k)
      sum += std::pow(static_cast<double>(k + 1), -skew);
    std::vector<double> found = shares(numbers(Order::zipf, kCount, kDraws, 1, skew), kCount);
    for (std::uint64_t k = 0; k < kCount; ++k) {
      double expected = std::pow(static_cast<double>(k + 1), -skew) / sum;
      EXPECT_NEAR(found[k], expected, tolerance(expected, kDraws) + 1e-5) << "number " << k << " skew " << skew;
    }
  }
}

TEST(Sequence, zipf_of_one_number_is_that_number) {
  for (std::uint64_t number : numbers(Order::zipf, 1, 100))
    EXPECT_EQ(number, 0U);
}

} // namespace
} // namespace hotset
