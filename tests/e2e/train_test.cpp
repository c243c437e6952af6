// SPDX-License-Identifier: Apache-2.0
// hotset train and hotset evaluate as a user meets them: with good data, with bad data, and with nowhere to write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "base/file.h"
#include "e2e/run_hotset.h"
#include "unit/synthetic.h"

namespace hotset {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;
namespace fs = std::filesystem;

std::string text_of(const Dataset& dataset) {
  std::string text = header_text(dataset.header);
  for (const Row& row : dataset.rows)
    text += row_text(row);
  return text;
}

std::string slurp(const fs::path& path) {
  constexpr std::size_t kMost = std::size_t{1} << 28;
  return Files().read(path.string(), kMost).value_or("");
}

// Nothing in a result may be NaN or infinite; JSON has no such numbers, and a writer's mistake would show as null where
// a number belongs, so the ones that are always defined are looked at.
void expect_numbers(const Json& scores) {
  for (const auto& [name, metrics] : scores.items()) {
    if (name == "without_faults" && metrics.is_null()) continue;
    EXPECT_TRUE(metrics.at("n").is_number_unsigned()) << name;
    EXPECT_TRUE(metrics.at("mae_bytes").is_number()) << name;
  }
}

class Learning : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = fs::temp_directory_path() / ("hotset-learning-" + std::to_string(::getpid()));
    fs::create_directories(directory_);
    for (int i = 1; i <= 4; ++i) {
      data_.push_back(write(text_of(synthetic::telling(i, 60)), "telling-" + std::to_string(i)));
      data_.push_back(write(text_of(synthetic::silent(i, 60)), "silent-" + std::to_string(i)));
    }
    model_ = (directory_ / "model").string();
    const RunResult run = train({"--out", model_});
    if (run.lacks_something()) GTEST_SKIP() << run.err;
    ASSERT_EQ(run.exit_code, 0) << run.err;
  }
  void TearDown() override { fs::remove_all(directory_); }

  std::string write(const std::string& text, const std::string& name) const {
    const fs::path path = directory_ / name;
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }
  RunResult train(std::vector<std::string> arguments, const std::vector<std::string>& data) const {
    arguments.insert(arguments.begin(), "train");
    arguments.insert(arguments.end(), data.begin(), data.end());
    return run_hotset(arguments);
  }
  RunResult train(std::vector<std::string> arguments) const { return train(std::move(arguments), data_); }
  RunResult evaluate(std::vector<std::string> arguments, const std::vector<std::string>& data) const {
    arguments.insert(arguments.begin(), {"evaluate", "--model", model_});
    arguments.insert(arguments.end(), data.begin(), data.end());
    return run_hotset(arguments);
  }
  static void expect_refusal(const RunResult& run, int code, const std::string& says) {
    EXPECT_EQ(run.exit_code, code) << run.err;
    EXPECT_EQ(run.out, "");
    EXPECT_THAT(run.err, HasSubstr(says));
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << "one sentence: " << run.err;
  }

  fs::path directory_;
  std::vector<std::string> data_;
  std::string model_;
};

