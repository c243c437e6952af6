// SPDX-License-Identifier: Apache-2.0
#include "model/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "model/train.h"
#include "synthetic.h"

namespace hotset {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

std::vector<Dataset> both_kinds() {
  std::vector<Dataset> datasets = synthetic::many(synthetic::telling, 4, 80);
  for (Dataset& dataset : synthetic::many(synthetic::silent, 4, 80))
    datasets.push_back(std::move(dataset));
  return datasets;
}

class EvaluatedModel : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!lightgbm_available()) GTEST_SKIP() << "this build has no LightGBM";
  }
  static Model model_of(std::span<const Dataset> datasets, std::size_t horizon = 0) {
    return train(datasets, {.horizon = horizon, .confidence = 0.8}, {}).value().model;
  }
  static std::optional<Scores> find(const Evaluation& evaluation, Setting setting, std::size_t horizon = 0,
                                    std::optional<std::string> group = std::nullopt) {
    const auto found = std::ranges::find_if(evaluation.scores, [&](const Scores& scores) {
      return scores.setting == setting && scores.horizon == horizon && scores.group == group;
    });
    return found == evaluation.scores.end() ? std::nullopt : std::optional(*found);
  }
};

TEST_F(EvaluatedModel, is_judged_apart_on_what_it_has_seen_and_what_it_has_not) {
  std::vector<Dataset> datasets = synthetic::many(synthetic::telling, 6, 80);
  const Model model = model_of(std::span(datasets).first(4));
  datasets[0].path = "renamed.csv"; // a recording is known by what is in it
  datasets[0].rows.resize(70);      // and by less of it
  const Evaluation evaluation = evaluate(model, datasets, {.by_row = false, .left_out = false}, {}).value();
  for (std::size_t i = 0; i < datasets.size(); ++i)
    EXPECT_EQ(evaluation.data[i].seen, i < 4) << i;
  EXPECT_EQ(find(evaluation, Setting::seen).value().datasets, 4u);
  EXPECT_EQ(find(evaluation, Setting::unseen).value().datasets, 2u);
  EXPECT_TRUE(find(evaluation, Setting::unseen).value().interval_coverage.has_value());
  EXPECT_FALSE(find(evaluation, Setting::left_out));
  EXPECT_EQ(evaluation.pictured, Setting::unseen);
  EXPECT_EQ(evaluation.points.size(), 2 * 79u);
}

TEST_F(EvaluatedModel, is_told_where_page_faults_tell_and_where_they_do_not) {
  const std::vector<Dataset> datasets = both_kinds();
  const Evaluation evaluation = evaluate(model_of(datasets), datasets, {}, {}).value();
  ASSERT_EQ(evaluation.verdicts.size(), 2u);
  EXPECT_EQ(evaluation.verdicts[0].group, "silent");
  EXPECT_EQ(evaluation.verdicts[0].faults_tell, false);
  EXPECT_EQ(evaluation.verdicts[0].beats_last_label, false);
  EXPECT_EQ(evaluation.verdicts[1].group, "telling");
  EXPECT_EQ(evaluation.verdicts[1].faults_tell, true);
  EXPECT_EQ(evaluation.verdicts[1].beats_last_label, true);
  EXPECT_THAT(verdict_text(evaluation.verdicts[0]), HasSubstr("silent: page faults do not tell the working set"));
  EXPECT_THAT(verdict_text(evaluation.verdicts[1]), HasSubstr("telling: page faults tell the working set"));
  EXPECT_TRUE(find(evaluation, Setting::left_out, 0, "silent"));
  EXPECT_EQ(evaluation.pictured, Setting::left_out);
}

TEST_F(EvaluatedModel, gets_no_credit_for_page_faults_where_the_resident_memory_tells) {
  std::vector<Dataset> datasets = synthetic::many(synthetic::silent, 8, 80);
  for (Dataset& dataset : datasets)
    for (Row& row : dataset.rows)
      row.rss_bytes = row.label_bytes + (std::uint64_t{8} << 20);
  const Model model = train(datasets, {.preset = "full"}, {}).value().model;
  const Evaluation evaluation = evaluate(model, datasets, {.by_row = false}, {}).value();
  ASSERT_EQ(evaluation.verdicts.size(), 1u);
  EXPECT_EQ(evaluation.verdicts[0].model_tells, true);
  EXPECT_EQ(evaluation.verdicts[0].faults_tell, false);
  EXPECT_THAT(verdict_text(evaluation.verdicts[0]), HasSubstr("the model tells, but not from page faults,"));
}

TEST_F(EvaluatedModel, is_not_judged_by_too_few_data_sets) {
  const std::vector<Dataset> datasets = synthetic::many(synthetic::telling, 2, 80);
  const Evaluation evaluation = evaluate(model_of(datasets), datasets, {}, {}).value();
  ASSERT_EQ(evaluation.verdicts.size(), 1u);
  EXPECT_FALSE(evaluation.verdicts[0].faults_tell);
  EXPECT_THAT(verdict_text(evaluation.verdicts[0]), HasSubstr("undecided"));
  const Evaluation one = evaluate(model_of(datasets), std::span(datasets).first(1), {}, {}).value();
  EXPECT_THAT(one.notes, Contains(HasSubstr("no word about targets not seen before")));
}

TEST_F(EvaluatedModel, of_the_future_is_judged_at_its_horizon_and_the_asked_one) {
  const std::vector<Dataset> datasets = synthetic::many(synthetic::telling, 4, 80);
  const Evaluation evaluation = evaluate(model_of(datasets, 2), datasets, {.horizon = 0}, {}).value();
  EXPECT_TRUE(find(evaluation, Setting::seen, 2));
  EXPECT_FALSE(find(evaluation, Setting::seen, 0)) << "it was not trained for the present";
  EXPECT_TRUE(find(evaluation, Setting::left_out, 0));
  EXPECT_GT(find(evaluation, Setting::left_out, 0).value().methods.front().r2.value(), 0.9);
  EXPECT_LT(find(evaluation, Setting::left_out, 2).value().methods.front().r2.value(), 0.2)
      << "sizes drawn anew in each window can't be told ahead";
}

TEST_F(EvaluatedModel, that_sees_more_than_page_faults_says_that_it_does) {
  const std::vector<Dataset> datasets = synthetic::many(synthetic::telling, 4, 80);
  const auto notes_of = [&](const char* preset) {
    const Model model = train(datasets, {.preset = preset, .confidence = 0.8}, {}).value().model;
    return evaluate(model, datasets, {.by_row = false, .left_out = false}, {}).value().notes;
  };
  EXPECT_THAT(notes_of("full"), Contains(HasSubstr("resident memory and CPU time beside page faults")));
  EXPECT_THAT(notes_of("paper"), ::testing::IsEmpty());
}

TEST_F(EvaluatedModel, refuses_labels_of_another_method_and_notes_another_hook) {
  std::vector<Dataset> datasets = synthetic::many(synthetic::telling, 4, 80);
  const Model model = model_of(datasets);
  for (Dataset& dataset : datasets)
    dataset.header.hook_semantics = "kernel-mode faults too";
  const Evaluation evaluation = evaluate(model, datasets, {.left_out = false}, {}).value();
  EXPECT_THAT(evaluation.notes, Contains(HasSubstr("counts other faults than tp_btf")));
  for (Dataset& dataset : datasets)
    dataset.header.label = "census";
  EXPECT_EQ(evaluate(model, datasets, {}, {}).error().code, ErrorCode::bad_data);
}

} // namespace
} // namespace hotset
