// SPDX-License-Identifier: Apache-2.0
// hotset measure --tree and --cgroup as a user types them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "base/file.h"
#include "e2e/run_hotset.h"
#include "e2e/servers.h"

namespace hotset {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// Each message names what was wrong and what helps.
struct Refusal {
  std::vector<std::string> arguments;
  int code;
  std::string says;
  const char* window = nullptr; // 100ms
};

TEST(MeasureGroup, what_cannot_be_measured_is_refused_in_one_sentence) {
  for (const Refusal& refusal : std::vector<Refusal>{
           {{"--tree", "1", "--cgroup", "/"}, 2, "more than one"},
           {{"--tree", "1", "--comm", "bash"}, 2, "more than one"},
           {{"--tree", "0"}, 2, "process id"},
           {{"--tree"}, 2, "--tree names no process"},
           {{"--tree", "--", "true"}, 2, "second one", "3601"},
           {{"--tree", "1", "--", "true"}, 2, "more than one"},
           {{"--tree", "--cgroup", "/", "--", "true"}, 2, "more than one"},
           {{"--tree", "--comm", "bash", "--", "true"}, 2, "more than one"},
           {{"--tree", "--snapshot", "--", "true"}, 2, "snapshot"},
           {{"--tree", "--", "hotset-no-such-command"}, 3, "No such file"},
           {{"--tree", "4194399"}, 3, "no such process"},
           {{"--tree", "2"}, 9, "kernel thread"},
           {{"--cgroup", "/a/../b"}, 2, "'..'"},
           {{"--cgroup", "/hotset-there-is-none"}, 3, "/proc/PID/cgroup"},
           {{"--tree", "1", "--snapshot"}, 2, "snapshot"},
           {{"--tree", "1", "--method", "reference"}, 2, "--method access"},
           {{"--tree", "1"}, 2, "second one", "1"},
           {{"--tree", "1"}, 2, "second one", "3601"},
           {{"--comm", "no-such-command"}, 2, "second one", "4194399"},
           {{"--cgroup", "/"}, 2, "second one", "99999"},
           {{"--tree", "1"}, 2, "a day is the most", "25h"},
           {{"--tree", "4194399"}, 3, "no such process", "3600"},
           {{"--tree", "4194399"}, 3, "no such process", "24h"},
       }) {
    if (refusal.code == 9 && !Files().exists("/proc/2")) continue; // no kernel threads in this PID namespace
    std::vector<std::string> arguments{"measure", "100ms"};
    if (refusal.window) arguments[1] = refusal.window;
    arguments.insert(arguments.end(), refusal.arguments.begin(), refusal.arguments.end());
    RunResult run = run_hotset(arguments);
    if (refusal.arguments[0] == "--cgroup" && run.lacks_something()) continue; // no cgroups here
    EXPECT_EQ(run.exit_code, refusal.code) << run.err;
    EXPECT_THAT(run.err, HasSubstr(refusal.says));
    EXPECT_EQ(run.out, "");
  }
}

// VmRSS of the members, added up as the traditional tools do: shared pages again and again.
double sum_of_rss(pid_t root) {
  double sum = 0;
  std::vector<pid_t> open{root};
  while (!open.empty()) {
    pid_t pid = open.back();
    open.pop_back();
    Result<std::string> statm = Files().read(fmt::format("/proc/{}/statm", pid));
    if (!statm) continue;
    double size = 0, resident = 0;
    std::istringstream(*statm) >> size >> resident;
    sum += resident * 4096;
    Result<std::string> children = Files().read(fmt::format("/proc/{0}/task/{0}/children", pid));
    std::istringstream pids(children ? *children : "");
    for (pid_t child = 0; pids >> child;)
      open.push_back(child);
  }
  return sum;
}

TEST(MeasureGroup, memory_that_a_workloads_children_share_counts_once) {
  Program workload(
      {HOTSET_BINARY, "workload", "fork", "--children", "4", "--rss", "64MiB", "--seconds", "60", "--json"});
  ASSERT_NE(workload.wait_for_line(), "") << "it says when it is ready";
  RunResult run = run_hotset({"measure", "--tree", fmt::format("{}", workload.pid()), "300ms", "-n", "3", "--json"});
  if (run.lacks_something()) GTEST_SKIP() << run.err;
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const double added_up = sum_of_rss(workload.pid());
  const std::vector<json> records = run.json_lines();
  ASSERT_EQ(records.size(), 3U);
  for (const json& record : records) {
    EXPECT_EQ(record["target"]["kind"], "tree");
    EXPECT_EQ(record["target"]["pid"], workload.pid());
    EXPECT_EQ(record["group"]["members"], 5);
    EXPECT_LE(record["wss"]["high_bytes"], record["rss_bytes"]);
    EXPECT_GE(record["rss_bytes"].get<double>(), 64 << 20);
    EXPECT_LT(record["rss_bytes"].get<double>(), added_up / 2);
    EXPECT_GE(record["group"]["shared_bytes"].get<double>(), 32 << 20);
  }
}

TEST(MeasureGroup, of_a_command_is_all_that_it_starts) {
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"300ms", "--tree"}, {"--tree", "300ms"}, {"--tree", "--relative", "300ms"}}) {
    std::vector<std::string> arguments{"measure"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.insert(arguments.end(), {"-n", "2", "--json", "--", "sh", "-c", "sleep 1000 & sleep 1000; :"});
    RunResult run = run_hotset(arguments);
    if (run.lacks_something()) GTEST_SKIP() << run.err;
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.err, "") << "nothing was left out";
    const std::vector<json> records = run.json_lines();
    ASSERT_EQ(records.size(), 2U);
    EXPECT_EQ(records[1]["target"]["kind"], "tree");
    EXPECT_EQ(records[1]["target"]["comm"], "sh");
    EXPECT_EQ(records[1]["group"]["members"], 3);
    EXPECT_EQ(records[1]["window"]["requested_s"], 0.3);
    EXPECT_NE(::kill(records[1]["target"]["pid"].get<pid_t>(), 0), 0) << "it was left behind";
  }
}

