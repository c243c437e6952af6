// SPDX-License-Identifier: Apache-2.0
#include "model/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "base/file.h"
#include "model/regressor.h"
#include "synthetic.h"

namespace hotset {
namespace {

using ::testing::HasSubstr;

struct Fixture {
  Recipe recipe = Recipe::of_preset("paper", Parameters{}).value();
  std::vector<const Feature*> chosen = recipe.features();
  std::vector<Dataset> datasets = synthetic::many(synthetic::telling, 3, 100);
  Samples samples = make_samples(datasets, chosen, 0).value();
  std::vector<std::size_t> rows;

  Fixture() : rows(samples.size()) { std::iota(rows.begin(), rows.end(), std::size_t{0}); }

  Model model() const {
    Regressor fitted = Regressor::fit(samples, rows, recipe).value();
    ModelInfo info;
    info.preset = "paper";
    info.features = recipe.names;
    info.schema_hash = feature_hash(chosen);
    info.scaler = fitted.scaler;
    info.label = "reference";
    info.interval_bytes = 8192.5;
    info.datasets = {{.path = "a\n.csv", .recording = "fnv1a64:1", .group = "g", .rows = 7}};
    info.parameters.seed = 99;
    return Model::make(std::move(fitted.booster), info).value();
  }
};

History history_of(const Row& row) {
  History history;
  history.push(row);
  return history;
}

class SavedModel : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!lightgbm_available()) GTEST_SKIP() << "this build has no LightGBM";
    path_ = (std::filesystem::path(::testing::TempDir()) / (std::to_string(::getpid()) + "model.txt")).string();
    ASSERT_TRUE(fixture_.model().save(path_));
  }
  void TearDown() override {
    std::filesystem::remove(path_);
    std::filesystem::remove(sidecar_path(path_));
  }
  std::string refusal() const {
    Result<Model> model = Model::load(path_);
    if (model) return "accepted";
    EXPECT_TRUE(model.error().code == ErrorCode::bad_data || model.error().code == ErrorCode::not_found);
    return to_sentence(model.error());
  }
  static std::string slurp(const std::string& path) { return read_all(open_read(path)->get(), path, 1u << 28).value(); }
  static void spill(const std::string& path, std::string_view text) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
  }
  void edit_sidecar(const std::string& from, const std::string& to) const {
    std::string json = slurp(sidecar_path(path_));
    const std::size_t at = json.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    spill(sidecar_path(path_), json.replace(at, from.size(), to));
  }

  Fixture fixture_;
  std::string path_;
};

TEST_F(SavedModel, predicts_what_it_predicted_before) {
  Model before = fixture_.model();
  Model after = Model::load(path_).value();
  EXPECT_EQ(after.info().datasets.front().path, "a\\x0a.csv");
  EXPECT_EQ(after.info().interval_bytes, 8192.5);
  EXPECT_EQ(after.info().parameters.seed, 99u);
  for (const Row& row : fixture_.datasets[0].rows) {
    const Prediction one = before.predict(history_of(row), std::nullopt).value();
    const Prediction other = after.predict(history_of(row), std::nullopt).value();
    EXPECT_DOUBLE_EQ(one.bytes, other.bytes);
  }
}

TEST_F(SavedModel, never_leaves_what_is_resident) {
  Model model = Model::load(path_).value();
  for (std::uint64_t faults : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{3000}, kLargestValue}) {
    Row row = fixture_.datasets[0].rows[0];
    row.faults = faults;
    for (std::uint64_t rss : {std::uint64_t{0}, std::uint64_t{4096}, std::uint64_t{1} << 40}) {
      const Prediction prediction = model.predict(history_of(row), rss).value();
      EXPECT_LE(0, prediction.low_bytes.value());
      EXPECT_LE(prediction.low_bytes.value(), prediction.bytes);
      EXPECT_LE(prediction.bytes, prediction.high_bytes.value());
      EXPECT_LE(prediction.high_bytes.value(), static_cast<double>(rss));
    }
  }
}

TEST_F(SavedModel, that_is_damaged_anywhere_is_refused_before_lightgbm_reads_it) {
  const std::string good = slurp(path_);
  for (std::size_t at = 0; at < good.size(); at += 1 + good.size() / 40) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    spill(path_, bad);
    EXPECT_THAT(refusal(), HasSubstr("it is damaged"));
    spill(path_, good.substr(0, at));
    EXPECT_THAT(refusal(), HasSubstr("it is damaged"));
  }
}

TEST_F(SavedModel, without_its_sidecar_is_refused) {
  std::filesystem::remove(sidecar_path(path_));
  EXPECT_THAT(refusal(), HasSubstr("a model needs the .json that hotset train writes beside it"));
}

TEST_F(SavedModel, of_a_later_schema_is_refused_by_name) {
  edit_sidecar("hotset.model/1", "hotset.model/9");
  EXPECT_THAT(refusal(), HasSubstr("its schema is hotset.model/9, and this program reads hotset.model/1"));
}

