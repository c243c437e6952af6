// SPDX-License-Identifier: Apache-2.0
#include "identity/process.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "unit/fake_tree.h"

namespace hotset {
namespace {

// As Linux 6.18 prints it, with the parts that matter here put in.
std::string stat_text(int pid, std::string_view comm, char state = 'S', unsigned flags = 0x400000, int threads = 1,
                      int start = 100) {
  return fmt::format(
      "{} ({}) {} 1 {} {} 0 -1 {} 3000000000 7 12 0 5 6 0 0 20 0 {} 0 {} 250000000 4096 18446744073709551615 "
      "1 1 0 0 0 0 0 4096 17474 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
      pid, comm, state, pid, pid, flags, threads, start);
}

struct Proc : FakeTree {
  void add(int pid, std::string_view comm, char state = 'S', unsigned flags = 0x400000, int threads = 1,
           int start = 100) const {
    put(fmt::format("/proc/{}/stat", pid), stat_text(pid, comm, state, flags, threads, start));
    put(fmt::format("/proc/{}/status", pid),
        fmt::format("Name:\tx\nState:\tS (sleeping)\nTgid:\t{}\nPid:\t{}\n", pid, pid));
  }
};

TEST(Process, is_not_looked_for_in_the_proc_of_another_pid_namespace) {
  Proc proc;
  proc.add(42, "redis-server");
  ASSERT_TRUE(find_process(proc.files(), 42)); // no word of whose it is
  proc.put("/proc/version", "Linux");
  EXPECT_EQ(find_process(proc.files(), 42).error().code, ErrorCode::unsupported); // we are not in it
  std::filesystem::create_symlink("4294967", proc.root() + "/proc/self");
  EXPECT_EQ(find_process(proc.files(), 42).error().code, ErrorCode::unsupported); // it has us by another number
  EXPECT_EQ(find_processes(proc.files(), "redis-server").error().code, ErrorCode::unsupported);
  proc.remove("/proc/self");
  std::filesystem::create_symlink(std::to_string(::getpid()), proc.root() + "/proc/self");
  EXPECT_TRUE(find_process(proc.files(), 42));
}

TEST(ProcessStat, is_read_field_by_field) {
  ProcessStat stat = parse_process_stat(stat_text(42, "redis-server")).value();
  EXPECT_EQ(stat.pid, 42);
  EXPECT_EQ(stat.comm, "redis-server");
  EXPECT_EQ(stat.state, 'S');
  EXPECT_EQ(stat.flags, 0x400000u);
  EXPECT_EQ(stat.minor_faults, 3000000000u);
  EXPECT_EQ(stat.child_minor_faults, 7u);
  EXPECT_EQ(stat.parent, 1);
  EXPECT_EQ(stat.major_faults, 12u);
  EXPECT_EQ(stat.user_ticks, 5u);
  EXPECT_EQ(stat.system_ticks, 6u);
  EXPECT_EQ(stat.threads, 1u);
  EXPECT_EQ(stat.start_ticks, 100u);
  EXPECT_EQ(stat.rss_pages, 4096u);
}

TEST(ProcessStat, name_may_hold_anything) {
  for (std::string_view comm : {"a b", "a) S 1 (b", ")", "(", "((", "", "a\nb", "\xff\xfe", "1 (x) R 2"})
    EXPECT_EQ(parse_process_stat(stat_text(7, comm)).value().comm, comm);
}

TEST(ProcessStat, a_pid_that_no_process_can_have_is_bad_data) {
  EXPECT_FALSE(parse_process_stat(stat_text(0, "name")));
  std::string text = stat_text(7, "name");
  EXPECT_FALSE(parse_process_stat("4294967303" + text.substr(1))); // would be 7, cut to 32 bits
}

TEST(ProcessStat, without_a_blank_behind_the_name_is_bad_data) {
  std::string text = stat_text(7, "name");
  text[text.find(')') + 1] = '2';
  EXPECT_FALSE(parse_process_stat(text));
}

TEST(ProcessStat, cut_or_strange_text_is_bad_data) {
  std::string whole = stat_text(7, "name");
  for (std::size_t length : {0u, 1u, 5u, 8u, 9u, 10u, 11u, 40u}) {
    Result<ProcessStat> stat = parse_process_stat(std::string_view(whole).substr(0, length));
    ASSERT_FALSE(stat) << length;
    EXPECT_EQ(stat.error().code, ErrorCode::bad_data);
  }
  EXPECT_FALSE(parse_process_stat("x (name) S 1 2 3"));
  EXPECT_FALSE(parse_process_stat("7 (n) S " + std::string(400, 'z')));
}

TEST(FindProcess, of_a_thread_is_its_process_and_says_what_was_asked) {
  Proc proc;
  proc.add(10, "server", 'S', 0x400000, 2, 55);
  proc.put("/proc/11/stat", stat_text(11, "worker"));
  proc.put("/proc/11/status", "Name:\tworker\nTgid:\t10\nPid:\t11\n");
  Process process = find_process(proc.files(), 11).value();
  EXPECT_EQ(process.id, (ProcessId{10, 55}));
  EXPECT_EQ(process.comm, "server");
  EXPECT_EQ(process.requested, 11);
}

TEST(FindProcess, that_does_not_exist_is_not_found) {
  Proc proc;
  Result<Process> process = find_process(proc.files(), 99);
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().code, ErrorCode::not_found);
  EXPECT_EQ(to_sentence(process.error()), "cannot find process 99: there is no such process");
}

TEST(FindProcess, of_a_kernel_thread_or_zombie_is_not_applicable) {
  Proc proc;
  proc.add(2, "kthreadd", 'S', 0x208040);
  proc.add(3, "dead", 'Z', 0x40000c);
  proc.add(4, "half", 'Z', 0x40000c, 3);
  for (int pid : {2, 3, 4}) {
    Result<Process> process = find_process(proc.files(), pid);
    ASSERT_FALSE(process);
    EXPECT_EQ(process.error().code, ErrorCode::not_applicable);
  }
  EXPECT_THAT(find_process(proc.files(), 2).error().cause, ::testing::HasSubstr("kernel thread"));
  EXPECT_THAT(find_process(proc.files(), 3).error().cause, ::testing::HasSubstr("zombie"));
  EXPECT_THAT(find_process(proc.files(), 4).error().cause, ::testing::HasSubstr("main thread"));
}

TEST(FindProcess, whose_status_names_no_group_is_bad_data) {
  Proc proc;
  proc.add(5, "x");
  proc.put("/proc/5/status", "Name:\tx\n");
  EXPECT_EQ(find_process(proc.files(), 5).error().code, ErrorCode::bad_data);
}

TEST(FindProcesses, by_name_are_sorted_by_number_and_the_unfit_left_out) {
  Proc proc;
  proc.add(100, "web");
  proc.add(20, "web");
  proc.add(3, "web", 'Z');
  proc.add(4, "other");
  proc.put("/proc/uptime", "1.00 1.00");
  std::vector<Process> found = find_processes(proc.files(), "web").value();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].id.pid, 20);
  EXPECT_EQ(found[1].id.pid, 100);
  EXPECT_TRUE(find_processes(proc.files(), "none").value().empty());
}

