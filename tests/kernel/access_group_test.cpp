// SPDX-License-Identifier: Apache-2.0
// Real processes that share memory, measured as one: what they touched is known, for they do it on command.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <optional>
#include <string>

#include "access/group_meter.h"
#include "base/mounts.h"
#include "estimate/meter.h"
#include "kernel/access_child.h"
#include "kernel/census_test.h"
#include "kernel/family.h"

namespace hotset {
namespace {

// What a process touches beside what it is told to: stack, code, pipes' buffers in its libraries' memory.
constexpr double kBeside = 96;
constexpr Aim kPlenty{.method = Aim::Method::exact, .budget_us = 1e6};
constexpr int kWindows = 5; // a scoped clear settles in later windows what the first finds to be shared

std::string details(const GroupReading& reading) {
  const Answer& answer = reading.answer.total;
  std::string text = fmt::format("known {} born {} joined {} units {} alone by mapping", answer.known,
                                 reading.attendance.born, reading.attendance.joined, answer.units);
  for (const PageCount& part : answer.by_mapping)
    text += fmt::format(" {}/{}", part.accessed, part.present);
  for (const Held& held : answer.held)
    text += fmt::format(", {} {}", held.pages, held.code);
  return text;
}

class GroupMeterTest : public WithCensus {
 protected:
  void start(pid_t root) {
    group = find_tree(files, root).value();
    meter.emplace(*census, clock, *group, FrameFlags::open().value(), 1, 1000);
  }
  void begin() {
    Result<> began = meter->begin(files, kPlenty);
    ASSERT_TRUE(began) << to_sentence(began.error());
  }
  GroupReading read() {
    Result<GroupReading> reading = meter->read(files);
    EXPECT_TRUE(reading) << to_sentence(reading.error());
    return reading ? *std::move(reading) : GroupReading{};
  }

  // In pages, as the traditional tools add it up: shared pages again and again.
  std::uint64_t sum_of_rss() {
    std::uint64_t sum = 0;
    const Roll roll = group->look_up(files).value();
    for (const Member& member : roll.members)
      sum += member.rss_pages;
    return sum;
  }
  static constexpr std::uint64_t kRssLag = 512; // the kernel's quick counts, of five processes

