// SPDX-License-Identifier: Apache-2.0
// hotset workload, as a script uses it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <set>

#include "e2e/run_hotset.h"
#include "workload/process.h"
#include "workload/program.h"
#include "workload/truth.h"

namespace hotset {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

std::set<std::string> names_in(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.insert(entry.path().filename());
  return names;
}

TEST(WorkloadCommand, prints_one_line_when_ready_and_one_at_its_end_and_nothing_else) {
  RunResult run = run_hotset({"workload", "uniform", "--rss", "4MiB", "--hot", "1%", "--seconds", "100ms"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err, "");
  EXPECT_THAT(run.out, MatchesRegex("ready pid=[0-9]+ pages=1024 hot_pages=10 address=0x[0-9a-f]+\n"
                                    "done touches=[0-9]+ passes=[0-9]+ seconds=0\\.[0-9]+ rate=[0-9]+\n"));
}

// hotset selftest starts its targets so.
TEST(WorkloadProgram, has_the_pages_that_the_specification_says) {
  for (const Pattern& pattern : patterns()) {
    WorkloadSpec spec = default_spec(pattern);
    spec.rss_bytes = 3 << 20;
    spec.hot = 0.07;
    spec.seed = 7;
    spec.scattered = spec.shared = spec.fresh = true;
    spec.write = !spec.write;
    spec.stride = 3;
    spec.children = 3;
    spec.mmap_threshold = 1 << 17;
    spec.period = std::chrono::milliseconds(300);
    spec.skew = 1.5;
    Result<WorkloadProcess> expected = WorkloadProcess::start(spec);
    ASSERT_TRUE(expected) << pattern.name << to_sentence(expected.error());
    Result<WorkloadProgram> program = WorkloadProgram::start(HOTSET_BINARY, spec);
    ASSERT_TRUE(program) << pattern.name << to_sentence(program.error());
    EXPECT_THAT(program->ready(), StartsWith(fmt::format("pid={} pages={} hot_pages={} ", program->pid(),
                                                         expected->ready().pages, expected->ready().hot_pages)));
  }
}

TEST(WorkloadProgram, that_does_not_start_is_an_error) {
  const WorkloadSpec spec = default_spec(patterns().front());
  Result<WorkloadProgram> program = WorkloadProgram::start("/nonexistent/hotset", spec);
  ASSERT_FALSE(program);
  EXPECT_THAT(program.error().cause, HasSubstr("could not be started"));
  Result<WorkloadProgram> other = WorkloadProgram::start("/bin/false", spec);
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().cause, HasSubstr("exit code 1"));
}

TEST(WorkloadProgram, ends_with_who_started_it_however_that_ends) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    Result<WorkloadProgram> program = WorkloadProgram::start(HOTSET_BINARY, default_spec(**find_pattern("uniform")));
    const pid_t pid = program ? program->pid() : 0;
    if (::write(ends[1], &pid, sizeof(pid)) == sizeof(pid) && pid > 0) ::pause();
    ::_exit(1);
  }
  pid_t pid = 0;
  ASSERT_EQ(::read(ends[0], &pid, sizeof(pid)), static_cast<ssize_t>(sizeof(pid)));
  ASSERT_GT(pid, 0);
  const Fd workload(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  ASSERT_TRUE(workload);
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  pollfd ended{.fd = workload.get(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&ended, 1, 30'000), 1);
  for (int end : ends)
    ::close(end);
}

TEST(WorkloadCommand, prints_the_same_as_json) {
  RunResult run = run_hotset({"workload", "fork", "--rss", "4MiB", "--seconds", "100ms", "--json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  std::vector<json> lines = run.json_lines();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0]["schema"], "hotset.workload/1");
  EXPECT_EQ(lines[0]["event"], "ready");
  EXPECT_EQ(lines[0]["pages"], 1024);
  EXPECT_EQ(lines[0]["children"].size(), 2U);
  EXPECT_EQ(lines[1]["event"], "done");
  EXPECT_GT(lines[1]["touches"], 0);
}

TEST(WorkloadCommand, holds_its_rate) {
  RunResult run = run_hotset({"workload", "uniform", "--rss", "4MiB", "--rate", "20000", "--seconds", "1s", "--json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  double rate = run.json_lines().at(1)["rate"];
  EXPECT_GT(rate / 20000, 0.85);
  EXPECT_LT(rate / 20000, 1.05);
}

TEST(WorkloadCommand, publishes_what_it_touches_to_another_process) {
  Program workload({HOTSET_BINARY, "workload", "sequential", "--rss", "8MiB", "--hot", "10%", "--scattered", "--json"});
  json ready = json::parse(workload.wait_for_line());
  TruthReader truth = TruthReader::open(Files(), ProcessId{ready["pid"], 0}).value();
  EXPECT_EQ(truth.address(), ready["address"]);
  truth.next_window();
  for (std::uint32_t begin = truth.passes(); truth.passes() < begin + 3;) {
  }
  EXPECT_EQ(truth.touched_pages(truth.next_window()), ready["hot_pages"]);
}

TEST(WorkloadCommand, ends_the_normal_way_on_a_signal_in_the_middle_of_a_pass) {
  for (int signal : {SIGTERM, SIGINT}) {
    // One pass takes hours.
    RunningHotset workload({"workload", "sequential", "--rss", "64MiB", "--rate", "1"});
    ASSERT_TRUE(workload.wait_for_output("ready"));
    workload.send(signal);
    RunResult run = workload.finish();
    EXPECT_FALSE(run.timed_out);
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_THAT(run.out, HasSubstr("passes=0"));
  }
}

TEST(WorkloadCommand, ends_on_a_signal_before_it_is_ready) {
  RunningHotset workload({"workload", "uniform", "--rss", "2GiB"});
  workload.send(SIGTERM); // arrives before the handler or while the memory is being filled
  RunResult run = workload.finish();
  EXPECT_FALSE(run.timed_out);
  EXPECT_TRUE(run.exit_code == 0 || run.signal == SIGTERM);
}

TEST(WorkloadCommand, leaves_nothing_behind_when_it_is_killed) {
  std::string folder = (std::filesystem::temp_directory_path() / "hotset-workload-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  std::set<std::string> shm = names_in("/dev/shm");
  for (std::string_view pattern : {"file", "fork", "uniform"}) {
    std::vector<std::string> arguments{"workload", std::string(pattern), "--rss", "4MiB"};
    if (pattern == "file") arguments.insert(arguments.end(), {"--directory", folder});
    RunningHotset workload(arguments);
    ASSERT_TRUE(workload.wait_for_output("ready"));
    EXPECT_EQ(names_in(folder), std::set<std::string>{}) << "the file has a name";
    workload.send(SIGKILL);
    EXPECT_EQ(workload.finish().signal, SIGKILL);
  }
  EXPECT_EQ(names_in("/dev/shm"), shm);
  EXPECT_EQ(names_in(folder), std::set<std::string>{});
  std::filesystem::remove(folder);
}

TEST(WorkloadCommand, lists_its_patterns) {
  RunResult list = run_hotset({"workload", "--list"});
  EXPECT_EQ(list.exit_code, 0);
  for (std::string_view name : {"array", "zipf", "phase", "fork"})
    EXPECT_THAT(list.out, HasSubstr(name));
  EXPECT_EQ(run_hotset({"workload", "--list", "--json"}).json_lines().at(0)["patterns"].size(), 11U);
}

TEST(WorkloadCommand, says_when_its_line_cannot_be_written) {
  RunResult run =
      run_hotset({"workload", "uniform", "--rss", "1MiB", "--seconds", "10s"}, {.output_path = "/dev/full"});
  EXPECT_EQ(run.exit_code, 7);
  EXPECT_THAT(run.err, HasSubstr("standard output"));
}

struct Refusal {
  std::vector<std::string> arguments;
  int exit_code;
  std::string_view says;
};

TEST(WorkloadCommand, refuses_what_makes_no_sense_in_one_sentence_with_the_remedy) {
  const std::vector<Refusal> refusals{
      {{}, 2, "--list"},
      {{"nope"}, 2, "choose one of array, sequential"},
      {{"uniform", "--hot", "0"}, 2, "above 0 and at most 100"},
      {{"uniform", "--hot", "101%"}, 2, "above 0 and at most 100"},
      {{"uniform", "--hot", "nan"}, 2, "--hot 'nan'"},
      {{"uniform", "--rate", "-1"}, 2, "--rate '-1'"},
      {{"uniform", "--rate", "inf"}, 2, "--rate 'inf'"},
      {{"uniform", "--rss", "0"}, 2, "above 0"},
      {{"uniform", "--rss", "-4K"}, 2, "not a number of bytes"},
      {{"uniform", "--rss", "200T"}, 2, "choose a smaller one"},
      {{"uniform", "--rss", "250G"}, 2, "choose a smaller one"},
      {{"uniform", "--seed", "1.5"}, 2, "--seed '1.5'"},
      {{"uniform", "--seconds", "-1"}, 2, "duration"},
      {{"uniform", "--elements", "2^10"}, 2, "uniform takes no --elements"},
      {{"array", "--huge"}, 2, "array takes no --huge"},
      {{"array", "--elements", "2^31"}, 2, "from 1 to 1073741824"},
      {{"array", "--elements", "0"}, 2, "from 1 to 1073741824"},
      {{"zipf", "--skew", "0"}, 2, "--skew '0'"},
      {{"strided", "--stride", "0"}, 2, "--stride '0'"},
      {{"churn", "--period", "1us"}, 2, "period"},
      {{"fork", "--children", "5000"}, 2, "from 1 to 1024"},
      {{"uniform", "--read", "--write"}, 2, "excludes"},
      {{"file", "--directory", "/nonexistent"}, 7, "choose another --directory"},
  };
  for (const Refusal& refusal : refusals) {
    std::vector<std::string> arguments{"workload"};
    arguments.insert(arguments.end(), refusal.arguments.begin(), refusal.arguments.end());
    RunResult run = run_hotset(arguments, {.timeout = std::chrono::seconds(10)});
    EXPECT_EQ(run.exit_code, refusal.exit_code) << run.err;
    EXPECT_EQ(run.out, "");
    EXPECT_THAT(run.err, HasSubstr(std::string(refusal.says)));
  }
}

} // namespace
} // namespace hotset
