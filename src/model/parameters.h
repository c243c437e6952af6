// SPDX-License-Identifier: Apache-2.0
// How a model is trained: the published hyper-parameters as they are, and the space that --tune searches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <string_view>

namespace hotset {

// The defaults are the published ones.
struct Parameters {
  double learning_rate = 0.04;
  double max_depth = 5;
  double num_leaves = 255; // more than max_depth 5 can use (32); kept as published
  double rounds = 200;     // n_estimators
  double min_child_samples = 3;
  double colsample_bytree = 0.999;
  double subsample = 0.57;
  std::uint64_t seed = 1; // random_state: feature and row sampling, and every split
};

// Without it LightGBM ignores the subsample. The publication does not name it.
inline constexpr int kBaggingFrequency = 1;

// One hyper-parameter: its published name, LightGBM's name, and where --tune looks.
struct Parameter {
  std::string_view name;
  std::string_view lightgbm;
  double Parameters::* field;
  double low, high;
  bool logarithmic;
  bool whole;
};

std::span<const Parameter> parameter_table();

// "learning_rate=0.04 max_depth=5 …" for LightGBM, with what makes a seed reproduce a model.
std::string lightgbm_text(const Parameters& parameters);

// A point of the space, uniform in each parameter (in its logarithm where the table says so); the seed is kept.
Parameters draw_parameters(const Parameters& from, std::mt19937_64& random);

} // namespace hotset
