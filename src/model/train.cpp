// SPDX-License-Identifier: Apache-2.0
#include "model/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "dataset/quantile.h"
#include "model/conformal.h"

namespace hotset {
namespace {

void note_windows(std::span<const Dataset> datasets, ModelInfo& info) {
  std::vector<double> windows;
  for (const Dataset& dataset : datasets)
    for (const Row& row : dataset.rows)
      windows.push_back(row.dt_s);
  std::ranges::sort(windows);
  info.window_low_s = quantile(windows, 0.01);
  info.window_median_s = quantile(windows, 0.5);
  info.window_high_s = quantile(windows, 0.99);
}

ModelInfo describe(std::span<const Dataset> datasets, const Samples& samples, const Recipe& recipe, const Split& split,
                   const TrainOptions& options) {
  ModelInfo info;
  info.preset = recipe.preset;
  info.features = recipe.names;
  info.schema_hash = feature_hash(recipe.features());
  info.label = datasets.front().header.label;
  info.hook = datasets.front().header.hook;
  info.hook_semantics = datasets.front().header.hook_semantics;
  note_windows(datasets, info);
  info.horizon = options.horizon;
  info.confidence = options.confidence;
  info.split = split_name(options.split);
  info.train_rows = split.train.size();
  info.valid_rows = split.valid.size();
  info.test_rows = split.test.size();
  if (recipe.drops_outliers)
    info.outliers_removed = samples.size() - split.train.size() - split.valid.size() - split.test.size();
  for (const Dataset& dataset : datasets)
    info.datasets.push_back({.path = dataset.path,
                             .recording = recording_id(dataset),
                             .group = dataset.header.group,
                             .rows = dataset.rows.size()});
  info.parameters = recipe.parameters;
  info.lightgbm_version = lightgbm_version();
  info.hotset_version = HOTSET_VERSION;
  info.trained_at = options.trained_at;
  return info;
}

std::vector<std::vector<double>> residuals_by_dataset(const Samples& samples, std::span<const Judged> judged) {
  std::vector<std::vector<double>> residuals(samples.datasets);
  for (const Judged& one : judged) {
    const Sample& sample = samples.items[one.sample];
    residuals[sample.dataset].push_back(std::abs(one.model - sample.label_bytes));
  }
  return residuals;
}

std::vector<std::string> notes_on(std::span<const Dataset> datasets) {
  std::vector<std::string> notes;
  for (const Dataset& dataset : datasets) {
    if (dataset.truncated) notes.push_back(fmt::format("{}: its last line was cut off and left out", dataset.path));
    if (dataset.rows.size() < 2) notes.push_back(fmt::format("{}: it has too few rows to learn from", dataset.path));
  }
  std::set<std::string> hooks;
  for (const Dataset& dataset : datasets)
    hooks.insert(dataset.header.hook);
  if (hooks.size() > 1)
    notes.push_back(
        fmt::format("the data sets were recorded by {} different hooks; the model names the first", hooks.size()));
  return notes;
}

// Leaves data sets out in turn: what the model says about targets it has not seen, and the interval from it.
Result<> calibrate(const Samples& samples, const Recipe& recipe, const OnStep& on_step, ModelInfo& info,
                   Trained& trained) {
  Result<std::vector<Judged>> judged = judge_left_out(samples, recipe, on_step);
  if (!judged && judged.error().code != ErrorCode::bad_data) return fail(judged.error());
  if (!judged || judged->empty()) {
    trained.notes.push_back(
        judged ? "stopped on request before the interval was calibrated: predictions will have none"
               : fmt::format("no interval, and no word about unseen targets: {}", to_sentence(judged.error())));
    return {};
  }
  trained.left_out = score(samples, *judged);
  info.interval_bytes = conformal_half_width(residuals_by_dataset(samples, *judged), info.confidence);
  if (!info.interval_bytes)
    trained.notes.push_back(fmt::format("no interval: {} data sets can't give {:.4g} % confidence, {} can",
                                        samples.datasets, 100 * info.confidence, datasets_needed(info.confidence)));
  return {};
}

} // namespace

Result<Trained> train(std::span<const Dataset> datasets, const TrainOptions& options, const OnStep& on_step) {
  HOTSET_TRY(Recipe recipe, Recipe::of_preset(options.preset, Parameters{.seed = options.seed}));
  HOTSET_TRY(const Samples samples, make_samples(datasets, recipe.features(), options.horizon));
  HOTSET_TRY(const Split split, split_samples(samples, recipe, options.split));
  std::optional<TuneResult> tuned;
  if (options.tune > 0) {
    HOTSET_TRY(tuned, tune(samples, split, recipe, options.tune, on_step));
    recipe.parameters = tuned->best;
  }
  HOTSET_TRY(Regressor regressor, Regressor::fit(samples, split.train, recipe));
  HOTSET_TRY(const std::vector<Judged> tested, regressor.judge(samples, split.test));
  ModelInfo info = describe(datasets, samples, recipe, split, options);
  info.scaler = regressor.scaler;
  info.training_mean_bytes = regressor.training_mean;
  // The model is complete only with its interval, and the interval is known last.
  HOTSET_TRY(Model model, Model::make(std::move(regressor.booster), info));
  Trained trained{.model = std::move(model),
                  .test = score(samples, tested),
                  .left_out = {},
                  .tuned = tuned,
                  .notes = notes_on(datasets)};
  if (tuned && tuned->tried <= options.tune)
    trained.notes.push_back(
        fmt::format("tuning stopped on request after {} of {} parameter sets; the best of them is kept",
                    tuned->tried - 1, options.tune));
  HOTSET_CHECK(calibrate(samples, recipe, on_step, info, trained));
  trained.model.set_interval(info.interval_bytes);
  return trained;
}

} // namespace hotset
