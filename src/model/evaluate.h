// SPDX-License-Identifier: Apache-2.0
// The honest account of a model: what it says about recordings that it was trained from and about others, and what its
// method says when it is trained again on these data sets, split by row (as published) and by data set. Beside each
// stand the baselines, and for each kind of workload it says whether page faults tell its working set at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dataset/dataset.h"
#include "model/model.h"
#include "model/predictors.h"
#include "model/regressor.h"
#include "model/verdict.h"

namespace hotset {

// Where the judged samples come from.
enum class Setting {
  seen,     // the given model, on recordings that it was trained from: too good to be true
  unseen,   // the given model, on others
  by_row,   // trained again, tested on rows of the same recordings, as published
  left_out, // trained again without the data sets that it is tested on
};

struct SettingText {
  Setting setting;
  std::string_view name;    // in JSON
  std::string_view heading; // in tables
  std::string_view meaning;
};

const SettingText& setting_text(Setting setting);

// The scores of one setting at one horizon, over all data sets or those of one group.
struct Scores {
  Setting setting = Setting::left_out;
  std::size_t horizon = 0;
  std::optional<std::string> group = std::nullopt; // none: all
  std::size_t datasets = 0;
  std::vector<Metrics> methods = {}; // in the order of predictors()
  std::optional<double> interval_coverage =
      std::nullopt; // share of labels inside the model's interval; given model only
};

struct EvaluatedOn {
  std::string path, group;
  std::size_t rows = 0;
  bool seen = false; // the model was trained from this recording
  bool truncated = false;
};

// One sample of the best setting that there is, for the picture.
struct Point {
  std::size_t dataset = 0; // index into Evaluation::data
  double time_s = 0, label = 0, model = 0, rss = 0;
  std::optional<double> truth = std::nullopt;
};

struct Evaluation {
  ModelInfo model;
  std::vector<EvaluatedOn> data;
  std::vector<Scores> scores;
  std::vector<FaultVerdict> verdicts;
  Metrics labels_against_truth; // n is 0 without a workload's own record
  std::vector<std::string> notes;
  Setting pictured =
      Setting::seen; // what `points` are: the most honest setting that was asked for, at the model's horizon
  std::vector<Point> points;
};

struct EvaluateOptions {
  bool by_row = true, left_out = true;
  std::optional<std::size_t> horizon = std::nullopt; // one more beside the model's own
  std::optional<std::uint64_t> seed = std::nullopt;  // of the splits; none: the model's own
};

// bad_data when the labels are of another method than the model's. When `on_step` asks to stop, a note says what is
// missing.
Result<Evaluation> evaluate(const Model& model, std::span<const Dataset> datasets, const EvaluateOptions& options,
                            const OnStep& on_step);

} // namespace hotset
