// SPDX-License-Identifier: Apache-2.0
#include "model/train.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "synthetic.h"

namespace hotset {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

class Training : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!lightgbm_available()) GTEST_SKIP() << "this build has no LightGBM";
  }
};

TEST_F(Training, learns_a_working_set_that_faults_tell_of_targets_it_has_not_seen) {
  const std::vector<Dataset> datasets = synthetic::many(synthetic::telling, 6, 200);
  for (const char* preset : {"paper", "full"}) {
    const Trained trained = train(datasets, {.preset = preset, .split = SplitKind::dataset}, {}).value();
    for (const std::vector<Metrics>& scores : {trained.test, trained.left_out}) {
      ASSERT_EQ(scores.size(), predictors().size());
      EXPECT_GT(scores.front().r2.value(), 0.95) << preset;
      for (std::size_t i = 1; i < scores.size(); ++i)
        if (scores[i].n > 0) {
          EXPECT_LT(scores.front().bytes->mean, 0.3 * scores[i].bytes->mean) << predictors()[i].name;
        }
    }
  }
}

TEST_F(Training, does_not_claim_to_know_targets_whose_faults_are_silent) {
  const Trained trained = train(synthetic::many(synthetic::silent, 8, 100), {}, {}).value();
  EXPECT_LT(trained.left_out.front().r2.value(), 0.2);
}

TEST_F(Training, gives_the_same_model_for_the_same_seed) {
  const std::vector<Dataset> datasets = synthetic::many(synthetic::telling, 3, 60);
  auto text = [&](std::uint64_t seed) { return train(datasets, {.seed = seed}, {})->model.booster().text().value(); };
  EXPECT_EQ(text(3), text(3));
  EXPECT_NE(text(3), text(4));
}

TEST_F(Training, calibrates_an_interval_only_from_enough_data_sets) {
  Trained few = train(synthetic::many(synthetic::telling, 5, 60), {}, {}).value();
  EXPECT_FALSE(few.model.info().interval_bytes);
  EXPECT_THAT(few.notes, Contains(HasSubstr("5 data sets can't give 95 % confidence, 19 can")));
  const Trained enough = train(synthetic::many(synthetic::telling, 5, 60), {.confidence = 0.8}, {}).value();
  EXPECT_GT(enough.model.info().interval_bytes.value(), 0);
}

TEST_F(Training, from_one_data_set_says_that_it_knows_nothing_of_others) {
  const Trained trained = train(synthetic::many(synthetic::telling, 1, 100), {}, {}).value();
  EXPECT_TRUE(trained.left_out.empty());
  EXPECT_THAT(trained.notes, Contains(HasSubstr("no word about unseen targets")));
}

TEST_F(Training, tunes_to_no_worse_a_validation_error_and_keeps_the_best_when_stopped) {
  const std::vector<Dataset> datasets = synthetic::many(synthetic::telling, 3, 60);
  const Trained tuned = train(datasets, {.tune = 4}, {}).value();
  EXPECT_EQ(tuned.tuned->tried, 5u);
  EXPECT_LE(tuned.tuned->best_mae_bytes, tuned.tuned->first_mae_bytes);
  const Trained stopped =
      train(datasets, {.tune = 1000}, [](std::string_view, std::size_t done, std::size_t) { return done < 2; }).value();
  EXPECT_EQ(stopped.tuned->tried, 3u);
  EXPECT_THAT(stopped.notes, Contains(HasSubstr("stopped on request after 2 of 1000")));
}

TEST_F(Training, refuses_what_is_too_little) {
  EXPECT_EQ(train(synthetic::many(synthetic::telling, 1, 10), {}, {}).error().code, ErrorCode::bad_data);
  EXPECT_EQ(train(synthetic::many(synthetic::telling, 1, 1), {}, {}).error().code, ErrorCode::bad_data);
  EXPECT_EQ(train(synthetic::many(synthetic::telling, 2, 100), {.split = SplitKind::dataset}, {}).error().code,
            ErrorCode::bad_data);
  EXPECT_EQ(train(synthetic::many(synthetic::telling, 2, 100), {.preset = "x"}, {}).error().code, ErrorCode::usage);
}

TEST_F(Training, removes_outliers_for_the_published_preset_only) {
  std::vector<Dataset> datasets = synthetic::many(synthetic::telling, 3, 100);
  datasets[1].rows[50].faults = 10000000;
  EXPECT_EQ(train(datasets, {.preset = "paper"}, {})->model.info().outliers_removed, 1u);
  EXPECT_EQ(train(datasets, {.preset = "full"}, {})->model.info().outliers_removed, 0u);
}

} // namespace
} // namespace hotset
