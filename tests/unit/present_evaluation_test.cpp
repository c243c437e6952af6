// SPDX-License-Identifier: Apache-2.0
// Evaluations made up by hand, so that what is shown does not hang on the version of LightGBM.
#include "present/evaluation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "golden.h"
#include "present/svg_plot.h"

namespace hotset {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<Metrics> scores_around(double model_error) {
  std::vector<Metrics> scores;
  scores.reserve(predictors().size());
  for (double error : {model_error, 2 * model_error, 30e6, 9e6, 1e6}) {
    const std::vector<Outcome> outcomes{
        {10e6 + error, 10e6, 60e6}, {20e6 + error / 2, 20e6, 60e6}, {error / 4, 0, 60e6}, {40e6, 40e6, 60e6}};
    scores.push_back(measure_errors(outcomes));
  }
  return scores;
}

Evaluation sample() {
  Evaluation evaluation;
  evaluation.model.preset = "paper";
  evaluation.model.features = {"dt_s", "faults"};
  evaluation.model.datasets.resize(21);
  evaluation.model.train_rows = 17640;
  evaluation.model.interval_bytes = 2.5e6;
  evaluation.model.lightgbm_version = "4.7.0";
  evaluation.data = {{.path = "fresh-<1>.csv", .group = "array-fresh", .rows = 3, .seen = true},
                     {.path = "reuse\n1.csv", .group = "array-reuse", .rows = 3, .truncated = true}};
  evaluation.scores = {
      {.setting = Setting::seen, .datasets = 1, .methods = scores_around(1e5), .interval_coverage = 0.9876},
      {.setting = Setting::unseen, .datasets = 1, .methods = scores_around(5e6), .interval_coverage = 0.5},
      {.setting = Setting::by_row, .datasets = 2, .methods = scores_around(2e5), .interval_coverage = {}},
      {.setting = Setting::left_out, .datasets = 2, .methods = scores_around(3e6), .interval_coverage = {}},
      {.setting = Setting::left_out,
       .group = "array-fresh",
       .datasets = 1,
       .methods = scores_around(1e6),
       .interval_coverage = {}},
      {.setting = Setting::left_out,
       .horizon = 5,
       .datasets = 2,
       .methods = {scores_around(0)[0], Metrics{}, {}, {}, {}},
       .interval_coverage = {}}};
  evaluation.verdicts = {{.group = "array-fresh",
                          .datasets = 12,
                          .won = 11,
                          .model_mae_bytes = 1e6,
                          .unmeasured_mae_bytes = 9e6,
                          .last_label_mae_bytes = 2e5,
                          .without_faults_mae_bytes = 3e6,
                          .model_tells = true,
                          .faults_tell = true,
                          .beats_last_label = false},
                         {.group = "array-reuse", .datasets = 2, .won = 1}};
  evaluation.labels_against_truth = scores_around(1e5)[0];
  evaluation.notes = {"reuse 1.csv: its last line was cut off and left out"};
  evaluation.pictured = Setting::left_out;
  for (int i = 0; i < 5; ++i)
    evaluation.points.push_back({.dataset = static_cast<std::size_t>(i % 2),
                                 .time_s = 0.1 * i,
                                 .label = 1e6 * (i + 1),
                                 .model = 1.1e6 * (i + 1),
                                 .rss = 8e6,
                                 .truth = i % 2 == 0 ? std::optional(0.9e6 * (i + 1)) : std::nullopt});
  return evaluation;
}

TEST(EvaluationText, is_what_it_was) {
  expect_golden("evaluation.txt", evaluation_text(sample(), Style(false), 100));
}

TEST(EvaluationJson, is_what_it_was) {
  expect_golden("evaluation.json", nlohmann::ordered_json::parse(evaluation_json(sample())).dump(2) + "\n");
}

TEST(EvaluationPicture, is_what_it_was) {
  expect_golden("evaluation.svg", evaluation_svg(sample()));
}

TEST(EvaluationPicture, escapes_names_and_holds_nothing_from_elsewhere) {
  for (const std::string& picture : {evaluation_svg(sample()), evaluation_html(sample())}) {
    EXPECT_THAT(picture, HasSubstr("fresh-&lt;1&gt;.csv"));
    EXPECT_THAT(picture, Not(HasSubstr("fresh-<1>")));
    EXPECT_THAT(picture, Not(HasSubstr("href")));
    EXPECT_THAT(picture, Not(HasSubstr("<script")));
  }
}

TEST(EvaluationPicture, of_nothing_is_still_a_picture) {
  EXPECT_THAT(evaluation_svg(Evaluation{}), HasSubstr("</svg>"));
}

TEST(Ticks, are_round_numbers_within_the_range) {
  EXPECT_EQ(round_ticks(0, 10, 5), (std::vector<double>{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(round_ticks(0, 0.9, 3), (std::vector<double>{0, 0.5}));
  EXPECT_EQ(round_ticks(5, 5, 4), (std::vector<double>{5}));
  for (double high : {1e-9, 0.3, 7.0, 1234.0, 1e15}) {
    const std::vector<double> ticks = round_ticks(0, high, 6);
    EXPECT_GE(ticks.size(), 2u) << high;
    EXPECT_LE(ticks.size(), 8u) << high;
  }
}

TEST(Plot, draws_any_values) {
  const Chart chart{.title = "a & b",
                    .x_label = "\xff",
                    .y_label = "\"",
                    .x_scale = AxisScale::logarithmic,
                    .y_scale = AxisScale::logarithmic,
                    .series = {{.name = "s",
                                .colour = kPlotBlack,
                                .mark = Mark::line,
                                .points = {{0, 0}, {1e-300, 1e300}, {NAN, 1}, {1, INFINITY}, {-5, 3}, {1e12, 7}}}}};
  const std::string svg = plot_svg("t", std::span(&chart, 1), 1);
  EXPECT_THAT(svg, HasSubstr("a &amp; b"));
  EXPECT_THAT(svg, HasSubstr("\\xff"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
}

} // namespace
} // namespace hotset
