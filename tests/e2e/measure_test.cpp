// SPDX-License-Identifier: Apache-2.0
// hotset measure on programs that nobody here wrote, with all its modes, formats and ways to fail.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "e2e/run_hotset.h"
#include "identity/process.h"

namespace hotset {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string pid_of(const Program& program) {
  return fmt::format("{}", program.pid());
}

// 0 ≤ low ≤ WSS ≤ high ≤ RSS, of this target, by whatever way this kernel has.
void expect_estimate(const nlohmann::json& record, pid_t pid) {
  EXPECT_EQ(record.at("schema"), "hotset.estimate/1");
  EXPECT_EQ(record.at("target").at("pid"), pid);
  EXPECT_EQ(record.at("target").at("kind"), "process");
  EXPECT_THAT(record.at("method").get<std::string>(), ::testing::AnyOf("exact", "sample", "bounds", "reference"));
  std::uint64_t low = record.at("wss").at("low_bytes"), bytes = record.at("wss").at("bytes"),
                high = record.at("wss").at("high_bytes"), rss = record.at("rss_bytes");
  EXPECT_LE(low, bytes);
  EXPECT_LE(bytes, high);
  EXPECT_LE(high, rss);
  EXPECT_GT(rss, 0u);
  EXPECT_FALSE(record.at("flags").empty());
}

std::vector<nlohmann::json> measured(const Program& program, std::vector<std::string> options) {
  std::vector<std::string> arguments{"measure", pid_of(program)};
  arguments.insert(arguments.end(), options.begin(), options.end());
  arguments.emplace_back("--json");
  RunResult run = run_hotset(arguments);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  std::vector<nlohmann::json> records = run.json_lines();
  for (const nlohmann::json& record : records)
    expect_estimate(record, program.pid());
  return records;
}

TEST(Measure, one_window_is_one_record) {
  Program sleep({"sleep", "1000"});
  std::vector<nlohmann::json> records = measured(sleep, {"100ms", "--method", "reference"});
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].at("target").at("comm"), "sleep");
  EXPECT_EQ(records[0].at("window").at("requested_s"), 0.1);
  EXPECT_GE(records[0].at("window").at("effective_s"), 0.1);
}

TEST(Measure, count_and_interval_repeat_it) {
  Program sleep({"sleep", "1000"});
  EXPECT_EQ(measured(sleep, {"20ms", "--count", "3"}).size(), 3u);
  EXPECT_EQ(measured(sleep, {"20ms", "-n", "2", "--interval", "60ms"}).size(), 2u);
  EXPECT_GE(measured(sleep, {"50ms", "--duration", "200ms"}).size(), 1u);
}

TEST(Measure, cumulative_and_profile_windows_grow_and_so_does_what_they_see) {
  Program sleep({"sleep", "1000"});
  for (const auto& mode : {std::vector<std::string>{"20ms", "-C", "-n", "4"}, {"20ms", "-P", "--steps", "4"}}) {
    std::vector<nlohmann::json> records = measured(sleep, mode);
    ASSERT_EQ(records.size(), 4u);
    EXPECT_TRUE(std::ranges::is_sorted(
        records, {}, [](const nlohmann::json& r) { return r.at("window").at("effective_s").get<double>(); }));
    EXPECT_TRUE(std::ranges::is_sorted(
        records, {}, [](const nlohmann::json& r) { return r.at("wss").at("bytes").get<std::uint64_t>(); }));
  }
}

TEST(Measure, snapshot_has_no_window_and_says_so) {
  Program sleep({"sleep", "1000"});
  std::vector<nlohmann::json> records = measured(sleep, {"--snapshot"});
  ASSERT_EQ(records.size(), 1u);
  EXPECT_TRUE(records[0].at("window").at("effective_s").is_null());
  EXPECT_THAT(records[0].at("flags").dump(), HasSubstr("window_unknown"));
}

TEST(Measure, python_that_writes_32_mib_of_128_has_about_these) {
  if (!is_installed("python3")) GTEST_SKIP() << "python3 is not installed";
  Program python({"python3", "-c",
                  "import mmap,sys\n"
                  "m=mmap.mmap(-1,128<<20,mmap.MAP_PRIVATE|mmap.MAP_ANONYMOUS)\n"
                  "m.madvise(mmap.MADV_NOHUGEPAGE)\n"
                  "for i in range(0,128<<20,4096): m[i]=1\n"
                  "print('ready',flush=True)\n"
                  "while True:\n"
                  "  for i in range(0,32<<20,4096): m[i]=1\n"});
  ASSERT_EQ(python.wait_for_line(), "ready");
  nlohmann::json record = measured(python, {"1", "--method", "reference"}).at(0);
  EXPECT_GE(record.at("wss").at("bytes"), std::uint64_t{24} << 20) << "the TLB may keep some from being seen";
  EXPECT_LE(record.at("wss").at("bytes"), std::uint64_t{64} << 20);
  EXPECT_GE(record.at("rss_bytes"), std::uint64_t{128} << 20);
}

