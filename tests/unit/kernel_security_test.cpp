// SPDX-License-Identifier: Apache-2.0
#include "kernel/security.h"

#include <gtest/gtest.h>

#include "fake_tree.h"
#include "kernel/privileges.h"

namespace hotset {
namespace {

// As an unprivileged process, a root without CAP_SYS_RESOURCE, and a process with the two BPF capabilities show them.
constexpr std::string_view kNobody = "Name:\thotset\nCapEff:\t0000000000000000\nSeccomp:\t0\n";
constexpr std::string_view kRoot = "Name:\thotset\nCapEff:\t000001fffeffffff\nSeccomp:\t2\n";
constexpr std::string_view kBpfOnly = "Name:\thotset\nCapEff:\t000000c000000000\nSeccomp:\t0\n";

Privileges with_status(std::string_view status) {
  FakeTree tree;
  tree.put("/proc/self/status", status);
  tree.put("/proc/self/uid_map", "         0          0 4294967295\n");
  return read_privileges(tree.files());
}

TEST(Privileges, of_nobody_lack_both_bpf_capabilities) {
  Privileges privileges = with_status(kNobody);
  EXPECT_EQ(privileges.missing, (std::vector<std::string>{"CAP_BPF", "CAP_PERFMON"}));
  EXPECT_FALSE(privileges.has(Capability::sys_ptrace));
}

TEST(Privileges, of_root_are_told_one_by_one) {
  Privileges privileges = with_status(kRoot);
  EXPECT_TRUE(privileges.missing.empty());
  EXPECT_TRUE(privileges.has(Capability::sys_admin));
  EXPECT_FALSE(privileges.has(Capability::sys_resource));
  EXPECT_TRUE(privileges.seccomp_filter);
  EXPECT_FALSE(privileges.user_namespace);
}

TEST(Privileges, without_sys_admin_two_capabilities_do) {
  EXPECT_TRUE(with_status(kBpfOnly).missing.empty());
}

TEST(Privileges, a_uid_map_that_is_not_the_identity_is_a_user_namespace) {
  FakeTree tree;
  tree.put("/proc/self/status", kRoot);
  tree.put("/proc/self/uid_map", "         0       1000          1\n");
  EXPECT_TRUE(read_privileges(tree.files()).user_namespace);
}

TEST(Lockdown, is_the_mode_in_brackets) {
  EXPECT_EQ(parse_lockdown("[none] integrity confidentiality\n"), "none");
  EXPECT_EQ(parse_lockdown("none integrity [confidentiality]\n"), "confidentiality");
  EXPECT_EQ(parse_lockdown("]none["), "");
}

TEST(LsmList, is_split_at_commas) {
  EXPECT_EQ(parse_lsm_list("capability,landlock,bpf"), (std::vector<std::string>{"capability", "landlock", "bpf"}));
  EXPECT_EQ(parse_lsm_list("capability\n"), std::vector<std::string>{"capability"});
  EXPECT_TRUE(parse_lsm_list("").empty());
}

TEST(Securityfs, of_a_recorded_tree_never_falls_back_to_the_running_kernel) {
  FakeTree tree;
  EXPECT_FALSE(read_securityfs(tree.files(), "lsm"));
  tree.put("/sys/kernel/security/lsm", "capability");
  EXPECT_EQ(read_securityfs(tree.files(), "lsm").value(), "capability");
  EXPECT_EQ(read_securityfs(tree.files(), "lockdown").error().code, ErrorCode::not_found);
}

} // namespace
} // namespace hotset
