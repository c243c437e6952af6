// SPDX-License-Identifier: Apache-2.0
#include "model/metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "model/predictors.h"
#include "synthetic.h"

namespace hotset {
namespace {

// The naive twin: sorts, indexes, and follows the definitions word by word.
double naive_p95(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const double place = 0.95 * static_cast<double>(values.size() - 1);
  const auto lower = static_cast<std::size_t>(place);
  if (lower + 1 == values.size()) return values[lower];
  return values[lower] + (place - static_cast<double>(lower)) * (values[lower + 1] - values[lower]);
}

TEST(Metrics, agree_with_their_naive_twin) {
  std::mt19937_64 random(5);
  for (std::size_t n : {1u, 2u, 3u, 40u, 501u}) {
    std::vector<Outcome> outcomes;
    for (std::size_t i = 0; i < n; ++i)
      outcomes.push_back({1e6 * synthetic::uniform(random), 1 + 1e6 * synthetic::uniform(random), 2e6});
    std::vector<double> errors, shares;
    double mean_label = 0, residual = 0, total = 0;
    for (const Outcome& o : outcomes) {
      errors.push_back(std::fabs(o.predicted - o.label));
      shares.push_back(std::fabs(o.predicted - o.label) / o.label);
      mean_label += o.label / static_cast<double>(n);
    }
    for (const Outcome& o : outcomes) {
      residual += std::pow(o.predicted - o.label, 2);
      total += std::pow(o.label - mean_label, 2);
    }
    double sum = 0;
    for (double error : errors)
      sum += error;
    const Metrics measured = measure_errors(outcomes);
    EXPECT_EQ(measured.n, n);
    EXPECT_NEAR(measured.bytes->mean, sum / static_cast<double>(n), 1e-6);
    EXPECT_NEAR(measured.bytes->p95, naive_p95(errors), 1e-6);
    EXPECT_NEAR(measured.of_wss->p95, naive_p95(shares), 1e-9);
    EXPECT_NEAR(measured.of_rss->mean, sum / static_cast<double>(n) / 2e6, 1e-9);
    EXPECT_EQ(measured.r2.has_value(), n > 1);
    EXPECT_NEAR(measured.r2.value_or(0), n > 1 ? 1 - residual / total : 0, 1e-9);
  }
}

TEST(Metrics, that_are_undefined_are_absent_and_never_a_number) {
  const Metrics nothing = measure_errors({});
  for (const ErrorMetric& metric : error_metrics())
    EXPECT_FALSE(metric.value(nothing)) << metric.name;
  const std::vector<Outcome> same{{1, 5, 0}, {2, 5, 0}};
  const Metrics constant = measure_errors(same);
  EXPECT_FALSE(constant.r2);
  EXPECT_FALSE(constant.of_rss);
  EXPECT_EQ(constant.bytes->mean, 3.5);
  const std::vector<Outcome> zero{{1, 0, 10}, {2, 4, 10}};
  const Metrics partly = measure_errors(zero);
  EXPECT_EQ(partly.n_wss, 1u);
  EXPECT_EQ(partly.of_wss->mean, 0.5);
}

TEST(Metrics, are_finite_whatever_a_data_set_may_hold) {
  const auto large = static_cast<double>(std::uint64_t{1} << 53);
  const std::vector<Outcome> outcomes{{large, 0, large}, {0, large, 1}, {large, 1, large}};
  const Metrics measured = measure_errors(outcomes);
  for (const ErrorMetric& metric : error_metrics())
    EXPECT_TRUE(std::isfinite(metric.value(measured).value())) << metric.name;
}

TEST(Metrics, and_methods_have_names_of_their_own) {
  std::set<std::string_view> names;
  for (const ErrorMetric& metric : error_metrics())
    EXPECT_TRUE(names.insert(metric.name).second);
  for (const Predictor& predictor : predictors())
    EXPECT_TRUE(names.insert(predictor.name).second);
  EXPECT_EQ(predictors().front().name, "model");
}

TEST(Baselines, say_what_their_names_promise) {
  const std::vector<Dataset> datasets{synthetic::telling(1, 5)};
  const Samples samples = make_samples(datasets, preset_features("paper").value(), 0).value();
  const Judged judged{.sample = 2, .model = 7, .training_mean = 9};
  std::map<std::string_view, double> said;
  for (const Predictor& predictor : predictors())
    said[predictor.name] = predictor.predict(samples.items[2], judged).value_or(-1);
  EXPECT_EQ(said["without_faults"], -1);
  EXPECT_EQ(said["model"], 7);
  EXPECT_EQ(said["training_mean"], 9);
  EXPECT_EQ(said["rss"], static_cast<double>(datasets[0].rows[3].rss_bytes));
  EXPECT_EQ(said["last_label"], static_cast<double>(datasets[0].rows[2].label_bytes));
}

} // namespace
} // namespace hotset
