// SPDX-License-Identifier: Apache-2.0
#include "guard/setup.h"

#include <gtest/gtest.h>

#include "fake_tree.h"

namespace hotset {
namespace {

TEST(GuardSetup, trusts_the_end_of_system_calls_up_to_the_kernels_that_preempt_programs_there) {
  for (const char* release : {"5.10.0-46-cloud-amd64", "6.1.0", "6.18.44-fc", "6.9"})
    EXPECT_TRUE(calls_are_all_seen(release)) << release;
  for (const char* release : {"6.19.0", "7.2.13+deb14-cloud-amd64", "10.0", "", "6", "six.1", "6."})
    EXPECT_FALSE(calls_are_all_seen(release)) << release;
}

TEST(GuardSetup, asks_for_bpf_among_the_security_modules_only_where_it_is_not) {
  FakeTree tree;
  tree.put("/sys/kernel/security/lsm", "lockdown,capability,landlock");
  EXPECT_EQ(enforcing_remedy(tree.files()), "boot with 'bpf' in lsm= (hotset doctor), or use --audit");
  tree.put("/sys/kernel/security/lsm", "lockdown,capability,landlock,bpf");
  EXPECT_EQ(enforcing_remedy(tree.files()).find("lsm="), std::string::npos);
}

TEST(GuardSetup, has_a_name_and_a_meaning_for_each_way) {
  for (unsigned way = 0; way < GUARD_TOPOLOGY_COUNT; ++way)
    EXPECT_LT(topology_name(way).size(), topology_text(way).size());
  EXPECT_EQ(topology_name(GUARD_TOPOLOGY_directories), "directories");
}

} // namespace
} // namespace hotset