TEST_F(Learning, train_prints_one_object_of_its_schema) {
  const RunResult run = train({"--out", model_, "--json", "--preset", "full", "--split", "dataset", "--tune", "2"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  const Json json = run.json_lines().at(0);
  EXPECT_EQ(json.at("schema"), "hotset.train/1");
  EXPECT_EQ(json.at("model").at("preset"), "full");
  EXPECT_EQ(json.at("model").at("datasets"), 8);
  EXPECT_EQ(json.at("tuned").at("tried"), 3);
  expect_numbers(json.at("test"));
  expect_numbers(json.at("left_out"));
  EXPECT_THAT(slurp(model_), ::testing::StartsWith("tree\n"));
  EXPECT_EQ(Json::parse(slurp(json.at("sidecar").get<std::string>())).at("schema"), "hotset.model/1");
}

TEST_F(Learning, gives_the_same_model_again_for_the_same_seed) {
  const std::string first = slurp(model_);
  ASSERT_EQ(train({"--out", model_}).exit_code, 0);
  EXPECT_EQ(slurp(model_), first);
  ASSERT_EQ(train({"--out", model_, "--seed", "2"}).exit_code, 0);
  EXPECT_NE(slurp(model_), first);
}

TEST_F(Learning, evaluate_stands_the_model_beside_its_baselines_in_every_setting) {
  const RunResult run = evaluate({"--json", "--horizon", "3"}, data_);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Json json = run.json_lines().at(0);
  EXPECT_EQ(json.at("schema"), "hotset.evaluation/1");
  std::set<std::string> settings;
  for (const Json& scores : json.at("scores")) {
    settings.insert(scores.at("setting").get<std::string>() + std::to_string(scores.at("horizon").get<int>()));
    for (const char* name : {"model", "without_faults", "rss", "last_label", "training_mean"})
      EXPECT_TRUE(scores.at("methods").contains(name)) << name;
    expect_numbers(scores.at("methods"));
  }
  EXPECT_EQ(settings, (std::set<std::string>{"seen0", "row0", "dataset0", "row3", "dataset3"}));
  for (const Json& verdict : json.at("verdicts"))
    EXPECT_EQ(verdict.at("faults_tell"), verdict.at("group") == "telling" && verdict.at("horizon") == 0) << verdict;
  for (const Json& data : json.at("data"))
    EXPECT_EQ(data.at("seen"), true);
}

TEST_F(Learning, evaluate_draws_a_picture) {
  const std::string svg = (directory_ / "picture.svg").string(), html = (directory_ / "picture.html").string();
  ASSERT_EQ(evaluate({"--split", "none", "--plot", svg}, data_).exit_code, 0);
  EXPECT_THAT(slurp(svg), HasSubstr("</svg>"));
  ASSERT_EQ(evaluate({"--split", "none", "--plot", html}, data_).exit_code, 0);
  EXPECT_THAT(slurp(html), HasSubstr("silent-1"));
  expect_refusal(evaluate({"--plot", "picture.gif"}, data_), 2, "neither .svg nor .html");
  expect_refusal(evaluate({"--split", "none", "--plot", (directory_ / "no" / "x.svg").string()}, data_), 7, "x.svg");
}

TEST_F(Learning, refuses_data_sets_that_are_none) {
  const std::string good = slurp(data_[0]);
  for (const auto& [text, says] : std::vector<std::pair<std::string, std::string>>{
           {"", "it is empty"},
           {"time,faults\n1,2\n", "its first line is not"},
           {std::string(good).replace(good.find("dataset/1"), 9, "dataset/2"), "its schema is hotset.dataset/2"},
           {good + "9e9,nan,0,0,0,0,0,0,\n", "line 64: dt_s: 'nan'"},
           {good + "9000,0.1,-5,0,0,0,0,0,\n", "line 64: faults: '-5'"},
           {good + "9000,0.1,5,0,0,99999999999999999999,0,0,\n", "line 64: rss_bytes"},
           {good + "9000,0.1\n", "line 64: it has fewer"}}) {
    const std::string bad = write(text, "bad");
    expect_refusal(train({"--out", model_}, {data_[1], bad}), 6, says);
    expect_refusal(evaluate({}, {data_[1], bad}), 6, says);
  }
  expect_refusal(train({"--out", model_}, {(directory_ / "none").string()}), 3, "No such file");
  expect_refusal(train({"--out", model_}, {directory_.string()}), 2, "give the name of a file");
}

TEST_F(Learning, takes_what_a_killed_recorder_left_and_says_so) {
  const std::string whole = slurp(data_[0]);
  write(whole.substr(0, whole.size() - 3), "telling-1");
  const RunResult run = evaluate({"--split", "none"}, data_);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("its last line was cut off"));
}

TEST_F(Learning, refuses_too_few_rows_and_what_does_not_belong_together) {
  expect_refusal(train({"--out", model_}, {write(text_of(synthetic::telling(9, 1)), "tiny")}), 6,
                 "none of them has two rows");
  expect_refusal(train({"--out", model_}, {write(text_of(synthetic::telling(9, 20)), "short")}), 6, "are too few");
  expect_refusal(train({"--out", model_, "--split", "dataset"}, {data_[0], data_[1]}), 6, "give at least 3");
  expect_refusal(train({"--out", model_}, {data_[0], data_[1], data_[0]}), 2, "are one recording");
  Dataset other = synthetic::telling(20, 60);
  other.header.hook_semantics = "kernel-mode faults too";
  const std::string mixed = write(text_of(other), "mixed");
  expect_refusal(train({"--out", model_}, {data_[0], mixed}), 6, "--mixed-hooks");
  EXPECT_EQ(train({"--out", model_, "--mixed-hooks"}, {data_[0], mixed}).exit_code, 0);
  other.header.label = "census";
  const std::string labels = write(text_of(other), "labels");
  expect_refusal(train({"--out", model_, "--mixed-hooks"}, {data_[0], labels}), 6, "one method");
  expect_refusal(evaluate({"--mixed-hooks"}, {labels}), 6, "the same method");
}

TEST_F(Learning, refuses_a_model_that_is_none) {
  expect_refusal(run_hotset({"evaluate", "--model", (directory_ / "none").string(), data_[0]}), 3, "hotset train");
  const std::string text = slurp(model_), sidecar = slurp(model_ + ".json");
  write(text.substr(0, text.size() / 2), "model");
  expect_refusal(evaluate({}, data_), 6, "it is damaged");
  write(text, "model");
  write(std::string(sidecar).replace(sidecar.find("\"faults\""), 8, "\"mood\""), "model.json");
  expect_refusal(evaluate({}, data_), 6, "'mood'");
  write(std::string(sidecar).replace(sidecar.find("hotset.model/1"), 14, "hotset.model/2"), "model.json");
  expect_refusal(evaluate({}, data_), 6, "hotset.model/2");
  fs::remove(model_ + ".json");
  expect_refusal(evaluate({}, data_), 3, "a model needs the .json");
}

TEST_F(Learning, keeps_other_files_from_being_overwritten) {
  expect_refusal(train({"--out", data_[0]}), 2, "it is one of the data sets");
  expect_refusal(train({"--out", data_[0]}, {data_[1], data_[2]}), 7, "is no model");
  expect_refusal(train({"--out", directory_.string()}), 7, "it is a directory");
  EXPECT_EQ(slurp(data_[0]), text_of(synthetic::telling(1, 60)));
}

TEST_F(Learning, says_that_a_full_disk_is_full_and_keeps_the_model_that_was_there) {
  expect_refusal(train({"--out", "/dev/full"}), 7, "No space left on device");
  struct stat status{};
  ASSERT_EQ(::stat("/dev/full", &status), 0);
  EXPECT_TRUE(S_ISCHR(status.st_mode)) << "the device was replaced by a file";
  RunOptions to_full_disk;
  to_full_disk.output_path = "/dev/full";
  EXPECT_EQ(run_hotset({"evaluate", "--model", model_, "--split", "none", data_[0]}, to_full_disk).exit_code, 7);

  const fs::path small = directory_ / "small";
  fs::create_directory(small);
  if (::mount("tmpfs", small.c_str(), "tmpfs", 0, "size=8k") != 0) {
    GTEST_SKIP() << "a small file system can't be mounted here";
  }
  const RunResult run = train({"--out", (small / "model").string()});
  EXPECT_EQ(run.exit_code, 7) << run.err;
  EXPECT_THAT(run.err, HasSubstr("make room"));
  EXPECT_TRUE(fs::is_empty(small)) << "half a model was left";
  ::umount(small.c_str());
}

TEST_F(Learning, refuses_numbers_that_make_no_sense) {
  for (const auto& [option, value] : std::vector<std::pair<std::string, std::string>>{{"--horizon", "-1"},
                                                                                      {"--horizon", "1.5"},
                                                                                      {"--horizon", "99999999999"},
                                                                                      {"--seed", "nan"},
                                                                                      {"--confidence", "1"},
                                                                                      {"--confidence", "nan"},
                                                                                      {"--tune", "-3"},
                                                                                      {"--preset", "best"},
                                                                                      {"--split", "time"}}) {
    const RunResult run = train({"--out", model_, option, value});
    EXPECT_EQ(run.exit_code, 2) << option << " " << value << ": " << run.err;
  }
  expect_refusal(train({"--out", model_, "--horizon", "60"}), 6, "look less far ahead");
}

TEST_F(Learning, ends_a_long_search_on_request_with_the_best_so_far) {
  std::vector<std::string> arguments{"train", "--out", model_, "--tune", "100000", "--json"};
  arguments.insert(arguments.end(), data_.begin(), data_.end());
  fs::remove(model_);
  RunningHotset running(arguments);
  running.send(SIGINT);
  const RunResult run = running.finish();
  // The signal may come before the handler stands; then it ends the program, and there is no model.
  if (run.signal == SIGINT) return;
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.json_lines().at(0).at("notes").dump(), HasSubstr("stopped on request"));
  EXPECT_TRUE(fs::exists(model_));
}

} // namespace
} // namespace hotset
