// SPDX-License-Identifier: Apache-2.0
#include "model/conformal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace hotset {
namespace {

// The residuals of one data set: each data set has a scale of its own, which is what makes its rows no evidence for
// other data sets.
std::vector<double> residuals_of_dataset(std::mt19937_64& random, std::size_t rows) {
  std::normal_distribution<double> normal;
  const double scale = std::exp(1.5 * normal(random));
  std::vector<double> residuals;
  for (std::size_t i = 0; i < rows; ++i)
    residuals.push_back(std::abs(scale * (1 + 0.1 * normal(random))));
  return residuals;
}

TEST(Conformal, covers_new_data_sets_as_often_as_it_says) {
  std::mt19937_64 random(17);
  constexpr int kTrials = 4000;
  for (double confidence : {0.8, 0.95}) {
    int covered = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<std::vector<double>> datasets;
      for (int i = 0; i < 24; ++i)
        datasets.push_back(residuals_of_dataset(random, 1 + random() % 40));
      covered += residuals_of_dataset(random, 1).front() <= conformal_half_width(datasets, confidence).value() ? 1 : 0;
    }
    // Four standard errors below the promise would be a broken promise.
    const double error = std::sqrt(confidence * (1 - confidence) / kTrials);
    EXPECT_GT(covered / static_cast<double>(kTrials), confidence - 4 * error) << confidence;
    EXPECT_LT(covered / static_cast<double>(kTrials), confidence + 0.06) << "wider than it needs to be";
  }
}

TEST(Conformal, over_rows_would_break_its_promise) {
  // The naive twin, which pools all rows as if each were an experience of its own, fails where data sets differ in
  // size.
  std::mt19937_64 random(18);
  int covered = 0;
  constexpr int kTrials = 2000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<std::vector<double>> pooled;
    for (int i = 0; i < 4; ++i)
      for (double residual : residuals_of_dataset(random, 50))
        pooled.push_back({residual});
    covered += residuals_of_dataset(random, 1).front() <= conformal_half_width(pooled, 0.95).value() ? 1 : 0;
  }
  EXPECT_LT(covered / static_cast<double>(kTrials), 0.9);
}

TEST(Conformal, claims_no_confidence_that_so_few_data_sets_cannot_give) {
  EXPECT_EQ(datasets_needed(0.95), 19u);
  EXPECT_EQ(datasets_needed(0.9), 9u);
  EXPECT_EQ(datasets_needed(0.5), 1u);
  const std::vector<double> rows(100000, 1.0);
  std::vector<std::vector<double>> datasets(18, rows);
  datasets.emplace_back(); // without rows: no experience
  EXPECT_FALSE(conformal_half_width(datasets, 0.95));
  EXPECT_TRUE(conformal_half_width(datasets, 0.9));
  datasets.back().push_back(7);
  EXPECT_EQ(conformal_half_width(datasets, 0.95), 7);
  EXPECT_FALSE(conformal_half_width({}, 0.5));
}

} // namespace
} // namespace hotset