TEST(Measure, redis_can_be_measured) {
  if (!is_installed("redis-server")) GTEST_SKIP() << "redis-server is not installed";
  std::string socket = fmt::format("/tmp/hotset-redis-{}.sock", ::getpid());
  Program redis({"redis-server", "--port", "0", "--unixsocket", socket, "--save", ""});
  for (int line = 0; line < 100 && redis.wait_for_line().find("eady to accept") == std::string::npos; ++line) {
  }
  EXPECT_EQ(measured(redis, {"200ms"}).size(), 1u);
  ::unlink(socket.c_str());
}

TEST(Measure, name_stands_for_the_one_process_that_bears_it) {
  Program sleep({"sleep", "1000"});
  std::string name = fmt::format("hs{}", ::getpid());
  std::ofstream(fmt::format("/proc/{}/comm", ::getpid())) << name; // this test bears it for a while
  RunResult run = run_hotset({"measure", "--comm", name, "20ms", "--json"});
  std::ofstream(fmt::format("/proc/{}/comm", ::getpid())) << "hotset_e2e";
  EXPECT_EQ(run.exit_code, 0) << run.err;
  ASSERT_EQ(run.json_lines().size(), 1u);
  EXPECT_EQ(run.json_lines()[0].at("target").at("pid"), ::getpid());
}

