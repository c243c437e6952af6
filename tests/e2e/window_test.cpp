// SPDX-License-Identifier: Apache-2.0
// hotset window as a user has it: page faults by kind, live and pinned, and what it says when there is no window.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "e2e/run_hotset.h"
#include "e2e/scratch.h"

namespace hotset {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

using Totals = std::map<std::string, std::uint64_t>;

Totals totals(const nlohmann::json& reading) {
  Totals totals;
  for (const nlohmann::json& counter : reading["counters"])
    totals[counter["name"]] = counter["total"];
  return totals;
}

// A command that takes at least 1,000 faults of its own memory, and ends.
std::vector<std::string> then_faults(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(),
                   {"--", HOTSET_BINARY, "workload", "sequential", "--rss", "4MiB", "--seconds", "0.2"});
  return arguments;
}

// The kernel lets go of a map a moment after its last user, when no CPU can be using it.
bool goes_away(const nlohmann::json& map) {
  auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (std::chrono::steady_clock::now() < deadline)
    if (run_hotset({"window", map.dump()}).exit_code == 3) return true;
  return false;
}

class FaultWindow : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root to load BPF programs";
    RunResult run = run_hotset({"window", "faults", "--count", "1", "--interval", "1ms"});
    if (run.lacks_something()) GTEST_SKIP() << run.err;
    ASSERT_EQ(run.exit_code, 0) << run.err;
  }
};

TEST_F(FaultWindow, counts_the_host_and_a_command_to_its_end) {
  RunResult run = run_hotset(then_faults({"window", "faults", "--interval", "30s", "--json"}));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  std::vector<nlohmann::json> readings = run.json_lines();
  ASSERT_THAT(readings, SizeIs(2)) << "the host and the command, once";
  EXPECT_EQ(readings[0]["schema"], "hotset.window/1");
  EXPECT_EQ(readings[0]["subject"], "the host");
  EXPECT_TRUE(readings[1]["pid"].is_number());
  for (const nlohmann::json& reading : readings) {
    Totals faults = totals(reading);
    EXPECT_GE(faults["anonymous"], 1000U) << reading;
    EXPECT_EQ(faults["user"] + faults["kernel"],
              faults["anonymous"] + faults["file"] + faults["copy_on_write"] + faults["unknown"]);
  }
}

TEST_F(FaultWindow, of_a_command_that_ends_before_the_count_was_printed_is_whole) {
  for (const char* count : {"1", "5"}) {
    RunResult run = run_hotset(then_faults({"window", "faults", "--count", count, "--interval", "30s", "--json"}));
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.err, ::testing::Not(HasSubstr("hotset:"))) << "but the command's own output";
    EXPECT_THAT(run.json_lines(), SizeIs(2)) << "the host and the command";
  }
}

