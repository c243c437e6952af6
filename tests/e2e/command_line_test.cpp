// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>

#include "e2e/run_hotset.h"
#include "e2e/scratch.h"

namespace hotset {
namespace {

TEST(CommandLine, without_a_command_is_a_usage_error) {
  RunResult run = run_hotset({});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.out, "");
}

TEST(CommandLine, with_an_unknown_command_is_a_usage_error) {
  EXPECT_EQ(run_hotset({"conquer"}).exit_code, 2);
}

TEST(CommandLine, tells_its_version_and_its_help) {
  EXPECT_THAT(run_hotset({"--version"}).out, ::testing::StartsWith("hotset "));
  RunResult help = run_hotset({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.out, ::testing::HasSubstr("Usage"));
}

TEST(CommandLine, works_with_its_standard_input_closed) {
  EXPECT_EQ(run_hotset({"--version"}, {.close_input = true}).exit_code, 0);
}

TEST(CommandLine, a_closed_standard_output_is_named_as_that) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--version"}, {"workload", "--list"}, {"doctor", "--json"}}) {
    RunResult run = run_hotset(arguments, {.close_output = true});
    EXPECT_EQ(run.exit_code, 7) << arguments.at(0);
    EXPECT_EQ(run.err, "hotset: cannot write to the standard output: Bad file descriptor; open it for writing\n");
  }
}

// A shell that lowers a limit (`ulimit LIMIT`) and becomes what follows it.
RunOptions with_limit(const std::string& limit) {
  return {.wrapper = {"sh", "-c", "ulimit " + limit + "; exec \"$@\"", "sh"}};
}

TEST(CommandLine, too_low_a_limit_of_open_files_is_named_as_that) {
  for (const char* limit : {"-n 5", "-n 14"}) {
    RunResult run = run_hotset({"measure", std::to_string(::getpid()), "0.1"}, with_limit(limit));
    EXPECT_EQ(run.exit_code, 1) << limit;
    EXPECT_THAT(run.err, ::testing::EndsWith("files may be open, and 64 have to be; raise the limit (ulimit -n 64)\n"));
  }
  RunResult run = run_hotset({"workload", "--list"}, with_limit("-S -n 5")); // the soft limit alone
  EXPECT_EQ(run.exit_code, 0) << run.err;
}

TEST(CommandLine, too_low_a_limit_of_file_sizes_is_an_output_error) {
  Scratch scratch;
  RunOptions options = with_limit("-f 0");
  options.output_path = scratch / "list";
  RunResult run = run_hotset({"workload", "--list"}, options);
  EXPECT_EQ(run.exit_code, 7) << run.signal;
  EXPECT_THAT(run.err, ::testing::HasSubstr("File too large"));
}

TEST(CommandLine, a_proc_of_another_pid_namespace_is_not_believed) {
  RunOptions inside{.wrapper = {"unshare", "--pid", "--fork"}};
  if (::geteuid() != 0 || !is_installed("unshare") || run_hotset({"--version"}, inside).exit_code != 0)
    GTEST_SKIP() << "needs root and unshare";
  const std::string pid = std::to_string(::getpid());
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"measure", pid, "0.1"},
                                                    {"measure", "--tree", pid, "0.1"},
                                                    {"measure", "--comm", "sh"},
                                                    {"measure", "--cgroup", "/", "0.1"},
                                                    {"window", "faults", "--pid", pid, "--count", "1"},
                                                    {"record", pid, "--out", "/dev/null", "--samples", "1"}}) {
    RunResult run = run_hotset(arguments, inside);
    EXPECT_EQ(run.exit_code, 5) << ::testing::PrintToString(arguments);
    EXPECT_THAT(run.err, ::testing::HasSubstr("/proc is not that of this PID namespace; mount it"));
    EXPECT_EQ(run.out, "");
  }
}

TEST(CommandLine, an_interrupt_ends_the_wait_for_input) {
  RunningHotset run({"policy", "check", "-"}, {.input = "mode = ", .keep_input_open = true});
  run.wait_for_input_to_be_read();
  run.send(SIGINT);
  RunResult result = run.finish();
  EXPECT_EQ(result.exit_code, 128 + SIGINT);
  EXPECT_EQ(result.out + result.err, "");
}

