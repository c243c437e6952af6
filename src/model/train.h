// SPDX-License-Identifier: Apache-2.0
// From data sets to a model, with an account of how good it is on what it was not trained on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "dataset/dataset.h"
#include "model/model.h"
#include "model/predictors.h"
#include "model/regressor.h"
#include "model/tune.h"

namespace hotset {

struct TrainOptions {
  std::string preset = "paper";
  SplitKind split = SplitKind::row;
  std::uint64_t seed = 1;
  std::size_t tune = 0; // parameter sets to try; 0 takes the published ones
  std::size_t horizon = 0;
  double confidence = 0.95;    // of the interval
  std::string trained_at = {}; // UTC
};

struct Trained {
  Model model;
  std::vector<Metrics> test;     // per method, on the test part of the split
  std::vector<Metrics> left_out; // per method, each data set judged without itself; empty when that was not possible
  std::optional<TuneResult> tuned;
  std::vector<std::string> notes; // what the reader should know, a sentence each
};

// Trains on the training part, tunes on the validation part, reports on the test part, and calibrates the interval over
// the data sets. When `on_step` asks to stop, what is done so far is the result and a note says so.
Result<Trained> train(std::span<const Dataset> datasets, const TrainOptions& options, const OnStep& on_step);

} // namespace hotset