TEST_F(SavedModel, with_a_number_beyond_a_double_is_refused_for_that) {
  edit_sidecar("\"horizon\": 0", "\"horizon\": 1e999");
  EXPECT_THAT(refusal(), HasSubstr("one of its numbers is beyond what a double holds"));
}

TEST_F(SavedModel, says_how_often_rows_were_drawn_anew) {
  EXPECT_THAT(slurp(sidecar_path(path_)), HasSubstr("\"bagging_freq\": 1"));
}

TEST_F(SavedModel, of_other_features_is_refused) {
  edit_sidecar("\"dt_s\"", "\"mood\"");
  EXPECT_THAT(refusal(), HasSubstr("'mood': this program does not have it"));
}

TEST_F(SavedModel, whose_features_are_swapped_is_refused) {
  edit_sidecar("\"dt_s\"", "\"x\"");
  edit_sidecar("\"faults\"", "\"dt_s\"");
  edit_sidecar("\"x\"", "\"faults\"");
  EXPECT_THAT(refusal(), HasSubstr("mean something else"));
}

TEST_F(SavedModel, whose_sidecar_is_damaged_is_refused) {
  const std::string good = slurp(sidecar_path(path_));
  for (std::size_t at = 0; at < good.size() - 2; at += 37) {
    spill(sidecar_path(path_), good.substr(0, at));
    EXPECT_THAT(refusal(), HasSubstr("not a JSON object"));
  }
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"\"horizon\": 0", "\"horizon\": -1"},
                                                        {"\"max\": ", "\"max\": -1e300, \"was\": "},
                                                        {"\"learning_rate\": 0.04", "\"learning_rate\": \"fast\""},
                                                        {"\"features\": [", "\"features\": [3, "},
                                                        {"\"half_width_bytes\": 8192.5", "\"half_width_bytes\": -1"}}) {
    spill(sidecar_path(path_), good);
    edit_sidecar(from, to);
    EXPECT_NE(refusal(), "accepted") << to;
  }
}

TEST(Booster, is_the_same_for_the_same_seed) {
  if (!lightgbm_available()) GTEST_SKIP() << "this build has no LightGBM";
  const Fixture fixture;
  Recipe recipe = fixture.recipe;
  recipe.parameters.rounds = 20;
  auto text = [&] { return Regressor::fit(fixture.samples, fixture.rows, recipe)->booster.text().value(); };
  const std::string first = text();
  EXPECT_EQ(text(), first);
  recipe.parameters.seed = 2;
  EXPECT_NE(text(), first);
}

TEST(Booster, fast_path_agrees_with_the_plain_call) {
  if (!lightgbm_available()) GTEST_SKIP() << "this build has no LightGBM";
  const Fixture fixture;
  const Regressor fitted = Regressor::fit(fixture.samples, fixture.rows, fixture.recipe).value();
  for (double x = 0; x <= 1; x += 0.01) {
    const std::vector<double> row{x, 1 - x};
    EXPECT_EQ(fitted.booster.predict(row).value(), fitted.booster.predict_plain(row).value());
  }
  EXPECT_EQ(fitted.booster.predict(std::vector<double>{1.0}).error().code, ErrorCode::bad_data);
}

TEST(Booster, of_labels_that_never_change_says_them) {
  if (!lightgbm_available()) GTEST_SKIP() << "this build has no LightGBM";
  Fixture fixture;
  for (Sample& sample : fixture.samples.items)
    sample.label_bytes = 4096;
  const Regressor fitted = Regressor::fit(fixture.samples, fixture.rows, fixture.recipe).value();
  const std::vector<Judged> judged = fitted.judge(fixture.samples, fixture.rows).value();
  for (const Judged& one : judged)
    EXPECT_NEAR(one.model, 4096, 1);
}

TEST(Booster, learns_from_few_rows_and_from_features_that_never_change) {
  if (!lightgbm_available()) GTEST_SKIP() << "this build has no LightGBM";
  Fixture fixture;
  for (std::size_t i = 0; i < fixture.samples.size(); ++i)
    for (double& value : fixture.samples.features.row(i))
      value = 1;
  Result<Regressor> constant = Regressor::fit(fixture.samples, fixture.rows, fixture.recipe);
  ASSERT_TRUE(constant) << to_sentence(constant.error());
  const std::vector<Judged> judged = constant->judge(fixture.samples, fixture.rows).value();
  for (const Judged& one : judged)
    EXPECT_TRUE(std::isfinite(one.model));
  Result<Regressor> few = Regressor::fit(fixture.samples, std::span(fixture.rows).first(kFewestRows), fixture.recipe);
  ASSERT_TRUE(few) << to_sentence(few.error());
}

TEST(Booster, is_trained_or_says_what_this_build_lacks) {
  const Fixture fixture;
  Result<Regressor> fitted = Regressor::fit(fixture.samples, fixture.rows, fixture.recipe);
  ASSERT_EQ(fitted.has_value(), lightgbm_available());
  if (fitted) return;
  EXPECT_EQ(fitted.error().code, ErrorCode::unsupported);
  EXPECT_THAT(to_sentence(fitted.error()), HasSubstr("run ./run setup and build again"));
}

} // namespace
} // namespace hotset
