// SPDX-License-Identifier: Apache-2.0
// hotset record as a user has it: what is on disk whatever ends it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "run_hotset.h"
#include "scratch.h"

namespace hotset {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string text_of(const std::string& path) {
  Result<std::string> text = Files().read(path, std::size_t{1} << 26);
  return text ? *text : "";
}

std::size_t rows_in(const std::string& path) {
  std::string text = text_of(path);
  auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n'));
  return lines < 3 ? 0 : lines - 3; // two lines of header, one of names
}

class Record : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root to load BPF programs";
  }
  Scratch scratch_;
};

TEST_F(Record, of_a_command_writes_one_row_per_sample_and_a_summary) {
  RunResult run =
      run_hotset({"record", "--out", scratch_ / "a.csv", "--interval", "10ms", "--samples", "50", "--json", "--",
                  HOTSET_BINARY, "workload", "array", "--elements", "2^16", "--fresh", "--mmap-threshold", "128KiB"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  nlohmann::json summary = run.json_lines().at(0);
  EXPECT_EQ(summary["schema"], "hotset.record/1");
  EXPECT_EQ(summary["samples"], 50);
  EXPECT_GT(summary["faults"], 0);
  EXPECT_GT(summary["faults_between"], 0) << "the target goes on while labels are taken";
  EXPECT_EQ(rows_in(scratch_ / "a.csv"), 50U);
  EXPECT_THAT(text_of(scratch_ / "a.csv"), StartsWith("# hotset dataset"));
}

TEST_F(Record, of_a_suite_takes_no_say_in_what_the_suite_says) {
  for (const char* option : {"--interval=1s", "--duration=1s", "--samples=5", "--group=x", "--min-value=2", "1"}) {
    RunResult run = run_hotset({"record", "--suite", "demo", "--out", scratch_ / "suite", option});
    EXPECT_EQ(run.exit_code, 2) << option;
    EXPECT_FALSE(Files().exists(scratch_ / "suite")) << option;
  }
}

TEST_F(Record, notes_the_truth_that_a_workload_publishes) {
  Program workload({HOTSET_BINARY, "workload", "sequential", "--rss", "4MiB", "--hot", "50%"});
  ASSERT_THAT(workload.wait_for_line(), HasSubstr("ready"));
  RunResult run = run_hotset({"record", std::to_string(workload.pid()), "--out", scratch_ / "t.csv", "--samples", "5"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  std::string text = text_of(scratch_ / "t.csv");
  EXPECT_THAT(text, HasSubstr(",2097152\n")) << "half of 4 MiB, touched in each window";
}

TEST_F(Record, leaves_whole_rows_when_it_is_killed) {
  Program workload({HOTSET_BINARY, "workload", "sequential", "--rss", "4MiB"});
  workload.wait_for_line();
  RunningHotset recorder({"record", std::to_string(workload.pid()), "--out", scratch_ / "k.csv", "--interval", "5ms"});
  while (rows_in(scratch_ / "k.csv") < 5) {
  }
  recorder.send(SIGKILL);
  recorder.finish();
  std::string text = text_of(scratch_ / "k.csv");
  EXPECT_EQ(text.back(), '\n');
  RunResult trained = run_hotset({"train", "--preset", "paper", "--out", scratch_ / "m.txt", scratch_ / "k.csv"});
  EXPECT_EQ(trained.err.find("malformed"), std::string::npos) << trained.err;
}

TEST_F(Record, that_is_interrupted_says_what_it_has) {
  Program workload({HOTSET_BINARY, "workload", "sequential", "--rss", "4MiB"});
  workload.wait_for_line();
  RunningHotset recorder({"record", std::to_string(workload.pid()), "--out", scratch_ / "i.csv", "--interval", "5ms"});
  while (rows_in(scratch_ / "i.csv") < 3) {
  }
  recorder.send(SIGINT);
  RunResult run = recorder.finish();
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.out, HasSubstr("interrupted"));
}

TEST_F(Record, of_a_target_that_ends_keeps_its_rows_and_says_so) {
  RunResult run = run_hotset({"record", "--out", scratch_ / "e.csv", "--interval", "10ms", "--", HOTSET_BINARY,
                              "workload", "sequential", "--rss", "4MiB", "--seconds", "0.3"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("the target ended"));
  EXPECT_GT(rows_in(scratch_ / "e.csv"), 0U);
}

TEST_F(Record, of_a_process_that_ends_before_its_time_exits_8_and_keeps_its_rows) {
  Program workload({HOTSET_BINARY, "workload", "sequential", "--rss", "4MiB", "--seconds", "0.5"});
  workload.wait_for_line();
  RunResult run =
      run_hotset({"record", std::to_string(workload.pid()), "--out", scratch_ / "g.csv", "--interval", "10ms"});
  EXPECT_EQ(run.exit_code, 8) << run.err;
  EXPECT_GT(rows_in(scratch_ / "g.csv"), 0U);
}

TEST_F(Record, of_a_command_that_ends_at_once_is_an_error_of_its_own) {
  RunResult run = run_hotset({"record", "--out", scratch_ / "x.csv", "--", "true"});
  EXPECT_EQ(run.exit_code, 8) << run.err;
  EXPECT_FALSE(Files().exists(scratch_ / "x.csv")) << "or a second run would need --force";
}

TEST_F(Record, interrupted_before_its_first_row_leaves_nothing_behind) {
  RunningHotset recorder(
      {"record", "--out", scratch_ / "n.csv", "--interval", "1h", "--", "sh", "-c", "echo on >&2; exec sleep 60"});
  ASSERT_TRUE(recorder.wait_for_errors("on\n"));
  while (!Files().exists(scratch_ / "n.csv")) { // it is made once the command is on its way
  }
  recorder.send(SIGINT);
  RunResult run = recorder.finish();
  if (run.exit_code == 0) return; // the window that was cut short has made a row
  EXPECT_EQ(run.exit_code, 128 + SIGINT) << run.err;
  EXPECT_FALSE(Files().exists(scratch_ / "n.csv"));
}

TEST_F(Record, of_a_command_says_that_its_children_are_left_out) {
  RunResult run =
      run_hotset({"record", "--out", scratch_ / "c.csv", "--interval", "20ms", "--", "sh", "-c", "sleep 0.3; :"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("(sh) are not in "));
  EXPECT_THAT(run.err, HasSubstr("; --comm NAME records one of them\n"));
  run = run_hotset({"record", "--out", scratch_ / "d.csv", "--interval", "20ms", "--", "sleep", "0.3"});
  EXPECT_EQ(run.err, "") << "it had none";
}

TEST_F(Record, into_a_pipe_has_the_rows_before_the_summary) {
  RunResult run =
      run_hotset({"record", "--out", "/dev/stdout", "--samples", "2", "--interval", "10ms", "--", "sleep", "5"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, StartsWith("# hotset dataset"));
  EXPECT_THAT(run.out, HasSubstr("/dev/stdout: 2 samples in"));
}

TEST_F(Record, does_not_overwrite_unless_forced) {
  std::vector<std::string> arguments{"record", "--out", scratch_ / "o.csv", "--samples", "2",          "--interval",
                                     "10ms",   "--",    HOTSET_BINARY,      "workload",  "sequential", "--rss",
                                     "1MiB"};
  ASSERT_EQ(run_hotset(arguments).exit_code, 0);
  RunResult second = run_hotset(arguments);
  EXPECT_EQ(second.exit_code, 7);
  EXPECT_THAT(second.err, HasSubstr("--force"));
  arguments.insert(arguments.begin() + 1, "--force");
  EXPECT_EQ(run_hotset(arguments).exit_code, 0);
}

TEST_F(Record, to_a_full_disk_says_so) {
  RunResult run = run_hotset({"record", "--force", "--out", "/dev/full", "--samples", "2", "--", "sleep", "5"});
  EXPECT_EQ(run.exit_code, 7) << run.err;
}

struct BadCall {
  std::vector<std::string> arguments;
  int exit_code;
};

class BadRecord : public testing::TestWithParam<BadCall> {};

TEST_P(BadRecord, is_refused_in_one_sentence) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to load BPF programs";
  Scratch scratch;
  std::vector<std::string> arguments{"record"};
  for (std::string argument : GetParam().arguments)
    arguments.push_back(argument == "OUT" ? scratch / "out.csv" : argument);
  RunResult run = run_hotset(arguments);
  EXPECT_EQ(run.exit_code, GetParam().exit_code) << run.err;
  EXPECT_THAT(run.err, StartsWith("hotset: "));
  EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.err;
  EXPECT_FALSE(Files().exists(scratch / "out.csv")) << "nothing is left behind";
  EXPECT_FALSE(Files().exists("-")) << "nor here";
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, BadRecord,
    testing::Values(
        BadCall{{"--out", "OUT"}, 2}, BadCall{{"1"}, 2}, BadCall{{"--out", "OUT", "999999999"}, 3},
        BadCall{{"--out", "OUT", "--comm", "no-such-comm"}, 3}, BadCall{{"--out", "OUT", "--", "/no/such/program"}, 3},
        BadCall{{"--out", "OUT", "--", "/etc/passwd"}, 4}, BadCall{{"--out", "OUT", "--interval", "0", "1"}, 2},
        BadCall{{"--out", "OUT", "--duration", "nan", "1"}, 2}, BadCall{{"--out", "OUT", "--hook", "nonsense", "1"}, 2},
        BadCall{{"--out", "OUT", "--suite", "nonsense"}, 2},
        BadCall{{"--out", "OUT", "--suite", "demo", "--", "true"}, 2},
        BadCall{{"--out", "/no/such/dir/suite", "--suite", "demo"}, 7},
        BadCall{{"--out", "/no/such/dir/x.csv", "1"}, 7}, BadCall{{"--out", "-", "1"}, 2},
        BadCall{{"--out", "-", "--suite", "demo"}, 2}, BadCall{{"--out", "OUT", "--interval", "25h", "1"}, 2},
        BadCall{{"--out", "OUT", "0"}, 2}, BadCall{{"--out", "OUT", "-1"}, 2}, BadCall{{"--out", "OUT", "12x"}, 2}));

} // namespace
} // namespace hotset
