// SPDX-License-Identifier: Apache-2.0
#include "model/regressor.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"

namespace hotset {
namespace {

Matrix scaled_rows(const Samples& samples, std::span<const std::size_t> rows, const MinMaxScaler& scaler) {
  Matrix scaled(samples.features.columns());
  for (std::size_t row : rows)
    scaled.append(samples.features.row(row));
  for (std::size_t i = 0; i < scaled.rows(); ++i)
    scaler.apply(scaled.row(i));
  return scaled;
}

void drop_outliers(std::vector<std::size_t>& rows, const Samples& samples) {
  std::erase_if(rows, [&](std::size_t row) { return samples.outlier[row]; });
}

std::vector<std::size_t> datasets_of(const Samples& samples, std::span<const std::size_t> rows) {
  std::vector<std::size_t> datasets;
  for (std::size_t row : rows)
    datasets.push_back(samples.items[row].dataset);
  return datasets;
}

std::vector<std::size_t> all_rows(const Samples& samples) {
  std::vector<std::size_t> rows(samples.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i] = i;
  return rows;
}

// Each fold's test part by a regressor of its training part, in the order of the samples; nothing when asked to stop.
Result<std::vector<Judged>> judge_folds(const Samples& samples, std::span<const Split> folds, const Recipe& recipe,
                                        std::string_view what, const OnStep& on_step) {
  std::vector<Judged> judged;
  for (std::size_t i = 0; i < folds.size(); ++i) {
    HOTSET_TRY(const Regressor regressor, Regressor::fit(samples, folds[i].train, recipe));
    HOTSET_TRY(const std::vector<Judged> of_fold, regressor.judge(samples, folds[i].test));
    judged.insert(judged.end(), of_fold.begin(), of_fold.end());
    const bool go_on = !on_step || on_step(what, i + 1, folds.size());
    if (!go_on && i + 1 < folds.size()) return std::vector<Judged>{};
  }
  std::ranges::sort(judged, {}, &Judged::sample);
  return judged;
}

// A split of positions in `rows`, as a split of the rows themselves.
void translate(std::vector<std::size_t>& part, std::span<const std::size_t> rows) {
  for (std::size_t& index : part)
    index = rows[index];
}

} // namespace

Result<Recipe> Recipe::of_preset(std::string_view preset, const Parameters& parameters) {
  HOTSET_TRY(const std::vector<const Feature*> chosen, preset_features(preset));
  Recipe recipe{.preset = std::string(preset),
                .names = {},
                .parameters = parameters,
                .drops_outliers = drops_outliers_of(preset)};
  for (const Feature* feature : chosen)
    recipe.names.emplace_back(feature->name);
  return recipe;
}

std::vector<const Feature*> Recipe::features() const {
  return preset_features(preset).value();
}

std::vector<std::size_t> Recipe::columns_without_faults() const {
  std::vector<std::size_t> columns;
  const std::vector<const Feature*> chosen = named_features(names).value_or(std::vector<const Feature*>{});
  for (std::size_t i = 0; i < chosen.size(); ++i)
    if (!chosen[i]->from_faults) columns.push_back(i);
  return columns;
}

Result<Regressor> Regressor::fit(const Samples& samples, std::span<const std::size_t> rows, const Recipe& recipe) {
  if (rows.size() < kFewestRows)
    return fail(
        ErrorCode::bad_data, "train the model", "",
        fmt::format("{} to learn from {} too few", counted(rows.size(), "usable row"), rows.size() == 1 ? "is" : "are"),
        fmt::format("give data sets that leave at least {} rows", kFewestRows));
  MinMaxScaler scaler = MinMaxScaler::fit(samples.features, rows);
  std::vector<double> labels;
  double sum = 0;
  for (std::size_t row : rows) {
    labels.push_back(samples.items[row].label_bytes);
    sum += labels.back();
  }
  HOTSET_TRY(Booster booster,
             Booster::train(scaled_rows(samples, rows, scaler), labels, recipe.names, lightgbm_text(recipe.parameters),
                            static_cast<std::size_t>(recipe.parameters.rounds)));
  return Regressor{std::move(scaler), std::move(booster), sum / static_cast<double>(rows.size())};
}

Result<std::vector<Judged>> Regressor::judge(const Samples& samples, std::span<const std::size_t> rows) const {
  return hotset::judge(samples, rows, scaler, booster, training_mean);
}

Result<std::vector<Judged>> judge(const Samples& samples, std::span<const std::size_t> rows, const MinMaxScaler& scaler,
                                  const Booster& booster, double training_mean) {
  HOTSET_TRY(const std::vector<double> values, booster.predict(scaled_rows(samples, rows, scaler)));
  std::vector<Judged> judged;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double bytes = clip_prediction(values[i], samples.items[rows[i]].rss_bytes, samples.horizon);
    judged.push_back({.sample = rows[i], .model = bytes, .training_mean = training_mean});
  }
  return judged;
}

double clip_prediction(double bytes, double rss_bytes, std::size_t horizon) {
  const double positive = std::max(bytes, 0.0);
  return horizon == 0 ? std::min(positive, rss_bytes) : positive;
}

Result<Split> split_samples(const Samples& samples, const Recipe& recipe, SplitKind kind) {
  std::vector<std::size_t> rows = all_rows(samples);
  if (recipe.drops_outliers && kind == SplitKind::row) drop_outliers(rows, samples);
  HOTSET_TRY(Split split, make_split(datasets_of(samples, rows), kind, recipe.parameters.seed));
  for (std::vector<std::size_t>* part : {&split.train, &split.valid, &split.test})
    translate(*part, rows);
  if (recipe.drops_outliers) {
    drop_outliers(split.train, samples);
    drop_outliers(split.valid, samples);
  }
  return split;
}

Result<std::vector<Judged>> judge_left_out(const Samples& samples, const Recipe& recipe, const OnStep& on_step) {
  std::vector<Split> folds = leave_out_folds(datasets_of(samples, all_rows(samples)), kFolds, recipe.parameters.seed);
  if (folds.size() < 2)
    return fail(ErrorCode::bad_data, "leave data sets out in turn", "", "there is only one with rows",
                "give at least two");
  if (recipe.drops_outliers)
    for (Split& fold : folds)
      drop_outliers(fold.train, samples);
  HOTSET_TRY(std::vector<Judged> judged, judge_folds(samples, folds, recipe, "leaving data sets out", on_step));
  const std::vector<std::size_t> columns = recipe.columns_without_faults();
  if (columns.empty() || judged.empty()) return judged;
  Recipe blind = recipe;
  blind.names.clear();
  for (std::size_t column : columns)
    blind.names.push_back(recipe.names[column]);
  HOTSET_TRY(const std::vector<Judged> blindly,
             judge_folds(with_columns(samples, columns), folds, blind, "the same without page faults", on_step));
  for (std::size_t i = 0; i < blindly.size(); ++i)
    judged[i].without_faults = blindly[i].model;
  return judged;
}

} // namespace hotset
