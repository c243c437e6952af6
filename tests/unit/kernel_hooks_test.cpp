// SPDX-License-Identifier: Apache-2.0
#include "kernel/hooks.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

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

} // namespace
} // namespace hotset
