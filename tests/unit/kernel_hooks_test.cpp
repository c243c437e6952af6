// SPDX-License-Identifier: Apache-2.0
#include "kernel/hooks.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

#include "fake_tree.h"
#include "kernel/preemption.h"

namespace hotset {
namespace {

TEST(Hooks, have_names_and_programs_of_their_own) {
  std::set<std::string_view> names, programs;
  for (const Hook& hook : page_fault_hooks()) {
    EXPECT_TRUE(names.insert(hook.name).second) << hook.name;
    EXPECT_TRUE(programs.insert(hook.program).second) << hook.program;
    EXPECT_FALSE(hook.semantics.empty()) << hook.name;
  }
}

TEST(Hooks, are_found_by_name_and_only_by_it) {
  EXPECT_EQ(find_page_fault_hook("kprobe:handle_mm_fault")->program, "fault_kprobe");
  EXPECT_EQ(find_page_fault_hook("kprobe"), nullptr);
  EXPECT_EQ(find_page_fault_hook(""), nullptr);
}

TEST(Hooks, say_user_mode_only_just_where_kernel_mode_does_not_count) {
  for (const Hook& hook : page_fault_hooks())
    EXPECT_NE(hook.counts_kernel_mode, hook.semantics.starts_with("user mode only")) << hook.name;
}

TEST(Hooks, that_miss_faults_when_preempted_come_last_on_a_kernel_that_preempts_itself) {
  EXPECT_EQ(page_fault_hook_order(false).front()->name, "fexit:handle_mm_fault");
  std::vector<const Hook*> order = page_fault_hook_order(true);
  EXPECT_EQ(order.size(), page_fault_hooks().size());
  EXPECT_EQ(order.front()->name, "kprobe:handle_mm_fault");
  EXPECT_EQ(order.back()->name, "fentry:handle_mm_fault");
}

class Preemption : public testing::Test {
 protected:
  FakeTree tree_;
};

TEST_F(Preemption, is_on_in_modes_full_and_lazy_only) {
  for (std::string_view mode : {"(none) voluntary full\n", "none (voluntary) full\n"}) {
    tree_.put("/sys/kernel/debug/sched/preempt", mode);
    EXPECT_FALSE(preempts_itself(tree_.files())) << mode;
  }
  for (std::string_view mode : {"none voluntary (full)\n", "full (lazy)\n"}) {
    tree_.put("/sys/kernel/debug/sched/preempt", mode);
    EXPECT_TRUE(preempts_itself(tree_.files())) << mode;
  }
}

TEST_F(Preemption, is_known_from_the_build_where_the_mode_cannot_be_chosen) {
  tree_.put("/proc/sys/kernel/version", "#1 SMP Debian 5.10.262-1 (2026-10-01)\n");
  EXPECT_FALSE(preempts_itself(tree_.files()));
  tree_.put("/proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.192-3\n");
  EXPECT_TRUE(preempts_itself(tree_.files())) << "the mode could not be read: the safe side";
}

TEST_F(Preemption, is_assumed_where_nothing_tells) {
  EXPECT_TRUE(preempts_itself(tree_.files()));
}

} // namespace
} // namespace hotset
