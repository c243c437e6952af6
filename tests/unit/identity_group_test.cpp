// SPDX-License-Identifier: Apache-2.0
// Who is in a tree or a cgroup, while its processes come and go.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "identity/group.h"
#include "unit/fake_tree.h"

namespace hotset {
namespace {

using ::testing::ElementsAre;

class GroupTest : public testing::Test {
 protected:
  void run(pid_t pid, pid_t parent, unsigned start = 100, char state = 'S', unsigned flags = 0,
           pid_t session = 1) const {
    tree.put(fmt::format("/proc/{}/stat", pid),
             fmt::format("{0} (a (b) {0}) {1} {2} 1 {5} 0 -1 {3} 10 20 0 0 1 1 0 0 20 0 1 0 {4} 4096 25\n", pid, state,
                         parent, flags, start, session));
    tree.put(fmt::format("/proc/{}/status", pid), fmt::format("Name:\ta\nTgid:\t{}\n", pid));
  }
  void end(pid_t pid) const { tree.remove(fmt::format("/proc/{}", pid)); }
  std::vector<pid_t> look(Group& group) {
    roll = group.look_up(tree.files()).value();
    std::vector<pid_t> pids;
    for (const Member& member : roll.members)
      pids.push_back(member.id.pid);
    return pids;
  }
  FakeTree tree;
  Roll roll;
};

TEST_F(GroupTest, tree_is_a_process_with_all_that_descend_from_it) {
  run(1, 0);
  run(10, 1);
  run(5, 10); // pids wrap: a child's can be lower
  run(12, 5);
  run(13, 1);
  std::unique_ptr<Group> group = find_tree(tree.files(), 10).value();
  EXPECT_THAT(look(*group), ElementsAre(5, 10, 12));
  EXPECT_EQ(roll.members[0].rss_pages, 25U);
  EXPECT_EQ(roll.members[0].child_faults, 20U);
  const Process* root = group->root();
  ASSERT_NE(root, nullptr);
  EXPECT_EQ(root->id.pid, 10);
  EXPECT_EQ(group->describe(), "the tree of 10 (a (b) 10)");
}

TEST_F(GroupTest, tree_keeps_those_that_init_adopted_even_without_its_root) {
  run(1, 0);
  run(10, 1);
  run(11, 10);
  run(12, 11);
  std::unique_ptr<Group> group = find_tree(tree.files(), 10).value();
  look(*group);
  end(10);
  end(11);
  run(12, 1);
  run(14, 12);
  EXPECT_THAT(look(*group), ElementsAre(12, 14));
}

// (sleep 60 &) in a shell: who stood between them ended before we could look.
TEST_F(GroupTest, tree_takes_in_an_orphan_that_is_in_the_session_of_a_member) {
  run(1, 0);
  run(10, 1);
  run(11, 10, 100, 'S', 0, 11); // leads a session
  run(12, 1, 100, 'S', 0, 11);
  run(13, 12, 100, 'S', 0, 13);
  run(14, 1, 100, 'S', 0, 14); // a daemon of its own
  std::unique_ptr<Group> group = find_tree(tree.files(), 10).value();
  EXPECT_THAT(look(*group), ElementsAre(10, 11, 12, 13));
}

TEST_F(GroupTest, tree_does_not_take_in_the_session_that_its_root_is_only_part_of) {
  run(1, 0);
  run(9, 1, 100, 'S', 0, 9);
  run(10, 9, 100, 'S', 0, 9);
  run(15, 9, 100, 'S', 0, 9);
  std::unique_ptr<Group> group = find_tree(tree.files(), 10).value();
  EXPECT_THAT(look(*group), ElementsAre(10));
}

TEST_F(GroupTest, tree_does_not_take_in_who_was_given_a_members_pid) {
  run(1, 0);
  run(10, 1);
  run(11, 10);
  std::unique_ptr<Group> group = find_tree(tree.files(), 10).value();
  look(*group);
  run(11, 1, 200);
  EXPECT_THAT(look(*group), ElementsAre(10));
}

TEST_F(GroupTest, leaves_out_zombies_kernel_threads_and_ourselves) {
  run(1, 0);
  run(10, 1);
  run(11, 10, 100, 'Z');
  run(12, 11); // below a zombie
  run(13, 10, 100, 'S', 0x00200000);
  run(::getpid(), 10);
  std::unique_ptr<Group> group = find_tree(tree.files(), 10).value();
  EXPECT_THAT(look(*group), ElementsAre(10, 12));
  EXPECT_TRUE(roll.ourselves);
}

TEST_F(GroupTest, that_all_have_left_is_empty_and_no_error) {
  run(1, 0);
  run(10, 1);
  std::unique_ptr<Group> group = find_tree(tree.files(), 10).value();
  end(10);
  EXPECT_TRUE(look(*group).empty());
}

TEST_F(GroupTest, cgroup_counts_who_is_hidden_and_passes_over_who_has_ended) {
  tree.put("/proc/self/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n");
  tree.put("/sys/fs/cgroup/a/cgroup.procs", "0\n10\n11\n");
  run(10, 1);
  std::unique_ptr<Group> group = find_cgroup(tree.files(), "/a").value();
  EXPECT_THAT(look(*group), ElementsAre(10));
  EXPECT_EQ(roll.hidden, 1U);
  const Cgroup* cgroup = group->cgroup();
  ASSERT_NE(cgroup, nullptr);
  EXPECT_EQ(cgroup->path(), "/a");
}

TEST_F(GroupTest, cgroup_without_processes_has_nothing_to_measure) {
  tree.put("/proc/self/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n");
  tree.put("/sys/fs/cgroup/a/cgroup.procs", "");
  Result<std::unique_ptr<Group>> group = find_cgroup(tree.files(), "/a");
  ASSERT_FALSE(group);
  EXPECT_EQ(group.error().code, ErrorCode::not_applicable);
  EXPECT_THAT(to_sentence(group.error()), testing::HasSubstr("nothing to measure"));
  tree.put("/sys/fs/cgroup/a/cgroup.procs", "0\n");
  EXPECT_THAT(to_sentence(find_cgroup(tree.files(), "/a").error()), testing::HasSubstr("PID namespace"));
}

} // namespace
} // namespace hotset
