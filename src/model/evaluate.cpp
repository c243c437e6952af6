// SPDX-License-Identifier: Apache-2.0
#include "model/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

namespace hotset {
namespace {

constexpr std::array kSettings{
    SettingText{Setting::seen, "seen", "the model on recordings it was trained from",
                "too good to be true: it has seen these targets"},
    SettingText{Setting::unseen, "unseen", "the model on recordings it was not trained from",
                "what it says about other targets"},
    SettingText{Setting::by_row, "row", "trained again, split by row (as published)",
                "windows of one recording are in training and test"},
    SettingText{Setting::left_out, "dataset", "trained again, data sets left out in turn (honest)",
                "each target is told by a model that has not seen it"},
};

Recipe recipe_of(const ModelInfo& info) {
  return {.preset = info.preset,
          .names = info.features,
          .parameters = info.parameters,
          .drops_outliers = Recipe::drops_outliers_of(info.preset)};
}

// Builds up an Evaluation, one setting at one horizon after the other.
class Evaluator {
 public:
  Evaluator(const Model& model, std::span<const Dataset> datasets, const EvaluateOptions& options,
            const OnStep& on_step)
      : model_(model), datasets_(datasets), options_(options), on_step_(on_step), recipe_(recipe_of(model.info())) {
    recipe_.parameters.seed = options.seed.value_or(model.info().parameters.seed);
  }

  Result<Evaluation> run() {
    HOTSET_CHECK(check_fit());
    evaluation_.model = model_.info();
    note_data();
    std::set<std::size_t> horizons{model_.info().horizon};
    if (options_.horizon) horizons.insert(*options_.horizon);
    for (std::size_t horizon : horizons) {
      HOTSET_TRY(const Samples samples, make_samples(datasets_, model_.features(), horizon));
      if (horizon == model_.info().horizon) HOTSET_CHECK(judge_as_given(samples));
      if (options_.by_row) HOTSET_CHECK(judge_by_row(samples));
      if (options_.left_out) HOTSET_CHECK(judge_data_sets(samples));
    }
    evaluation_.labels_against_truth = score_labels(datasets_);
    return std::move(evaluation_);
  }

 private:
  Result<> check_fit() const {
    const ModelInfo& info = model_.info();
    for (const Dataset& dataset : datasets_)
      if (dataset.header.label != info.label)
        return fail(ErrorCode::bad_data, "evaluate the model on", dataset.path,
                    fmt::format("its labels are of the method {}, and the model learned those of {}",
                                dataset.header.label, info.label),
                    "give data sets of the same method");
    return {};
  }

  void note_data() {
    std::set<std::string> trained_on;
    for (const TrainedOn& dataset : model_.info().datasets)
      trained_on.insert(dataset.recording);
    std::set<std::string> others;
    for (const Dataset& dataset : datasets_) {
      evaluation_.data.push_back({.path = dataset.path,
                                  .group = dataset.header.group,
                                  .rows = dataset.rows.size(),
                                  .seen = trained_on.contains(recording_id(dataset)),
                                  .truncated = dataset.truncated});
      if (dataset.truncated) note(fmt::format("{}: its last line was cut off and left out", dataset.path));
      if (dataset.header.hook_semantics != model_.info().hook_semantics) others.insert(dataset.header.hook);
    }
    for (const std::string& hook : others)
      note(fmt::format("the hook {} counts other faults than {}, which the model was trained with", hook,
                       model_.info().hook));
    if (model_.info().preset != "paper")
      note(
          "the model sees resident memory and CPU time beside page faults: what it tells need not be the faults' "
          "doing; "
          "preset paper sees faults alone");
  }

  Result<> judge_as_given(const Samples& samples) {
    for (Setting setting : {Setting::seen, Setting::unseen}) {
      std::vector<std::size_t> rows;
      for (std::size_t i = 0; i < samples.size(); ++i)
        if (evaluation_.data[samples.items[i].dataset].seen == (setting == Setting::seen)) rows.push_back(i);
      if (rows.empty()) continue;
      HOTSET_TRY(const std::vector<Judged> judged,
                 judge(samples, rows, model_.info().scaler, model_.booster(), model_.info().training_mean_bytes));
      add(setting, samples, judged);
    }
    return {};
  }