TEST(FindProcesses, compare_the_name_as_the_kernel_cuts_it) {
  Proc proc;
  proc.add(9, "a-rather-long-n");
  EXPECT_EQ(find_processes(proc.files(), "a-rather-long-name").value().size(), 1u);
}

TEST(FindProcesses, that_are_all_zombies_say_so) {
  Proc proc;
  proc.add(3, "web", 'Z');
  EXPECT_EQ(find_processes(proc.files(), "web").error().code, ErrorCode::not_applicable);
}

TEST(IsAlive, is_false_for_a_zombie_and_for_a_pid_that_was_used_again) {
  Proc proc;
  proc.add(8, "x", 'S', 0, 1, 100);
  EXPECT_TRUE(is_alive(proc.files(), {8, 100}));
  EXPECT_FALSE(is_alive(proc.files(), {8, 99}));
  EXPECT_FALSE(is_alive(proc.files(), {9, 100}));
  proc.add(8, "x", 'Z', 0, 1, 100);
  EXPECT_FALSE(is_alive(proc.files(), {8, 100}));
  proc.add(8, "x", 'Z', 0, 2, 100);
  EXPECT_TRUE(is_alive(proc.files(), {8, 100})) << "other threads go on";
}

TEST(FindProcess, finds_this_test) {
  Process self = find_process(Files(), ::getpid()).value();
  EXPECT_EQ(self.id.pid, ::getpid());
  EXPECT_GT(self.id.start_ticks, 0u);
  EXPECT_TRUE(is_alive(Files(), self.id));
}

TEST(HadChildren, are_those_that_it_has_and_those_that_it_waited_for) {
  FakeTree tree;
  auto add = [&](int pid, int parent, int child_faults, char state = 'S') {
    tree.put(fmt::format("/proc/{}/stat", pid),
             fmt::format("{} (x) {} {} 1 1 0 -1 0 10 {} 0 0 1 1 0 0 20 0 1 0 100 4096 25\n", pid, state, parent,
                         child_faults));
  };
  add(7, 1, 0);
  add(8, 1, 0);
  add(9, 8, 0);
  add(10, 1, 5, 'Z');
  EXPECT_FALSE(has_had_children(tree.files(), {7, 100}));
  EXPECT_TRUE(has_had_children(tree.files(), {8, 100}));
  EXPECT_TRUE(has_had_children(tree.files(), {10, 100})) << "a zombie still tells";
  EXPECT_FALSE(has_had_children(tree.files(), {10, 99})) << "another process";
}

} // namespace
} // namespace hotset