TEST(CommandLine, takes_no_negative_number_for_a_count) {
  EXPECT_EQ(run_hotset({"record", "1", "--out", "/dev/null", "--samples", "-1"}).exit_code, 2);
  EXPECT_EQ(run_hotset({"record", "1", "--out", "/dev/null", "--min-value", "99999999999999999999999"}).exit_code, 2);
  EXPECT_EQ(run_hotset({"estimate", "1", "--model", "none", "--count=-1"}).exit_code, 2);
}

TEST(CommandLine, a_count_of_none_is_refused_in_the_same_words_everywhere) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"measure", "1", "--count", "0"},
                                                    {"measure", "1", "-P", "--steps", "0"},
                                                    {"record", "1", "--out", "/dev/null", "--samples", "0"},
                                                    {"estimate", "1", "--model", "none", "--count", "0"},
                                                    {"window", "faults", "--count", "0"},
                                                    {"policy", "events", "--count", "0"}}) {
    RunResult run = run_hotset(arguments);
    EXPECT_EQ(run.exit_code, 2) << arguments.at(0);
    EXPECT_THAT(run.err, ::testing::HasSubstr("'0' is not a whole number of at least 1; hotset " + arguments.at(0)));
  }
}

TEST(CommandLine, what_is_wrong_with_it_is_one_sentence_with_the_remedy) {
  struct Case {
    std::vector<std::string> arguments;
    std::string cause, help;
  };
  for (const Case& bad : std::vector<Case>{
           {{}, "a subcommand is required", "hotset --help"},
           {{"conquer"}, "there is no command 'conquer'", "hotset --help"},
           {{"estimate", "1"}, "--model is required", "hotset estimate --help"},
           {{"measure", "1", "--bogus"}, "the following argument was not expected: --bogus", "hotset measure --help"},
           {{"measure", "1", "--method", "foo"}, "foo not in", "hotset measure --help"},
           {{"measure", "--comm", ""}, "empty", "hotset measure --help"},
           {{"measure", "--cgroup"}, "--cgroup: 1 required", "hotset measure --help"},
           {{"measure", "1", "-C", "-P"}, "excludes", "hotset measure --help"},
           {{"measure", "1", "--bogus\n"}, "--bogus\\x0a", "hotset measure --help"},
           {{"window", "faults", "--processes", "0"}, "--processes", "hotset window --help"},
           {{"policy", "rnu", "x"}, "there is no command 'rnu'", "hotset policy --help"},
           {{"policy"}, "a subcommand is required", "hotset policy --help"},
           {{"policy", "test", "/dev/null"}, "--path is required", "hotset policy test --help"}}) {
    RunResult run = run_hotset(bad.arguments);
    EXPECT_EQ(run.exit_code, 2) << run.err;
    EXPECT_THAT(run.err, ::testing::StartsWith("hotset: cannot read the command line: "));
    EXPECT_THAT(run.err, ::testing::HasSubstr(bad.cause));
    EXPECT_THAT(run.err, ::testing::EndsWith("; " + bad.help + " tells more\n"));
    EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.err;
    EXPECT_EQ(run.out, "");
  }
}

TEST(CommandLine, takes_no_target_with_a_suite_that_brings_its_own) {
  EXPECT_EQ(run_hotset({"record", "1", "--suite", "demo", "--out", "/dev/null/suite"}).exit_code, 2);
}

// A script's variable that was never set must not choose another target.
TEST(CommandLine, an_empty_text_is_not_an_option_that_was_left_out) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"measure", "--tree", "", "1"},
                                                    {"measure", "--tree", "", "--", "true"},
                                                    {"measure", "--cgroup", "", "1"},
                                                    {"measure", "--comm", "", "1"},
                                                    {"window", "faults", "--comm", "", "--count", "1"},
                                                    {"window", "faults", "--pin", "", "--count", "1"},
                                                    {"policy", "test", "/dev/null", "--path", ""}}) {
    RunResult run = run_hotset(arguments);
    EXPECT_EQ(run.exit_code, 2) << arguments.at(0) << " " << arguments.at(1);
    EXPECT_TRUE(run.err.contains("empty")) << run.err;
  }
}

} // namespace
} // namespace hotset