  Result<> judge_by_row(const Samples& samples) {
    HOTSET_TRY(const Split split, split_samples(samples, recipe_, SplitKind::row));
    HOTSET_TRY(const Regressor regressor, Regressor::fit(samples, split.train, recipe_));
    HOTSET_TRY(const std::vector<Judged> judged, regressor.judge(samples, split.test));
    add(Setting::by_row, samples, judged);
    return {};
  }

  Result<> judge_data_sets(const Samples& samples) {
    Result<std::vector<Judged>> judged = judge_left_out(samples, recipe_, on_step_);
    if (!judged && judged.error().code == ErrorCode::bad_data) {
      note(fmt::format("no word about targets not seen before: {}", to_sentence(judged.error())));
      return {};
    }
    if (!judged) return fail(judged.error());
    if (judged->empty()) {
      note("stopped on request: not all of the data sets were left out in turn");
      return {};
    }
    add(Setting::left_out, samples, *judged);
    for (const auto& [group, members] : by_group(samples, *judged))
      evaluation_.verdicts.push_back(decide(samples, members, group));
    return {};
  }

  void add(Setting setting, const Samples& samples, std::span<const Judged> judged) {
    add_scores(setting, samples, judged, std::nullopt);
    const auto groups = by_group(samples, judged);
    if (groups.size() > 1)
      for (const auto& [group, members] : groups)
        add_scores(setting, samples, members, group);
    // The settings come in the order of their honesty, so the last one is the picture.
    if (samples.horizon != model_.info().horizon) return;
    if (evaluation_.pictured != setting) evaluation_.points.clear();
    evaluation_.pictured = setting;
    for (const Judged& one : judged) {
      const Sample& sample = samples.items[one.sample];
      evaluation_.points.push_back({.dataset = sample.dataset,
                                    .time_s = sample.time_s,
                                    .label = sample.label_bytes,
                                    .model = one.model,
                                    .rss = sample.rss_bytes,
                                    .truth = sample.truth_bytes});
    }
  }

  void add_scores(Setting setting, const Samples& samples, std::span<const Judged> judged,
                  std::optional<std::string> group) {
    std::set<std::size_t> datasets;
    for (const Judged& one : judged)
      datasets.insert(samples.items[one.sample].dataset);
    Scores scores{.setting = setting,
                  .horizon = samples.horizon,
                  .group = std::move(group),
                  .datasets = datasets.size(),
                  .methods = score(samples, judged),
                  .interval_coverage = std::nullopt};
    const std::optional<double> half_width = model_.info().interval_bytes;
    if (half_width && (setting == Setting::seen || setting == Setting::unseen)) {
      const auto inside = std::ranges::count_if(judged, [&](const Judged& one) {
        return std::abs(one.model - samples.items[one.sample].label_bytes) <= *half_width;
      });
      scores.interval_coverage = static_cast<double>(inside) / static_cast<double>(judged.size());
    }
    evaluation_.scores.push_back(std::move(scores));
  }

  [[nodiscard]] std::map<std::string, std::vector<Judged>> by_group(const Samples& samples,
                                                                    std::span<const Judged> judged) const {
    std::map<std::string, std::vector<Judged>> groups;
    for (const Judged& one : judged) {
      const std::string& group = evaluation_.data[samples.items[one.sample].dataset].group;
      groups[group.empty() ? "(no group)" : group].push_back(one);
    }
    return groups;
  }

  void note(std::string text) { evaluation_.notes.push_back(std::move(text)); }

  const Model& model_;
  std::span<const Dataset> datasets_;
  const EvaluateOptions& options_;
  const OnStep& on_step_;
  Recipe recipe_;
  Evaluation evaluation_;
};

} // namespace

const SettingText& setting_text(Setting setting) {
  return *std::ranges::find(kSettings, setting, &SettingText::setting);
}

Result<Evaluation> evaluate(const Model& model, std::span<const Dataset> datasets, const EvaluateOptions& options,
                            const OnStep& on_step) {
  return Evaluator(model, datasets, options, on_step).run();
}

} // namespace hotset
