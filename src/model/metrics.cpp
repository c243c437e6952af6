// SPDX-License-Identifier: Apache-2.0
#include "model/metrics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "dataset/quantile.h"

namespace hotset {
namespace {

std::optional<Spread> spread_of(std::vector<double> errors) {
  if (errors.empty()) return std::nullopt;
  std::ranges::sort(errors);
  double sum = 0;
  for (double error : errors)
    sum += error;
  return Spread{sum / static_cast<double>(errors.size()), quantile(errors, 0.5), quantile(errors, 0.95)};
}

std::optional<double> r_squared(std::span<const Outcome> outcomes) {
  double sum = 0, unexplained = 0, variance = 0;
  for (const Outcome& outcome : outcomes)
    sum += outcome.label;
  const double mean = sum / static_cast<double>(outcomes.size());
  const auto all_equal = [&](const Outcome& outcome) { return outcome.label == outcomes.front().label; };
  if (outcomes.empty() || std::ranges::all_of(outcomes, all_equal)) return std::nullopt;
  for (const Outcome& outcome : outcomes) {
    unexplained += (outcome.predicted - outcome.label) * (outcome.predicted - outcome.label);
    variance += (outcome.label - mean) * (outcome.label - mean);
  }
  return 1 - unexplained / variance;
}

template <std::optional<Spread> Metrics::* Part, double Spread::* Which>
std::optional<double> spread_value(const Metrics& metrics) {
  const std::optional<Spread>& part = metrics.*Part;
  return part ? std::optional((*part).*Which) : std::nullopt;
}

constexpr std::array kErrorMetrics{
    ErrorMetric{"mae_bytes", "MiB", "mean", Scale::mib, spread_value<&Metrics::bytes, &Spread::mean>},
    ErrorMetric{"median_bytes", "MiB", "median", Scale::mib, spread_value<&Metrics::bytes, &Spread::median>},
    ErrorMetric{"p95_bytes", "MiB", "p95", Scale::mib, spread_value<&Metrics::bytes, &Spread::p95>},
    ErrorMetric{"mae_of_rss", "% of RSS", "mean", Scale::percent, spread_value<&Metrics::of_rss, &Spread::mean>},
    ErrorMetric{"median_of_rss", "% of RSS", "median", Scale::percent, spread_value<&Metrics::of_rss, &Spread::median>},
    ErrorMetric{"p95_of_rss", "% of RSS", "p95", Scale::percent, spread_value<&Metrics::of_rss, &Spread::p95>},
    ErrorMetric{"mae_of_wss", "% of WSS", "mean", Scale::percent, spread_value<&Metrics::of_wss, &Spread::mean>},
    ErrorMetric{"median_of_wss", "% of WSS", "median", Scale::percent, spread_value<&Metrics::of_wss, &Spread::median>},
    ErrorMetric{"p95_of_wss", "% of WSS", "p95", Scale::percent, spread_value<&Metrics::of_wss, &Spread::p95>},
    ErrorMetric{"r2", "", "R²", Scale::plain, [](const Metrics& metrics) { return metrics.r2; }},
};

} // namespace

Metrics measure_errors(std::span<const Outcome> outcomes) {
  std::vector<double> bytes, of_rss, of_wss;
  for (const Outcome& outcome : outcomes) {
    const double error = std::abs(outcome.predicted - outcome.label);
    bytes.push_back(error);
    if (outcome.rss > 0) of_rss.push_back(error / outcome.rss);
    if (outcome.label > 0) of_wss.push_back(error / outcome.label);
  }
  Metrics measured;
  measured.n = outcomes.size();
  measured.n_wss = of_wss.size();
  measured.bytes = spread_of(std::move(bytes));
  measured.of_rss = spread_of(std::move(of_rss));
  measured.of_wss = spread_of(std::move(of_wss));
  measured.r2 = r_squared(outcomes);
  return measured;
}

std::span<const ErrorMetric> error_metrics() {
  return kErrorMetrics;
}

} // namespace hotset
