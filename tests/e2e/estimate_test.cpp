// SPDX-License-Identifier: Apache-2.0
// The main job as a user does it: record, train, evaluate, and estimate a process live.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"
#include "run_hotset.h"
#include "scratch.h"

namespace hotset {
namespace {

using testing::Contains;
using testing::HasSubstr;

// One model for all tests of this file: recording is what takes the time.
class Estimate : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (::geteuid() != 0) return;
    scratch_ = new Scratch;
    std::vector<std::string> train{"train", "--preset", "paper", "--out", model()};
    for (const char* elements : {"2^8", "2^14", "2^17", "2^19"}) {
      std::string file = *scratch_ / (std::string(elements) + ".csv");
      RunResult run = run_hotset({"record", "--out", file, "--interval", "10ms", "--samples", "120", "--group", "fresh",
                                  "--", HOTSET_BINARY, "workload", "array", "--elements", elements, "--fresh",
                                  "--mmap-threshold", "128KiB"});
      ASSERT_EQ(run.exit_code, 0) << run.err;
      train.push_back(file);
    }
    RunResult run = run_hotset(train);
    if (run.lacks_something()) return; // built without LightGBM: each test says so
    ASSERT_EQ(run.exit_code, 0) << run.err;
    trained_ = true;
  }
  static void TearDownTestSuite() {
    delete scratch_;
    scratch_ = nullptr;
  }
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root to load BPF programs";
    if (!trained_) GTEST_SKIP() << "no model: this build has no LightGBM";
  }
  static std::string model() { return *scratch_ / "model.txt"; }

  static inline Scratch* scratch_ = nullptr;
  static inline bool trained_ = false;
};

std::vector<std::string> codes_of(const nlohmann::json& estimate) {
  std::vector<std::string> codes;
  for (const nlohmann::json& flag : estimate["flags"])
    codes.push_back(flag["code"]);
  return codes;
}

TEST_F(Estimate, prints_a_record_of_the_schema_each_interval) {
  RunResult run =
      run_hotset({"estimate", "--model", model(), "--interval", "100ms", "--count", "3", "--json", "--", HOTSET_BINARY,
                  "workload", "array", "--elements", "2^18", "--fresh", "--mmap-threshold", "128KiB"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  std::vector<nlohmann::json> lines = run.json_lines();
  ASSERT_EQ(lines.size(), 3U);
  for (const nlohmann::json& line : lines) {
    EXPECT_EQ(line["schema"], "hotset.estimate/1");
    EXPECT_EQ(line["method"], "model");
    EXPECT_LE(line["wss"]["low_bytes"], line["wss"]["bytes"]);
    EXPECT_LE(line["wss"]["bytes"], line["wss"]["high_bytes"]);
    EXPECT_LE(line["wss"]["high_bytes"], line["rss_bytes"]);
    EXPECT_GT(line["faults"]["count"], 0) << "a fresh array of 1 MiB faults on every pass";
    EXPECT_FALSE(line.contains("verify"));
  }
}

TEST_F(Estimate, shows_the_measured_truth_beside_when_asked_to_verify) {
  RunResult run =
      run_hotset({"estimate", "--model", model(), "--interval", "100ms", "--count", "5", "--verify", "--json", "--",
                  HOTSET_BINARY, "workload", "array", "--elements", "2^18", "--fresh", "--mmap-threshold", "128KiB"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  std::uint64_t most = 0;
  for (const nlohmann::json& line : run.json_lines()) {
    EXPECT_GT(line["verify"]["bytes"], 0);
    most = std::max(most, line["verify"]["truth_bytes"].get<std::uint64_t>());
  }
  EXPECT_EQ(most, 257 * 4096U) << "the workload's own record: 2^18 integers behind the allocator's 16 bytes";
}

TEST_F(Estimate, says_that_faults_cannot_see_a_steady_state) {
  Program workload({HOTSET_BINARY, "workload", "array", "--elements", "2^18", "--reuse"});
  workload.wait_for_line();
  RunResult run = run_hotset(
      {"estimate", std::to_string(workload.pid()), "--model", model(), "--interval", "50ms", "--count", "3", "--json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(codes_of(run.json_lines().back()), Contains("steady_state"));
}

TEST_F(Estimate, ends_cleanly_on_ctrl_c_and_keeps_what_it_printed) {
  RunningHotset run({"estimate", "--model", model(), "--interval", "50ms", "--json", "--", HOTSET_BINARY, "workload",
                     "array", "--elements", "2^14", "--fresh", "--mmap-threshold", "128KiB"});
  ASSERT_TRUE(run.wait_for_output("\n"));
  run.send(SIGINT);
  RunResult result = run.finish();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_FALSE(result.json_lines().empty());
}

std::vector<std::string> of_a_command_that_ends(std::vector<std::string> options) {
  options.insert(options.end(), {"--interval", "50ms", "--json", "--", HOTSET_BINARY, "workload", "array", "--elements",
                                 "2^14", "--fresh", "--mmap-threshold", "128KiB", "--seconds", "0.5"});
  return options;
}

TEST_F(Estimate, of_a_target_that_ends_midway_exits_8_after_what_it_printed) {
  RunResult run = run_hotset(of_a_command_that_ends({"estimate", "--model", model(), "--count", "100000"}));
  EXPECT_EQ(run.exit_code, 8) << run.err;
  EXPECT_FALSE(run.json_lines().empty());
}

TEST_F(Estimate, of_a_command_for_as_long_as_it_runs_ends_with_it) {
  RunResult run = run_hotset(of_a_command_that_ends({"estimate", "--model", model()}));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_FALSE(run.json_lines().empty());
}

TEST_F(Estimate, of_a_command_says_that_its_children_are_left_out) {
  RunResult run =
      run_hotset({"estimate", "--model", model(), "--interval", "50ms", "--json", "--", "sh", "-c", "sleep 0.5; :"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("(sh) are not in its estimates; --comm NAME follows one of them\n"));
}

TEST_F(Estimate, interrupted_before_there_was_one_exits_with_the_signal) {
  RunningHotset run({"estimate", "--model", model(), "--interval", "1h", "--window", "1h", "--", "sleep", "60"});
  ASSERT_TRUE(run.wait_for_output("FAULTS")); // the heading
  run.send(SIGINT);
  EXPECT_EQ(run.finish().exit_code, 128 + SIGINT);
}

TEST_F(Estimate, refuses_a_model_that_is_damaged) {
  std::string damaged = *scratch_ / "damaged.txt";
  std::string text = Files().read(model(), std::size_t{1} << 26).value();
  std::ofstream(damaged) << text.substr(0, text.size() / 2);
  std::ofstream(damaged + ".json") << Files().read(model() + ".json").value();
  RunResult run = run_hotset({"estimate", "--model", damaged, "--count", "1", "--", "sleep", "5"});
  EXPECT_EQ(run.exit_code, 6) << run.err;
}

TEST_F(Estimate, refuses_a_model_that_is_not_there) {
  EXPECT_EQ(run_hotset({"estimate", "--model", "/no/such/model", "--count", "1", "--", "sleep", "5"}).exit_code, 3);
}

TEST_F(Estimate, evaluates_beside_the_baselines) {
  RunResult run = run_hotset({"evaluate", "--model", model(), *scratch_ / "2^17.csv", *scratch_ / "2^19.csv"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("WSS = RSS"));
  EXPECT_THAT(run.out, HasSubstr("last label"));
  EXPECT_THAT(run.out, HasSubstr("training mean"));
}

} // namespace
} // namespace hotset
