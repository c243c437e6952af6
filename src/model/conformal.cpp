// SPDX-License-Identifier: Apache-2.0
#include "model/conformal.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hotset {
namespace {

constexpr double kRounding = 1e-9; // of sums of weights

} // namespace

std::size_t datasets_needed(double confidence) {
  return static_cast<std::size_t>(std::ceil(confidence / (1 - confidence) - kRounding));
}

std::optional<double> conformal_half_width(std::span<const std::vector<double>> residuals, double confidence) {
  std::size_t datasets = 0;
  for (const std::vector<double>& of_dataset : residuals)
    if (!of_dataset.empty()) ++datasets;
  if (datasets == 0 || datasets < datasets_needed(confidence)) return std::nullopt;
  std::vector<std::pair<double, double>> weighted; // residual, weight
  for (const std::vector<double>& of_dataset : residuals)
    for (double residual : of_dataset)
      weighted.emplace_back(residual,
                            1.0 / (static_cast<double>(datasets + 1) * static_cast<double>(of_dataset.size())));
  std::ranges::sort(weighted);
  double weight = 0;
  for (const auto& [residual, share] : weighted) {
    weight += share;
    if (weight >= confidence - kRounding) return residual;
  }
  return weighted.back().first; // only rounding leads here: the weights sum to K / (K + 1) ≥ confidence
}

} // namespace hotset
