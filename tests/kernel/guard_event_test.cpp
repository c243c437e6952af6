// SPDX-License-Identifier: Apache-2.0
// What is told of opens that were denied, or would have been.
#include "guard/event_reader.h"

#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "guard_files.h"

namespace hotset {
namespace {

class GuardEvents : public GuardTest {
 protected:
  Folder folder_;

  static std::vector<GuardEvent> events_of(const Guard& guard) {
    std::vector<GuardEvent> events;
    GuardEventReader reader = GuardEventReader::open(guard.events_fd()).value();
    while (reader.poll(Nanoseconds::zero(), [&](const GuardEvent& event) { events.push_back(event); }).value() > 0) {
    }
    return events;
  }
};

TEST_P(GuardEvents, say_which_file_which_rule_and_who) {
  std::string file = folder_.file("x/y/denied/a");
  Guard guard = start(auditing(rule("/never", "deny") + rule("/**/denied/", "deny")));
  char name[16];
  ::prctl(PR_GET_NAME, name);
  Nanoseconds before = SystemClock().now();
  open_errno(file, O_RDWR);
  open_errno(folder_.file("allowed"));
  std::vector<GuardEvent> events = events_of(guard);
  ASSERT_EQ(events.size(), 1U);
  const GuardEvent& event = events[0];
  struct stat info{};
  ASSERT_EQ(::stat(file.c_str(), &info), 0);
  EXPECT_EQ(event.path, file);
  EXPECT_EQ(event.walk, GUARD_WALK_whole);
  EXPECT_EQ(event.rule, 1U);
  EXPECT_EQ(event.reason, POLICY_BY_RULE);
  EXPECT_EQ(event.access, POLICY_READ | POLICY_WRITE);
  EXPECT_FALSE(event.blocked);
  EXPECT_EQ(event.pid, static_cast<std::uint32_t>(::getpid()));
  EXPECT_EQ(event.comm, name);
  EXPECT_EQ(event.uid, ::geteuid());
  EXPECT_EQ(event.inode, info.st_ino);
  EXPECT_EQ(event.device_major, major(info.st_dev));
  EXPECT_EQ(event.device_minor, minor(info.st_dev));
  EXPECT_EQ(event.generation, 1U);
  EXPECT_GE(event.time, before);
  EXPECT_LE(event.time, SystemClock().now());
}

TEST_P(GuardEvents, tell_the_end_of_a_path_that_is_too_long) {
  folder_.file("denied/a");
  Guard guard = start(auditing(rule("/**/denied/", "deny")));
  Fd at(::open((folder_ / "denied").c_str(), O_PATH | O_CLOEXEC));
  const std::string name(250, 'd');
  for (int i = 0; i < 20; ++i) {
    ::mkdirat(at.get(), name.c_str(), 0755);
    at = Fd(::openat(at.get(), name.c_str(), O_PATH | O_CLOEXEC));
  }
  Fd created(::openat(at.get(), "a", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  std::vector<GuardEvent> events = events_of(guard);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].walk, GUARD_WALK_too_deep);
  EXPECT_TRUE(events[0].path.ends_with("/" + name + "/a"));
  EXPECT_GT(events[0].path.size(), GUARD_PATH_BYTES - name.size() - 2);
}

TEST_P(GuardEvents, over_the_budget_of_a_second_are_counted_and_dropped) {
  std::string file = folder_.file("denied/a");
  GuardOptions few = options();
  few.events_per_second = 5;
  Guard guard = start(auditing(rule("/**/denied/", "deny")), few);
  constexpr std::size_t kOpens = 500;
  Nanoseconds begin = SystemClock().now();
  for (std::size_t i = 0; i < kOpens; ++i)
    open_errno(file);
  auto seconds = static_cast<std::size_t>((SystemClock().now() - begin) / std::chrono::seconds(1));
  std::size_t told = events_of(guard).size();
  GuardCounts counts = totals_of(guard.history().value());
  EXPECT_EQ(counts[GuardCounter::denied], kOpens);
  EXPECT_EQ(told + counts[GuardCounter::events_over_rate], kOpens);
  EXPECT_GE(told, 5U);
  // It may have begun within a second, and ended within another; a second's first opens may be several processors'.
  EXPECT_LE(told, 5 * (seconds + 2) + static_cast<std::size_t>(::sysconf(_SC_NPROCESSORS_CONF)));
  EXPECT_EQ(counts[GuardCounter::events_lost], 0U);
}

TEST_P(GuardEvents, that_nobody_reads_are_counted_when_the_buffer_is_full) {
  std::string file = folder_.file("denied/a");
  GuardOptions small = options();
  small.events_per_second = 1'000'000;
  small.event_bytes = 16384; // room for three
  Guard guard = start(auditing(rule("/**/denied/", "deny")), small);
  for (int i = 0; i < 10; ++i)
    open_errno(file);
  GuardCounts counts = totals_of(guard.history().value());
  EXPECT_EQ(events_of(guard).size(), 3U);
  EXPECT_EQ(counts[GuardCounter::events_lost], 7U);
  open_errno(file);
  EXPECT_EQ(events_of(guard).size(), 1U) << "there is room again";
}

// Other processes than this one, for it is they that execute.
TEST_P(GuardEvents, tell_of_an_execution_by_who_asked_for_it) {
  std::string program = folder_ / "denied-program";
  std::filesystem::copy("/bin/true", program);
  GuardOptions all = options();
  all.only_self = false;
  Guard guard = start(auditing(rule("/**/denied-program", "deny", "access = [\"execute\"]")), all);
  open_errno(program); // to read it is allowed
  pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_NAME, "who-asks");
    ::execl(program.c_str(), program.c_str(), nullptr);
    ::_exit(9);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  std::vector<GuardEvent> events = events_of(guard);
  std::erase_if(events, [&](const GuardEvent& event) { return event.path != program; });
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].access, POLICY_EXECUTE);
  EXPECT_EQ(events[0].pid, static_cast<std::uint32_t>(child));
  bool before_the_change = GetParam() == GUARD_LSM || guard.setup().prepare_exec;
  EXPECT_EQ(events[0].comm, before_the_change ? "who-asks" : "denied-program");
}

HOTSET_GUARD_TESTS(GuardEvents);

} // namespace
} // namespace hotset
