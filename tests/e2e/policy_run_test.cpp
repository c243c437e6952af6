// SPDX-License-Identifier: Apache-2.0
// hotset policy run, status, stats and events as a user has them: audited, reloaded, killed.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/clock.h"
#include "e2e/run_hotset.h"
#include "e2e/scratch.h"
#include "identity/process.h"

namespace hotset {
namespace {

using ::testing::HasSubstr;

constexpr const char* kPins = "/sys/fs/bpf";
constexpr long kBpfMagic = 0xcafe4a11;

// The kernel lets go of programs a moment after the agent that loaded them.
bool stands_still(const std::string& pin) {
  auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (std::chrono::steady_clock::now() < deadline)
    if (run_hotset({"window", pin, "--json"}).json_lines().at(0)["fed"] == false)
      return run_hotset({"window", pin}).out.contains("nothing counts in it any more");
  return false;
}

class PolicyRun : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root to load BPF programs";
    struct statfs mount{};
    if (::statfs(kPins, &mount) != 0 || mount.f_type != kBpfMagic) {
      std::error_code ignored;
      std::filesystem::create_directories(kPins, ignored);
      if (::mount("bpf", kPins, "bpf", 0, nullptr) != 0) GTEST_SKIP() << "no BPF file system can be mounted";
      mounted_ = true;
    }
    std::ofstream(folder_ / "secret") << "s\n";
    write_policy(folder_ / "secret");
  }
  void TearDown() override {
    if (mounted_) ::umount2(kPins, MNT_DETACH);
  }

  void write_policy(const std::string& path) {
    std::ofstream(folder_ / "policy.toml") << "mode = \"audit\"\ndefault = \"allow\"\nunknown = \"allow\"\n"
                                              "[[rule]]\nname = \"secrets\"\naction = \"deny\"\npath = \""
                                           << path << "\"\n";
  }
  void read_secret() { std::ifstream(folder_ / "secret").get(); }

  Scratch folder_;
  std::vector<std::string> run_{"policy", "run", folder_ / "policy.toml", "--audit"};

 private:
  bool mounted_ = false;
};

TEST_F(PolicyRun, tells_what_would_be_denied_to_whom_it_is_asked_by) {
  RunningHotset agent(run_);
  ASSERT_TRUE(agent.wait_for_output("agent "));
  RunResult status = run_hotset({"policy", "status", "--json"});
  ASSERT_EQ(status.exit_code, 0) << status.err;
  EXPECT_EQ(status.json_lines()[0]["mode"], "audit");
  EXPECT_EQ(status.json_lines()[0]["pid"], agent.pid());
  EXPECT_EQ(status.json_lines()[0]["rules"][0]["name"], "secrets");
  EXPECT_EQ(
      run_hotset({"window", std::string(kPins) + "/hotset/policy-2/counters", "--json"}).json_lines().at(0)["fed"],
      true);
  read_secret();
  RunResult events = run_hotset({"policy", "events", "--count", "1", "--json"});
  ASSERT_EQ(events.exit_code, 0) << events.err;
  nlohmann::json event = events.json_lines()[0];
  EXPECT_EQ(event["path"], folder_ / "secret");
  EXPECT_EQ(event["pid"], ::getpid());
  EXPECT_EQ(event["line"], 4);
  EXPECT_EQ(event["blocked"], false);
  RunResult stats = run_hotset({"policy", "stats", "--last", "1m", "--json"});
  ASSERT_EQ(stats.exit_code, 0) << stats.err;
  nlohmann::json total = stats.json_lines()[0]["total"];
  EXPECT_GE(total["denied"], 1);
  EXPECT_GT(total["lookups"], 0);
  agent.send(SIGINT);
  RunResult run = agent.finish();
  EXPECT_EQ(run.exit_code, 0) << run.err;
  RunResult after = run_hotset({"policy", "status"});
  EXPECT_EQ(after.exit_code, 3);
  EXPECT_THAT(after.err, HasSubstr("is not running"));
  EXPECT_FALSE(std::filesystem::exists(std::string(kPins) + "/hotset/policy-2"));
}

TEST_F(PolicyRun, keeps_the_policy_when_its_file_is_broken_and_takes_the_next_that_is_not) {
  RunningHotset agent(run_);
  ASSERT_TRUE(agent.wait_for_output("agent "));
  std::ofstream(folder_ / "policy.toml") << "nonsense";
  agent.send(SIGHUP);
  ASSERT_TRUE(agent.wait_for_errors("the policy of before stays"));
  nlohmann::json status = run_hotset({"policy", "status", "--json"}).json_lines()[0];
  EXPECT_EQ(status["generation"], 1);
  EXPECT_EQ(status["refused_reloads"], 1);
  read_secret();
  EXPECT_EQ(run_hotset({"policy", "events", "-n", "1", "--json"}).json_lines()[0]["path"], folder_ / "secret");
  write_policy(folder_ / "other");
  agent.send(SIGHUP);
  ASSERT_TRUE(agent.wait_for_errors("was read again"));
  EXPECT_EQ(run_hotset({"policy", "status", "--json"}).json_lines()[0]["generation"], 2);
  std::ofstream(folder_ / "other") << "o\n";
  read_secret();
  std::ifstream(folder_ / "other").get();
  nlohmann::json event = run_hotset({"policy", "events", "-n", "1", "--json"}).json_lines()[0];
  EXPECT_NE(event["path"], folder_ / "secret") << "it is allowed now";
  EXPECT_EQ(event["generation"], 2);
}