TEST_F(FaultWindow, prints_on_a_timer_as_often_as_asked) {
  RunResult run = run_hotset({"window", "faults", "--interval", "10ms", "--count", "3", "--json", "--last", "2s"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.json_lines(), SizeIs(3));
}

TEST_F(FaultWindow, of_a_long_command_name_says_which_part_the_kernel_keeps) {
  RunResult run =
      run_hotset({"window", "faults", "--interval", "1ms", "--count", "1", "--comm", "a_command_of_20_byte"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.err,
            "hotset: the kernel keeps 15 bytes of a command's name: 'a_command_of_20' is looked for\n"
            "hotset: no process of the name 'a_command_of_20_byte' has had a page fault meanwhile\n");
  run = run_hotset({"window", "faults", "--interval", "1ms", "--count", "1", "--comm", "a_command_of_20"});
  EXPECT_EQ(run.err, "hotset: no process of the name 'a_command_of_20' has had a page fault meanwhile\n");
}

TEST_F(FaultWindow, of_processes_that_all_have_ended_exits_8_after_what_it_printed) {
  Program target({"sh", "-c", "echo; exec sleep 0.2"});
  target.wait_for_line();
  RunResult run = run_hotset({"window", "faults", "--pid", std::to_string(target.pid()), "--interval", "30s"});
  EXPECT_EQ(run.exit_code, 8);
  EXPECT_THAT(run.out, HasSubstr("faults of the host"));
  EXPECT_THAT(run.err, HasSubstr("it ended after 1 reading;"));
}

TEST_F(FaultWindow, after_ctrl_c_leaves_nothing_behind) {
  RunningHotset run({"window", "faults", "--interval", "10ms", "--json"});
  ASSERT_TRUE(run.wait_for_output("\n"));
  run.send(SIGINT);
  RunResult result = run.finish();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(goes_away(result.json_lines().front()["window"]["map"]));
}

// A BPF file system of the test's own.
class PinnedWindow : public FaultWindow {
 protected:
  void SetUp() override {
    FaultWindow::SetUp();
    if (IsSkipped()) return;
    bpffs_ = scratch_ / "bpffs";
    std::filesystem::create_directory(bpffs_);
    if (::mount("bpf", bpffs_.c_str(), "bpf", 0, nullptr) != 0) GTEST_SKIP() << "cannot mount a BPF file system";
    mounted_ = true;
  }
  void TearDown() override {
    if (mounted_) ::umount2(bpffs_.c_str(), MNT_DETACH);
  }

  Scratch scratch_;
  std::string bpffs_;
  bool mounted_ = false;
};

TEST_F(PinnedWindow, goes_on_counting_until_its_pins_are_removed) {
  std::string folder = bpffs_ + "/kept";
  Program target({"sh", "-c", "echo; while :; do :; done"});
  target.wait_for_line();
  RunResult pinned = run_hotset({"window", "faults", "--pin", folder, "--pid", std::to_string(target.pid())});
  ASSERT_EQ(pinned.exit_code, 0) << pinned.err;

  RunResult by_folder = run_hotset({"window", folder, "--json"});
  ASSERT_EQ(by_folder.exit_code, 0) << by_folder.err;
  RunResult by_pin = run_hotset({"window", folder + "/faults", "--json"});
  ASSERT_EQ(by_pin.exit_code, 0) << by_pin.err;
  nlohmann::json first = by_folder.json_lines().front(), second = by_pin.json_lines().front();
  EXPECT_EQ(first["window"]["map"], second["window"]["map"]);
  EXPECT_GT(totals(second)["user"], totals(first)["user"]) << "starting a program takes faults";

  RunResult processes = run_hotset({"window", folder + "/processes", "--json"});
  ASSERT_EQ(processes.exit_code, 0) << processes.err;
  EXPECT_EQ(processes.json_lines().front()["pid"], target.pid());

  EXPECT_THAT(run_hotset({"window", "--list"}).out, HasSubstr(first["window"]["map"].dump()));
  std::filesystem::remove_all(folder);
  EXPECT_TRUE(goes_away(first["window"]["map"]));
}

TEST_F(PinnedWindow, takes_no_folder_that_is_there_already) {
  std::string folder = bpffs_ + "/there";
  std::filesystem::create_directory(folder);
  RunResult run = run_hotset({"window", "faults", "--pin", folder});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("exists already"));
}

TEST_F(PinnedWindow, of_which_nobody_can_be_told_is_not_kept) {
  RunResult run = run_hotset({"window", "faults", "--pin", bpffs_ + "/untold"}, {.output_path = "/dev/full"});
  EXPECT_EQ(run.exit_code, 7);
  EXPECT_THAT(run.err, HasSubstr("cannot keep the window in " + bpffs_ + "/untold"));
  EXPECT_FALSE(std::filesystem::exists(bpffs_ + "/untold"));
}

TEST_F(PinnedWindow, is_no_link_and_no_empty_folder) {
  ASSERT_EQ(run_hotset({"window", "faults", "--pin", bpffs_ + "/kept"}).exit_code, 0);
  RunResult link = run_hotset({"window", bpffs_ + "/kept/kinds_user_0"});
  EXPECT_EQ(link.exit_code, 6);
  EXPECT_THAT(link.err, HasSubstr("pin of a program or a link"));
  EXPECT_EQ(run_hotset({"window", bpffs_}).exit_code, 3);
  EXPECT_EQ(run_hotset({"window", bpffs_ + "/nothing"}).exit_code, 3);
}

struct Mistake {
  const char* name;
  std::vector<std::string> arguments;
  int exit_code;
  const char* says;
};

std::ostream& operator<<(std::ostream& out, const Mistake& mistake) {
  return out << mistake.name;
}

class NoWindow : public testing::TestWithParam<Mistake> {};

TEST_P(NoWindow, is_one_sentence_with_the_remedy) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to look at the loaded maps";
  std::vector<std::string> arguments{"window"};
  std::ranges::copy(GetParam().arguments, std::back_inserter(arguments));
  RunResult run = run_hotset(arguments);
  EXPECT_EQ(run.exit_code, GetParam().exit_code) << run.err;
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, AllOf(HasSubstr(GetParam().says), HasSubstr("; ")));
  EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.err;
}