  Files files;
  std::unique_ptr<Group> group;
  std::optional<GroupMeter> meter;
};

TEST_F(GroupMeterTest, pages_that_children_share_are_counted_once_within_bounds) {
  Sharers sharers;
  start(sharers.family.pid());
  for (int window = 0; window < kWindows; ++window) {
    begin();
    sharers.family.work();
    GroupReading reading = read();
    const Answer& answer = reading.answer.total;
    EXPECT_EQ(reading.attendance.members, kChildren + 1);
    EXPECT_LE(answer.low, Sharers::kShared + Sharers::kOwn + kBeside * kChildren) << window;
    EXPECT_GE(answer.high, Sharers::kShared + Sharers::kOwn) << window;
    EXPECT_GE(answer.resident, 2048U);
    EXPECT_LE(answer.resident, sum_of_rss() - kChildren * 400 + kRssLag);
    EXPECT_LE(answer.high, static_cast<double>(answer.resident));
    if (window < 3) continue;
    EXPECT_GE(answer.low, Sharers::kShared) << "the shared memory is settled by clear_refs in all processes";
    EXPECT_GE(reading.answer.shared, 400U);
  }
}

// A prefork server: the parent writes, the children inherit, and each works on a part.
TEST_F(GroupMeterTest, memory_inherited_by_forked_children_is_counted_once) {
  char* memory = map_pages(2048);
  Family family(
      kChildren, [&] { write_pages(memory, 0, 2048); },
      [&](std::size_t i) {
        for (std::size_t page = i * 200; page < i * 200 + 300; ++page) [[maybe_unused]]
          char byte = static_cast<volatile char*>(memory)[page * 4096];
      });
  start(family.pid());
  constexpr double kTouched = 900; // 0 … 300, 200 … 500, 400 … 700, 600 … 900
  for (int window = 0; window < kWindows; ++window) {
    begin();
    family.work();
    GroupReading reading = read();
    const Answer& answer = reading.answer.total;
    EXPECT_GE(answer.high, kTouched) << window;
    EXPECT_LE(answer.low, kTouched + kBeside * kChildren) << window << ", " << details(reading);
    EXPECT_LE(answer.resident, sum_of_rss() - kChildren * 2048 + kRssLag) << "five processes map the same 2048 pages";
    EXPECT_GE(reading.answer.shared, 2048U);
    if (window >= 3) {
      EXPECT_GE(answer.low, kTouched);
    }
  }
  ::munmap(memory, 2048 * 4096);
}

TEST_F(GroupMeterTest, a_process_that_ends_in_the_window_widens_the_bounds_and_is_counted) {
  Sharers sharers;
  start(sharers.family.pid());
  for (int window = 0; window < 4; ++window) {
    begin();
    sharers.family.work();
    read();
  }
  begin();
  sharers.family.work();
  sharers.family.end(0);
  // Its parent does not wait for it: it stays a zombie, whose memory is gone.
  while (group->look_up(files).value().members.size() > kChildren)
    ::sched_yield();
  GroupReading reading = read();
  const Answer& answer = reading.answer.total;
  EXPECT_EQ(reading.attendance.ended, 1U);
  EXPECT_EQ(reading.attendance.members, kChildren);
  EXPECT_GE(answer.high, Sharers::kShared + Sharers::kOwn - 50) << "child 0 alone touched the first 100 shared pages";
  EXPECT_LE(answer.low, Sharers::kShared + Sharers::kOwn + kBeside * kChildren);
  EXPECT_GE(reading.answer.ended, 100U);
}

TEST_F(GroupMeterTest, children_forked_in_the_window_are_seen_and_bounded) {
  char* memory = map_pages(512);
  std::vector<pid_t> born;
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  constexpr int kBorn = 200;
  QuietChild parent({[&] { write_pages(memory, 0, 512); },
                     [&] {
                       for (int i = 0; i < kBorn; ++i) {
                         pid_t child = ::fork();
                         if (child != 0) {
                           born.push_back(child);
                           continue;
                         }
                         write_pages(memory, 0, 8); // copies of its own
                         char byte = 0;
                         [[maybe_unused]] ssize_t told = ::write(pipe[1], &byte, 1);
                         for (;;)
                           ::pause();
                       }
                       char byte = 0;
                       for (int i = 0; i < kBorn; ++i) [[maybe_unused]]
                         ssize_t got = ::read(pipe[0], &byte, 1);
                     },
                     [&] {
                       for (pid_t child : born)
                         ::kill(child, SIGKILL);
                       for (pid_t child : born)
                         ::waitpid(child, nullptr, 0);
                     }});
  parent.run(0);
  start(parent.pid());
  begin();
  parent.run(1);
  GroupReading reading = read();
  EXPECT_EQ(reading.attendance.members, kBorn + 1U);
  EXPECT_EQ(reading.attendance.born + reading.attendance.joined, static_cast<std::size_t>(kBorn));
  EXPECT_GE(reading.answer.total.high, 8.0 * kBorn);
  EXPECT_LE(reading.answer.total.resident, 512U + kBorn * 128U) << "what they inherited counts once";
  RecordProperty("cpu_us", std::to_string(reading.meter.cpu.count() / 1000));
  begin();
  parent.run(2);
  reading = read();
  EXPECT_EQ(reading.attendance.ended, static_cast<std::size_t>(kBorn));
  EXPECT_GT(reading.attendance.child_faults, 0U);
  ::close(pipe[0]);
  ::close(pipe[1]);
  ::munmap(memory, 512 * 4096);
}

// Its new memory stands behind that of all others, though it was the first of them.
TEST_F(GroupMeterTest, a_member_that_execs_leaves_what_is_known_of_the_others_as_it_is) {
  constexpr std::size_t kUntouched = 8192;
  int go[2], gone[2], ready[2];
  ASSERT_EQ(::pipe2(go, O_CLOEXEC) | ::pipe2(gone, O_CLOEXEC) | ::pipe2(ready, O_CLOEXEC), 0);
  auto wait_for = [](int fd) { // a byte, or that nobody can write any more
    char byte = 0;
    [[maybe_unused]] ssize_t got = ::read(fd, &byte, 1);
  };
  auto tell = [](int fd) { [[maybe_unused]] ssize_t told = ::write(fd, "", 1); };
  QuietChild parent({[&] {
                       if (::fork() == 0) {
                         ::prctl(PR_SET_PDEATHSIG, SIGKILL);
                         wait_for(go[0]);
                         ::execl("/bin/sleep", "sleep", "60", nullptr);
                         ::_exit(1);
                       }
                       ::close(gone[1]);
                       if (::fork() == 0) {
                         ::prctl(PR_SET_PDEATHSIG, SIGKILL);
                         write_pages(map_pages(kUntouched), 0, kUntouched);
                         tell(ready[1]);
                         for (;;)
                           ::pause();
                       }
                       wait_for(ready[0]);
                     },
                     [&] {
                       tell(go[1]);
                       wait_for(gone[0]);
                     }});
  ::close(gone[1]);
  parent.run(0);
  start(parent.pid());
  Result<> began = meter->begin(files, {.method = Aim::Method::sample, .budget_us = 500});
  ASSERT_TRUE(began) << to_sentence(began.error());
  parent.run(1);
  GroupReading reading = read();
  EXPECT_EQ(reading.attendance.members, 3U);
  EXPECT_EQ(reading.attendance.execed, 1U);
  EXPECT_EQ(reading.attendance.born, 1U);
  EXPECT_EQ(reading.attendance.same_memory, 0U);
  EXPECT_GT(reading.answer.total.units, 0U);
  EXPECT_GE(reading.answer.total.resident, kUntouched);
  EXPECT_LE(reading.answer.total.low, kUntouched / 4.0) << "nobody touched them in the window";
  for (int fd : {go[0], go[1], gone[0], ready[0], ready[1]})
    ::close(fd);
}

// Processes that start and end all the time: a look at them comes to an end.
TEST_F(GroupMeterTest, a_group_that_never_stands_still_is_answered_all_the_same) {
  Family storm(
      1, [] { ::signal(SIGCHLD, SIG_IGN); },
      [](std::size_t) {
        ::signal(SIGCHLD, SIG_IGN);
        if (::fork() != 0) return;
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::alarm(60);
        for (;;)
          if (::fork() == 0) ::_exit(0);
      });
  start(storm.pid());
  storm.work();
  for (int window = 0; window < 3; ++window) {
    begin();
    GroupReading reading = read();
    EXPECT_GE(reading.attendance.members, 2U);
    EXPECT_LE(reading.answer.total.high, static_cast<double>(reading.answer.total.resident));
  }
}

TEST_F(GroupMeterTest, processes_that_share_all_memory_are_one) {
  char* memory = map_pages(512);
  alignas(16) static char stack[65536];
  QuietChild parent({[&] { write_pages(memory, 0, 512); },
                     [] {
                       ::clone(
                           [](void*) {
                             ::prctl(PR_SET_PDEATHSIG, SIGKILL);
                             for (;;)
                               ::pause();
                             return 0;
                           },
                           stack + sizeof(stack), CLONE_VM, nullptr);
                     },
                     [&] { write_pages(memory, 0, 64); }});
  parent.run(0);
  start(parent.pid());
  begin();
  const std::uint64_t alone = read().answer.total.resident;
  parent.run(1);
  begin();
  parent.run(2);
  GroupReading reading = read();
  EXPECT_EQ(reading.attendance.same_memory, 1U);
  EXPECT_LE(reading.answer.total.resident, alone + 256) << "512 pages were written, and are there once";
}

TEST_F(GroupMeterTest, five_hundred_idle_processes_are_answered) {
  constexpr std::size_t kIdle = 500;
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = limit.rlim_max;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  if (limit.rlim_cur < 4096) GTEST_SKIP() << "needs 4096 open files, the limit is " << limit.rlim_cur;
  Family idle(kIdle, [] {}, [](std::size_t) {});
  start(idle.pid());
  for (int window = 0; window < 3; ++window) {
    begin();
    GroupReading reading = read();
    EXPECT_EQ(reading.attendance.members, kIdle + 1);
    EXPECT_LE(reading.answer.frame_set_bytes, 8U << 20);
    RecordProperty(fmt::format("cpu_ms_{}", window), std::to_string(reading.meter.cpu.count() / 1'000'000));
    RecordProperty(fmt::format("read_ms_{}", window), std::to_string(reading.meter.read_time.count() / 1'000'000));
  }
}

TEST_F(GroupMeterTest, that_all_have_left_is_gone) {
  auto family = std::make_unique<Family>(1, [] {}, [](std::size_t) {});
  start(family->pid());
  begin();
  EXPECT_TRUE(meter->alive());
  family.reset();
  while (meter->alive()) // its child was told to end, and nobody waits for it
    ::sched_yield();
  Result<GroupReading> reading = meter->read(files);
  ASSERT_FALSE(reading);
  EXPECT_EQ(reading.error().code, ErrorCode::gone);
}

} // namespace
} // namespace hotset