TEST_F(PolicyRun, leaves_nothing_behind_that_counts_when_it_is_killed) {
  {
    RunningHotset agent(run_);
    ASSERT_TRUE(agent.wait_for_output("agent "));
    agent.send(SIGKILL);
    EXPECT_EQ(agent.finish().signal, SIGKILL);
  }
  RunResult status = run_hotset({"policy", "status"});
  EXPECT_EQ(status.exit_code, 3);
  EXPECT_THAT(status.err, HasSubstr("was killed"));
  EXPECT_TRUE(stands_still(std::string(kPins) + "/hotset/policy-2/counters"));
  RunningHotset next(run_);
  ASSERT_TRUE(next.wait_for_output("agent "));
  EXPECT_EQ(run_hotset({"policy", "status", "--json"}).json_lines()[0]["pid"], next.pid());
}

TEST_F(PolicyRun, goes_on_when_the_reader_of_its_events_went_away_who_frees_the_place_for_the_next) {
  RunningHotset agent(run_);
  ASSERT_TRUE(agent.wait_for_output("agent "));
  RunResult unread = run_hotset({"policy", "events"}, {.wrapper = {"sh", "-c", "\"$@\" | true", "sh"}});
  EXPECT_FALSE(unread.timed_out);
  EXPECT_EQ(unread.err, "");
  read_secret();
  EXPECT_EQ(run_hotset({"policy", "events", "-n", "1", "--json"}).exit_code, 0);
}

TEST_F(PolicyRun, is_refused_beside_another) {
  RunningHotset agent(run_);
  ASSERT_TRUE(agent.wait_for_output("agent "));
  RunResult second = run_hotset(run_);
  EXPECT_EQ(second.exit_code, 4);
  EXPECT_THAT(second.err, HasSubstr("another hotset policy run"));
}

TEST_F(PolicyRun, ends_by_itself_after_its_time) {
  std::vector<std::string> brief = run_;
  brief.insert(brief.end(), {"--for", "100ms"});
  EXPECT_EQ(run_hotset(brief).exit_code, 0);
  EXPECT_EQ(run_hotset({"policy", "status"}).exit_code, 3);
}

TEST_F(PolicyRun, audits_a_redis_that_writes_its_database) {
  if (!is_installed("redis-server") || !is_installed("redis-cli")) GTEST_SKIP() << "redis is not installed";
  std::filesystem::create_directories(folder_ / "data");
  std::ofstream(folder_ / "policy.toml") << "mode = \"audit\"\ndefault = \"allow\"\nunknown = \"allow\"\n[[rule]]\n"
                                            "action = \"deny\"\naccess = [\"write\"]\ncommand = \"redis-server\"\n"
                                            "path = \""
                                         << folder_ / "data/" << "\"\n";
  std::string socket = folder_ / "redis.sock";
  RunningHotset agent(run_);
  ASSERT_TRUE(agent.wait_for_output("agent "));
  Program redis({"redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "yes", "--dir",
                 folder_ / "data"});
  RunResult events = run_hotset({"policy", "events", "-n", "1", "--json"});
  ASSERT_EQ(events.exit_code, 0) << events.err;
  nlohmann::json event = events.json_lines()[0];
  EXPECT_EQ(event["comm"], "redis-server");
  EXPECT_EQ(event["pid"], redis.pid());
  EXPECT_THAT(event["path"].get<std::string>(), HasSubstr(folder_ / "data/"));
  EXPECT_THAT(event["access"], testing::Contains("write"));
  nlohmann::json total = run_hotset({"policy", "stats", "--json"}).json_lines()[0]["total"];
  EXPECT_GT(total["lookups"], 0);
}

// These rules take seconds to find out that they are too large.
TEST(PolicyRunUsage, an_interrupt_ends_the_compiling_of_a_policy) {
  Scratch folder;
  {
    std::ofstream policy(folder / "large.toml");
    policy << "mode = \"audit\"\ndefault = \"allow\"\nunknown = \"allow\"\n";
    for (int rule = 0; rule < 256; ++rule)
      policy << fmt::format("[[rule]]\naction = \"deny\"\npath = \"/**/.secret{}/\"\n", rule);
  }
  RunningHotset run({"policy", "run", folder / "large.toml", "--audit"});
  SystemClock clock;
  auto is_compiling = [&] {
    Result<ProcessStat> stat = read_process_stat(Files(), run.pid());
    return stat && stat->user_ticks > 30;
  };
  for (int look = 0; look < 1000 && !is_compiling(); ++look)
    clock.sleep_until(clock.now() + std::chrono::milliseconds(10));
  run.send(SIGINT);
  const RunResult result = run.finish();
  EXPECT_EQ(result.exit_code, 128 + SIGINT) << result.err;
  EXPECT_EQ(result.err, ""); // nor was it found too large
}

TEST(PolicyStatus, without_a_policy_says_how_to_hold_one) {
  for (const char* command : {"status", "stats", "events"}) {
    RunResult run = run_hotset({"policy", command});
    EXPECT_EQ(run.exit_code, 3) << command;
    EXPECT_THAT(run.err, HasSubstr("hotset policy run")) << command;
  }
}

TEST(PolicyRunUsage, says_what_is_wrong) {
  EXPECT_EQ(run_hotset({"policy", "run", "-"}).exit_code, 2);
  EXPECT_EQ(run_hotset({"policy", "run", "/not/there"}).exit_code, 3);
  RunResult too_far = run_hotset({"policy", "stats", "--last", "301s"});
  EXPECT_EQ(too_far.exit_code, 2);
  EXPECT_THAT(too_far.err, HasSubstr("5m at the most"));
}

} // namespace
} // namespace hotset