const std::vector<Mistake> kMistakes{
    {"none", {}, 2, "none is given"},
    {"unknown_name", {"no_such_window"}, 3, "no loaded map has that name"},
    {"unknown_id", {"4294967295"}, 3, "no map of that number is loaded"},
    {"id_too_large", {"4294967296"}, 2, "no map's number"},
    {"id_of_many_digits", {"99999999999999999999999999"}, 2, "map '99999999999999999999999999': it is no map's number"},
    {"list_of_one", {"--list", "cache"}, 2, "--list names all"},
    {"file", {"/proc/version"}, 6, "no BPF file system"},
    {"missing_file", {"/no/such/pin"}, 3, "cannot open the pin /no/such/pin"},
    {"span_too_long", {"faults", "--last", "301s"}, 2, "5m at the most"},
    {"bad_interval", {"faults", "--interval", "soon"}, 2, "not a time"},
    {"interval_that_floods", {"faults", "--interval", "1ns"}, 2, "from 1ms to 24h"},
    {"bad_pid", {"faults", "--pid", "me"}, 2, "not a process id"},
    {"two_targets", {"faults", "--pid", "1", "--comm", "x"}, 2, "more than one"},
    {"pinned_command", {"faults", "--pin", "/tmp/x", "--", "true"}, 2, "ends with hotset"},
    {"pin_elsewhere", {"faults", "--pin", "/proc/x"}, 2, "no BPF file system"},
    {"ratio_of_no_counter", {"faults", "--ratio", "bogus/user", "--", "echo", "started"}, 2, "bogus"},
    {"pid_of_another_window", {"cache", "--pid", "1"}, 2, "for the built-in window alone"},
};

INSTANTIATE_TEST_SUITE_P(, NoWindow, testing::ValuesIn(kMistakes),
                         [](const auto& mistake) { return std::string(mistake.param.name); });

// What would be passed over in silence is refused.
TEST(WindowOptions, that_have_no_effect_beside_another_are_a_mistake) {
  const std::vector<std::pair<std::string, std::string>> of_reading{
      {"--ratio", "user/kernel"}, {"--count", "1"}, {"--interval", "1s"}, {"--last", "5s"}};
  for (const auto& [option, value] : of_reading) {
    EXPECT_EQ(run_hotset({"window", "--list", option, value}).exit_code, 2) << option;
    EXPECT_EQ(run_hotset({"window", "faults", "--pin", "/proc/x", option, value}).exit_code, 2) << option;
    EXPECT_THAT(run_hotset({"window", "faults", "--pin", "/proc/x", option, value}).err, HasSubstr("excludes"));
  }
  for (const auto& [option, value] : {std::pair("--pid", "1"), {"--comm", "x"}, {"--pin", "/proc/x"}})
    EXPECT_THAT(run_hotset({"window", "--list", option, value}).err, HasSubstr("excludes")) << option;
  for (const char* flag : {"--json", "--series"})
    EXPECT_THAT(run_hotset({"window", "faults", "--pin", "/proc/x", flag}).err, HasSubstr("excludes")) << flag;
}

TEST(WindowOf, nobody_needs_rights_and_is_told_which) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to become nobody";
  RunOptions nobody{.wrapper = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"}};
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"window", "cache"},
                                                    {"window", "1"},
                                                    {"window", "--list"},
                                                    {"window", "faults", "--count", "1"}}) {
    RunResult run = run_hotset(arguments, nobody);
    EXPECT_EQ(run.exit_code, 4) << run.err;
    EXPECT_THAT(run.err, HasSubstr("run as root"));
  }
}

TEST(WindowOf, root_that_lacks_a_capability_is_told_which) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to lack something";
  RunResult run = run_hotset({"window", "--list"}, {.wrapper = {"setpriv", "--bounding-set=-sys_admin"}});
  EXPECT_EQ(run.exit_code, 4) << run.err;
  EXPECT_THAT(run.err, HasSubstr("run with CAP_SYS_ADMIN"));
}

} // namespace
} // namespace hotset