TEST(Measure, name_that_several_bear_lists_their_pids) {
  Program one({"sleep", "1000"}), two({"sleep", "1000"});
  RunResult run = run_hotset({"measure", "--comm", "sleep", "20ms"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr(pid_of(one)));
  EXPECT_THAT(run.err, HasSubstr(pid_of(two)));
}

TEST(Measure, command_is_started_measured_and_ended) {
  RunResult run = run_hotset({"measure", "20ms", "--json", "--", "sh", "-c", "echo noise; exec sleep 1000"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  ASSERT_EQ(run.json_lines().size(), 1u) << "its output is not among ours";
  EXPECT_NE(::kill(run.json_lines()[0].at("target").at("pid").get<pid_t>(), 0), 0) << "it was left behind";
}

TEST(Measure, command_that_ends_by_itself_ends_an_open_measurement_well) {
  RunResult run = run_hotset({"measure", "50ms", "--duration", "1h", "--json", "--", "sleep", "0.5"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_GE(run.json_lines().size(), 1u);
  EXPECT_THAT(run.err, HasSubstr("has ended"));
}

// A shell that has half of its memory in a child, as a compiler's driver has nearly all.
std::vector<std::string> of_a_command_with_a_child(std::vector<std::string> options, std::string_view seconds) {
  options.insert(options.end(), {"--", "sh", "-c", fmt::format("sleep {}; :", seconds)});
  return options;
}

TEST(Measure, children_of_a_command_are_left_out_and_that_is_said) {
  RunResult run = run_hotset(of_a_command_with_a_child({"measure", "100ms", "--json"}, "1000"));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("(sh) were not counted; measure --tree -- CMD adds them up\n"));
  run = run_hotset(of_a_command_with_a_child({"measure", "50ms", "--duration", "1h", "--json"}, "0.5"));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("were not counted")) << "those that have ended, too";
  run = run_hotset({"measure", "100ms", "--json", "--", "sleep", "1000"});
  EXPECT_EQ(run.err, "") << "it had none";
}

TEST(Measure, command_that_ends_before_a_reading_has_a_remedy_that_fits) {
  RunResult run = run_hotset(of_a_command_with_a_child({"measure", "1h"}, "0.1"));
  EXPECT_EQ(run.exit_code, 8);
  EXPECT_THAT(run.err, HasSubstr("after 0 of 1 reading; measure a shorter window, and with --tree -- CMD"));
  run = run_hotset({"measure", "1h", "--", "sleep", "0.1"});
  EXPECT_EQ(run.exit_code, 8);
  EXPECT_THAT(run.err, HasSubstr("after 0 of 1 reading; measure a shorter window\n"));
}

TEST(Measure, command_does_not_outlive_a_hotset_that_is_killed) {
  RunningHotset hotset({"measure", "50ms", "--interval", "50ms", "--json", "--", "sleep", "1000"});
  ASSERT_TRUE(hotset.wait_for_output("\n"));
  hotset.send(SIGKILL);
  RunResult run = hotset.finish();
  EXPECT_EQ(run.signal, SIGKILL);
  nlohmann::json target = run.json_lines().at(0).at("target");
  ProcessId id{target.at("pid").get<pid_t>(), target.at("start_ticks").get<std::uint64_t>()};
  while (is_alive(Files(), id)) // or the test's own time limit ends it
    ::usleep(1000);
}

TEST(Measure, target_that_ends_in_the_middle_is_gone_and_what_was_valid_is_printed) {
  Program sleep({"sleep", "1000"});
  RunningHotset hotset({"measure", pid_of(sleep), "50ms", "--count", "1000000", "--json"});
  ASSERT_TRUE(hotset.wait_for_output("\n"));
  sleep.send(SIGKILL);
  RunResult run = hotset.finish();
  EXPECT_EQ(run.exit_code, 8);
  EXPECT_GE(run.json_lines().size(), 1u);
  EXPECT_THAT(run.err, HasSubstr("it ended after"));
}

TEST(Measure, end_of_the_target_ends_a_long_window_early) {
  RunResult run = run_hotset({"measure", "1h", "--", "sleep", "0.3"});
  EXPECT_EQ(run.exit_code, 8);
}

TEST(Measure, interrupt_prints_the_window_so_far) {
  Program sleep({"sleep", "1000"});
  RunningHotset hotset({"measure", pid_of(sleep), "1h", "--json"});
  // Its window has begun when the kernel shows it asleep in a poll; to be sure of no more than that, measure -C first.
  RunningHotset growing({"measure", pid_of(sleep), "100ms", "-C", "--json"});
  ASSERT_TRUE(growing.wait_for_output("\n"));
  growing.send(SIGINT);
  RunResult run = growing.finish();
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.json_lines().back().at("flags").dump(), HasSubstr("interrupted"));
  hotset.send(SIGTERM);
  RunResult long_run = hotset.finish();
  EXPECT_TRUE(long_run.exit_code == 0 || long_run.exit_code == 128 + SIGTERM) << long_run.err;
}

TEST(Measure, without_a_reading_prints_nothing) {
  for (const char* format : {"--json", "--csv", "--relative"}) {
    RunResult run = run_hotset({"measure", "1h", "--method", "reference", format, "--", "sleep", "0.1"});
    EXPECT_EQ(run.exit_code, 8) << run.err;
    EXPECT_EQ(run.out, "") << format;
  }
}

TEST(Measure, table_has_a_header_and_its_doubts_below) {
  Program sleep({"sleep", "1000"});
  RunResult run = run_hotset({"measure", pid_of(sleep), "20ms", "--method", "reference"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.out, StartsWith(fmt::format("{} (sleep), method reference\nTIME UTC", sleep.pid())));
  EXPECT_THAT(run.out, HasSubstr("tlb_not_flushed: "));
  EXPECT_THAT(run.out, ::testing::Not(HasSubstr("\x1b"))) << "no colours in a pipe";
}

TEST(Measure, csv_has_one_row_a_reading) {
  Program sleep({"sleep", "1000"});
  RunResult run = run_hotset({"measure", pid_of(sleep), "20ms", "-n", "2", "--csv"});
  EXPECT_EQ(std::ranges::count(run.out, '\n'), 3);
  EXPECT_THAT(run.out, StartsWith("time,kind,pid,"));
}

TEST(Measure, odd_name_is_made_printable) {
  Program shell({"sh", "-c", "printf 'a) \\033\"b\\377' >/proc/$$/comm; echo ready; while :; do :; done"});
  ASSERT_EQ(shell.wait_for_line(), "ready");
  nlohmann::json record = measured(shell, {"20ms"}).at(0);
  EXPECT_EQ(record.at("target").at("comm"), "a) \\x1b\"b\\xff");
  RunResult table = run_hotset({"measure", pid_of(shell), "20ms"});
  EXPECT_THAT(table.out, ::testing::Not(HasSubstr("\x1b")));
}

TEST(MeasureFaults, are_counted_and_not_taken_for_a_working_set) {
  RunResult run =
      run_hotset({"measure", "300ms", "--method", "faults", "--json", "--", "sh", "-c", "while :; do (:); done"});
  if (run.lacks_something()) GTEST_SKIP() << run.err;
  EXPECT_EQ(run.exit_code, 0) << run.err;
  ASSERT_EQ(run.json_lines().size(), 1u);
  nlohmann::json record = run.json_lines()[0];
  EXPECT_TRUE(record.at("wss").is_null());
  EXPECT_GT(record.at("faults").at("count"), 0) << "a fork takes copy-on-write faults of the parent";
  EXPECT_NE(record.at("faults").at("hook"), "");
  EXPECT_THAT(record.at("flags").dump(), HasSubstr("faults_only"));
}

TEST(MeasureFaults, have_no_snapshot) {
  Program sleep({"sleep", "1000"});
  EXPECT_EQ(run_hotset({"measure", pid_of(sleep), "--snapshot", "--method", "faults"}).exit_code, 2);
}

TEST(MeasureBadInput, has_a_documented_exit_code_and_one_sentence) {
  Program sleep({"sleep", "1000"});
  std::string pid = pid_of(sleep);
  struct Case {
    std::vector<std::string> arguments;
    int code;
    std::string says;
  };
  for (const Case& bad : std::vector<Case>{
           {{"measure"}, 2, "name one PID"},
           {{"measure", "0"}, 2, "not a process id"},
           {{"measure", "x"}, 2, "not a process id"},
           {{"measure", "99999999999"}, 2, "not a process id"},
           {{"measure", "4194304000"}, 2, "not a process id"},
           {{"measure", "1999999999"}, 3, "no such process"},
           {{"measure", pid, "0"}, 2, "not a time above zero"},
           {{"measure", pid, "nan"}, 2, "not a time above zero"},
           {{"measure", pid, "1e300"}, 2, "not a time above zero"},
           {{"measure", pid, "1", "2"}, 2, ""},
           {{"measure", pid, "--method", "magic"}, 2, ""},
           {{"measure", pid, "--count", "0"}, 2, "not a whole number of at least 1"},
           {{"measure", pid, "--count", "99999999999999999999"}, 2, "not a whole number"},
           {{"measure", pid, "1", "--interval", "10ms"}, 2, "shorter than the window"},
           {{"measure", pid, "-C", "-P"}, 2, ""},
           {{"measure", pid, "-P", "--steps", "60"}, 2, "a year"},
           {{"measure", pid, "--json", "--csv"}, 2, ""},
           {{"measure", pid, "--comm", "sleep", "1"}, 2, ""},
           {{"measure", "--comm", "no-such-name"}, 3, "there is none"},
           {{"measure", "1", "--", "hotset-no-such-command"}, 3, "No such file"},
           {{"measure", "1", "--", "/etc/passwd"}, 4, "executed"},
       }) {
    RunResult run = run_hotset(bad.arguments);
    std::string what = fmt::format("{}", bad.arguments.back());
    EXPECT_EQ(run.exit_code, bad.code) << what << ": " << run.err;
    EXPECT_THAT(run.err, HasSubstr(bad.says)) << what;
    EXPECT_EQ(run.out, "") << what;
  }
}

TEST(MeasureBadInput, full_disk_is_an_output_error) {
  Program sleep({"sleep", "1000"});
  for (std::string format : {"--json", "--csv", "--snapshot"}) {
    RunResult run = run_hotset({"measure", pid_of(sleep), "20ms", format}, {.output_path = "/dev/full"});
    EXPECT_EQ(run.exit_code, 7);
    EXPECT_THAT(run.err, HasSubstr("No space left"));
  }
}

TEST(MeasureBadInput, process_of_another_user_is_a_matter_of_permission) {
  if (::geteuid() != 0 || !is_installed("setpriv")) GTEST_SKIP() << "needs root and setpriv";
  std::vector<std::string> nobody{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"};
  if (run_hotset({"--version"}, {.wrapper = nobody}).exit_code != 0)
    GTEST_SKIP() << "the binary lies where nobody cannot go";
  Program sleep({"sleep", "1000"});
  RunResult run = run_hotset({"measure", pid_of(sleep), "20ms"}, {.wrapper = nobody});
  EXPECT_EQ(run.exit_code, 4);
  EXPECT_THAT(run.err, HasSubstr("run as root"));
  EXPECT_EQ(run.out, "");
}

TEST(MeasureBadInput, kernel_thread_and_zombie_are_not_applicable) {
  RunResult kernel_thread = run_hotset({"measure", "2"});
  if (std::ifstream("/proc/2/comm").peek() == 'k') {
    EXPECT_EQ(kernel_thread.exit_code, 9);
  }
  pid_t zombie = ::fork();
  if (zombie == 0) ::_exit(0);
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(zombie), &info, WEXITED | WNOWAIT);
  RunResult run = run_hotset({"measure", fmt::format("{}", zombie)});
  ::waitpid(zombie, nullptr, 0);
  EXPECT_EQ(run.exit_code, 9);
  EXPECT_THAT(run.err, HasSubstr("zombie"));
}

} // namespace
} // namespace hotset
