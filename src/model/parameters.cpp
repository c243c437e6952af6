// SPDX-License-Identifier: Apache-2.0
#include "model/parameters.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace hotset {
namespace {

constexpr std::array kTable{
    Parameter{"learning_rate", "learning_rate", &Parameters::learning_rate, 0.01, 0.3, true, false},
    Parameter{"max_depth", "max_depth", &Parameters::max_depth, 3, 10, false, true},
    Parameter{"num_leaves", "num_leaves", &Parameters::num_leaves, 7, 255, true, true},
    Parameter{"n_estimators", "num_iterations", &Parameters::rounds, 50, 500, true, true},
    Parameter{"min_child_samples", "min_data_in_leaf", &Parameters::min_child_samples, 3, 50, true, true},
    Parameter{"colsample_bytree", "feature_fraction", &Parameters::colsample_bytree, 0.5, 1, false, false},
    Parameter{"subsample", "bagging_fraction", &Parameters::subsample, 0.5, 1, false, false},
};

// The row-wise histogram is named because LightGBM would
// otherwise time both and take the faster, which no seed governs.
constexpr std::string_view kFixed =
    "objective=regression deterministic=true force_row_wise=true feature_pre_filter=false";

} // namespace

std::span<const Parameter> parameter_table() {
  return kTable;
}

std::string lightgbm_text(const Parameters& parameters) {
  std::string text;
  for (const Parameter& parameter : kTable)
    text += fmt::format("{}={} ", parameter.lightgbm, parameters.*parameter.field);
  return fmt::format("{}bagging_freq={} seed={} {}", text, kBaggingFrequency, parameters.seed & 0x7FFFFFFF, kFixed);
}

Parameters draw_parameters(const Parameters& from, std::mt19937_64& random) {
  Parameters drawn = from;
  for (const Parameter& parameter : kTable) {
    const double u = static_cast<double>(random() >> 11) * 0x1p-53;
    double value = parameter.logarithmic ? parameter.low * std::pow(parameter.high / parameter.low, u)
                                         : std::lerp(parameter.low, parameter.high, u);
    drawn.*parameter.field = parameter.whole ? std::round(value) : value;
  }
  return drawn;
}

} // namespace hotset