TEST(MeasureGroup, of_a_command_lasts_until_the_command_has_ended) {
  RunResult run =
      run_hotset({"measure", "50ms", "--interval", "50ms", "--tree", "--json", "--", "sh", "-c", "sleep 0.5; :"});
  if (run.lacks_something()) GTEST_SKIP() << run.err;
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_GE(run.json_lines().size(), 2U);
  EXPECT_THAT(run.err, HasSubstr("(sh) has ended after"));
}

TEST(MeasureGroup, that_has_left_ends_the_measurement_with_what_was_measured) {
  Program sleep({"sleep", "1"});
  RunResult run = run_hotset({"measure", "--tree", fmt::format("{}", sleep.pid()), "100ms", "-n", "1000", "--json"});
  if (run.lacks_something()) GTEST_SKIP() << run.err;
  EXPECT_EQ(run.exit_code, 8) << run.err;
  EXPECT_THAT(run.err, HasSubstr("ended after"));
  EXPECT_FALSE(run.json_lines().empty());
}

TEST(MeasureGroup, as_csv_has_the_columns_of_a_group) {
  Program sleep({"sleep", "1000"});
  RunResult run = run_hotset({"measure", "--tree", fmt::format("{}", sleep.pid()), "100ms", "--csv"});
  if (run.lacks_something()) GTEST_SKIP() << run.err;
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr(",cgroup_id,cgroup_path,members,"));
  EXPECT_THAT(run.out, HasSubstr(fmt::format(",tree,{},", sleep.pid())));
}

// All of a server as one: shared buffers, which every backend maps, count once, and the sum fits into the machine.
TEST(MeasureGroup, a_postgres_under_load_counts_its_shared_buffers_once) {
  if (!Postgres::is_possible() || !is_installed("pgbench"))
    GTEST_SKIP() << "PostgreSQL is not installed, or we are not root";
  Postgres postgres;
  Shell filled = postgres.bench("-i -s 5 -q");
  ASSERT_EQ(filled.status, 0) << filled.out;
  constexpr double kMiB = 1 << 20;
  constexpr int kClients = 8;
  std::unique_ptr<Program> clients = postgres.load(kClients);
  RunResult run = run_hotset({"measure", "--tree", postgres.pid(), "1", "-n", "4", "--json"});
  if (run.lacks_something()) GTEST_SKIP() << run.err;
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const double memory = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * 4096, buffers = 96 * kMiB;
  const std::vector<json> records = run.json_lines();
  ASSERT_EQ(records.size(), 4U);
  for (const json& record : records) {
    double low = record["wss"]["low_bytes"], wss = record["wss"]["bytes"], high = record["wss"]["high_bytes"];
    double rss = record["rss_bytes"], shared = record["group"]["shared_bytes"];
    EXPECT_LE(0, low);
    EXPECT_LE(low, wss);
    EXPECT_LE(wss, high);
    EXPECT_LE(high, rss);
    EXPECT_LE(rss, memory);
    EXPECT_GE(record["group"]["members"], kClients + 1);
    EXPECT_GT(shared, 20 * kMiB);
    EXPECT_LE(rss, buffers + 150 * kMiB) << "the buffers as each backend maps them would be more";
    EXPECT_GT(high, 10 * kMiB);
  }
}

} // namespace
} // namespace hotset
