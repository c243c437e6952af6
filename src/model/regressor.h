// SPDX-License-Identifier: Apache-2.0
// The learned part of a model: a scaler and a booster that belong together, fitted to some of the samples.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dataset/samples.h"
#include "dataset/scaler.h"
#include "dataset/splits.h"
#include "model/lightgbm.h"
#include "model/parameters.h"
#include "model/predictors.h"

namespace hotset {

// How to make a regressor; a preset with its parameters.
struct Recipe {
  std::string preset;
  std::vector<std::string> names; // of the features
  Parameters parameters;
  bool drops_outliers = false;

  // usage error for a preset that does not exist.
  static Result<Recipe> of_preset(std::string_view preset, const Parameters& parameters);
  // The published method removes outliers; "full" keeps them, for a rare phase is no error.
  static bool drops_outliers_of(std::string_view preset) { return preset == "paper"; }
  // The features, as pointers into their table.
  [[nodiscard]] std::vector<const Feature*> features() const;
  // Which of the features do not come from page faults.
  [[nodiscard]] std::vector<std::size_t> columns_without_faults() const;
};

struct Regressor {
  MinMaxScaler scaler;
  Booster booster;
  double training_mean = 0; // of the labels

  // Fits to the samples `rows`, at least kFewestRows of them (bad_data).
  static Result<Regressor> fit(const Samples& samples, std::span<const std::size_t> rows, const Recipe& recipe);
  // Bytes per sample of `rows`, clipped as clip_prediction does.
  [[nodiscard]] Result<std::vector<Judged>> judge(const Samples& samples, std::span<const std::size_t> rows) const;
};

// The same for a model that is there already.
Result<std::vector<Judged>> judge(const Samples& samples, std::span<const std::size_t> rows, const MinMaxScaler& scaler,
                                  const Booster& booster, double training_mean);

// A working set is not negative, and that of the present is not above what is resident. What is resident in the future
// is not known, so there `rss_bytes` is no bound.
double clip_prediction(double bytes, double rss_bytes, std::size_t horizon);

// Told after each step of long work: steps done, of how many. False asks to stop, which is an error only where it says.
using OnStep = std::function<bool(std::string_view what, std::size_t done, std::size_t total)>;

// The split that a recipe trains with. By row, outliers are removed from all parts before, as published; by data set
// only from the training and validation parts, for a new target's windows can't be chosen.
Result<Split> split_samples(const Samples& samples, const Recipe& recipe, SplitKind kind);

// Every sample judged by a regressor that has seen none of its data set: kFolds parts of the data sets left out in
// turn. Beside it, where the recipe has such features, one that knows nothing of page faults. bad_data with fewer than
// two data sets; nothing when `on_step` asked to stop.
inline constexpr std::size_t kFolds = 10;
Result<std::vector<Judged>> judge_left_out(const Samples& samples, const Recipe& recipe, const OnStep& on_step);

} // namespace hotset
