// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "present/evaluation.h"
#include "present/scores_text.h"

namespace hotset {
namespace {

std::string when(std::uint64_t horizon) {
  return horizon == 0 ? "the present window" : fmt::format("{} ahead", counted(horizon, "window"));
}

std::string model_line(const ModelInfo& info) {
  return fmt::format("preset {}, {}, {}; {} training rows of {}; LightGBM {}", info.preset,
                     counted(info.features.size(), "feature"), when(info.horizon), info.train_rows,
                     counted(info.datasets.size(), "data set"), info.lightgbm_version);
}

std::string interval_line(const ModelInfo& info) {
  if (!info.interval_bytes) return "none";
  return fmt::format("± {} at {:.4g} % confidence, over data sets",
                     human_bytes(static_cast<std::uint64_t>(*info.interval_bytes)), 100 * info.confidence);
}

// Settings that are about targets the model has not seen are shown by group, too.
bool shows_groups(Setting setting) {
  return setting == Setting::left_out || setting == Setting::unseen;
}

std::string block(const Scores& scores, const Style& style) {
  const SettingText& setting = setting_text(scores.setting);
  std::string title =
      scores.group ? fmt::format("  of these, {}: {}", printable(*scores.group), counted(scores.datasets, "data set"))
                   : fmt::format("{}, {}", setting.heading, when(scores.horizon));
  title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
  std::string text = "\n" + style.bold(title) + "\n";
  if (!scores.group) text += "  " + style.dim(setting.meaning) + "\n";
  text += scores_block("", scores.methods, style);
  if (scores.interval_coverage && !scores.group)
    text += fmt::format("  {:.1f} % of the labels lie inside the model's interval\n", 100 * *scores.interval_coverage);
  return text;
}

std::string bullet(std::string_view text, std::size_t columns) {
  return "- " + wrap_text(text, 2, columns) + "\n";
}

std::string bullets(std::string_view title, const std::vector<std::string>& notes, const Style& style,
                    std::size_t columns) {
  if (notes.empty()) return {};
  std::string text = "\n" + style.bold(title) + "\n";
  for (const std::string& note : notes)
    text += bullet(note, columns);
  return text;
}

} // namespace

std::string evaluation_text(const Evaluation& evaluation, const Style& style, std::size_t columns) {
  const auto seen = static_cast<std::size_t>(std::ranges::count_if(evaluation.data, &EvaluatedOn::seen));
  std::size_t rows = 0;
  for (const EvaluatedOn& data : evaluation.data)
    rows += data.rows;
  std::string text =
      fmt::format("Model:    {}\nInterval: {}\nData:     {}, {} rows; the model was trained from {} of them\n\n",
                  model_line(evaluation.model), interval_line(evaluation.model),
                  counted(evaluation.data.size(), "data set"), rows, seen);
  text += scores_heading(style);
  for (const Scores& scores : evaluation.scores)
    if (!scores.group || shows_groups(scores.setting)) text += block(scores, style);
  if (evaluation.labels_against_truth.n > 0)
    text += "\n" + style.bold("The labels themselves against the workload's own record") + "\n" +
            scores_line("  label", evaluation.labels_against_truth);
  std::vector<std::string> verdicts;
  for (const FaultVerdict& verdict : evaluation.verdicts)
    verdicts.push_back(verdict_text(verdict));
  text += bullets("What page faults tell", verdicts, style, columns);
  return text + bullets("Notes", evaluation.notes, style, columns);
}

std::string train_text(const Trained& trained, const std::string& path, const Style& style, std::size_t columns) {
  const ModelInfo& info = trained.model.info();
  std::string text = fmt::format(
      "Model:    {}\n          {}\nRows:     {} to train, {} to validate, {} to test (by {}); "
      "{} outliers removed\nInterval: {}\n",
      path, model_line(info), info.train_rows, info.valid_rows, info.test_rows, info.split, info.outliers_removed,
      interval_line(info));
  if (trained.tuned) {
    auto bytes = [](double value) { return human_bytes(static_cast<std::uint64_t>(value)); };
    text += fmt::format("Tuning:   {} parameter sets; validation error {}, before {}\n", trained.tuned->tried,
                        bytes(trained.tuned->best_mae_bytes), bytes(trained.tuned->first_mae_bytes));
  }
  text += "\n" + scores_heading(style);
  text += scores_block(
      info.split == "row" ? "Test rows of the same recordings (as published)" : "Test data sets, not trained from",
      trained.test, style);
  if (!trained.left_out.empty())
    text += scores_block("Data sets left out in turn: targets not seen before", trained.left_out, style);
  return text + bullets("Notes", trained.notes, style, columns);
}

} // namespace hotset
