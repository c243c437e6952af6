// SPDX-License-Identifier: Apache-2.0
#include "estimate/live.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/train.h"
#include "synthetic.h"

namespace hotset {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::Not;

constexpr const char* kHook = "tp_btf:page_fault_user";

class LiveEstimate : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!lightgbm_available()) GTEST_SKIP() << "this build has no LightGBM";
    count_by(kHook);
  }

  void count_by(const char* hook) {
    std::vector<Dataset> datasets = synthetic::many(synthetic::telling, 3, 100);
    for (Dataset& dataset : datasets)
      dataset.header.hook = kHook;
    Result<Trained> trained = train(datasets, TrainOptions{}, {});
    ASSERT_TRUE(trained) << to_sentence(trained.error());
    estimator_.emplace(std::move(trained->model), Process{.id = {7, 1}, .comm = "x", .requested = 7},
                       std::chrono::milliseconds(100), *find_page_fault_hook(hook));
  }

  Estimate estimate(std::uint64_t faults, std::uint64_t rss_bytes, const FaultLosses& losses = {}) {
    Observation seen;
    seen.row = {.time_s = time_s_ += 0.1, .dt_s = 0.1, .faults = faults, .rss_bytes = rss_bytes, .truth_bytes = {}};
    Result<Estimate> result = estimator_->estimate(seen, losses, Nanoseconds::zero(), Cost{.target_stall_s = 0.0});
    EXPECT_TRUE(result) << to_sentence(result.error());
    return *std::move(result);
  }

  double time_s_ = 0;
  std::optional<LiveEstimator> estimator_;
};

auto HasFlag(const char* code) {
  return Field("flags", &Estimate::flags, Contains(Field(&Flag::code, code)));
}

TEST_F(LiveEstimate, is_never_above_what_is_resident) {
  for (std::uint64_t rss : {std::uint64_t{4096}, std::uint64_t{1} << 20, std::uint64_t{1} << 40}) {
    Estimate result = estimate(4000, rss);
    EXPECT_LE(result.wss->low_bytes, result.wss->bytes);
    EXPECT_LE(result.wss->bytes, result.wss->high_bytes);
    EXPECT_LE(result.wss->high_bytes, rss);
  }
}

TEST_F(LiveEstimate, of_a_window_without_faults_is_marked_as_steady_state) {
  EXPECT_THAT(estimate(0, 1 << 20), HasFlag("steady_state"));
  EXPECT_THAT(estimate(1, 1 << 20), Not(HasFlag("steady_state")));
}

TEST_F(LiveEstimate, tells_of_lost_faults_in_the_window_that_lost_them_only) {
  EXPECT_THAT(estimate(9, 1 << 20), Not(HasFlag("faults_lost")));
  EXPECT_THAT(estimate(9, 1 << 20, {.missed = 2}), HasFlag("faults_lost"));
  EXPECT_THAT(estimate(9, 1 << 20, {.missed = 2}), Not(HasFlag("faults_lost")));
  EXPECT_THAT(estimate(9, 1 << 20, {.untracked = 1, .missed = 2}), HasFlag("faults_lost"));
}

TEST_F(LiveEstimate, counted_by_another_hook_than_the_models_says_so) {
  EXPECT_THAT(estimate(9, 1 << 20), Not(HasFlag("hook_differs")));
  count_by("perf_event:page-faults");
  EXPECT_THAT(estimate(9, 1 << 20), HasFlag("hook_differs"));
}

TEST(CutFlag, is_absent_where_the_model_says_what_can_be) {
  EXPECT_FALSE(cut_flag(4096, 8192));
  EXPECT_FALSE(cut_flag(8192, 8192));
}

TEST(CutFlag, tells_that_a_zero_is_no_measurement) {
  for (double said : {0.0, 0.3, -5000.0}) {
    std::optional<Flag> flag = cut_flag(said, 8192);
    ASSERT_TRUE(flag) << said;
    EXPECT_EQ(flag->code, "prediction_cut");
  }
  EXPECT_NE(cut_flag(-5000, 8192)->text.find("-5000 bytes"), std::string::npos);
}

TEST(CutFlag, tells_that_more_than_is_resident_was_cut) {
  EXPECT_TRUE(cut_flag(8193, 8192));
}

} // namespace
} // namespace hotset
