// SPDX-License-Identifier: Apache-2.0
// Doctor's checks that read files, on recorded trees. Those that try the kernel itself are in tests/kernel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "app/doctor.h"
#include "app/doctor_probes.h"
#include "fake_tree.h"

namespace hotset {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kAllCapabilities = ~std::uint64_t{0};

struct Fake {
  FakeTree tree;
  Machine machine{tree.files(), {}, {}, "6.1.0", "x86_64"};

  Fake() { machine.privileges.effective = kAllCapabilities; }
  void mounts(std::string_view text) { machine.mounts = parse_mounts(text); }
  void become_nobody() {
    machine.privileges.effective = 0;
    machine.privileges.missing = {"CAP_BPF", "CAP_PERFMON"};
  }
};

void expect_obstacle(const Finding& finding, Barrier barrier, std::string_view cause) {
  EXPECT_FALSE(finding.ok());
  EXPECT_EQ(barrier_name(finding.barrier), barrier_name(barrier)) << finding.cause;
  EXPECT_THAT(finding.cause, HasSubstr(std::string(cause)));
  EXPECT_NE(finding.remedy, "");
}

TEST(DoctorCgroup, tells_v1_v2_and_hybrid_apart_and_finds_the_memory_controller) {
  Fake fake;
  fake.mounts("c /sys/fs/cgroup/memory cgroup rw,memory 0 0\n");
  EXPECT_EQ(check_cgroup_version(fake.machine).detail, "v1");
  EXPECT_EQ(check_cgroup_memory(fake.machine).detail, "on cgroup v1 at /sys/fs/cgroup/memory");

  fake.mounts("c2 /sys/fs/cgroup cgroup2 rw 0 0\n");
  fake.tree.put("/sys/fs/cgroup/cgroup.controllers", "cpu io memory pids\n");
  EXPECT_EQ(check_cgroup_version(fake.machine).detail, "v2 at /sys/fs/cgroup");
  EXPECT_EQ(check_cgroup_memory(fake.machine).detail, "on cgroup v2 at /sys/fs/cgroup");

  fake.mounts("c /cg/mem cgroup rw,memory 0 0\nc2 /cg/unified cgroup2 rw 0 0\n");
  EXPECT_EQ(check_cgroup_version(fake.machine).detail, "hybrid: v1, and v2 at /cg/unified");
  EXPECT_EQ(check_cgroup_memory(fake.machine).detail, "on cgroup v1 at /cg/mem");
}

TEST(DoctorCgroup, a_hierarchy_without_the_memory_controller_is_an_obstacle) {
  Fake fake;
  fake.mounts("c2 /sys/fs/cgroup cgroup2 rw 0 0\n");
  fake.tree.put("/sys/fs/cgroup/cgroup.controllers", "cpu io memory_not pids\n");
  expect_obstacle(check_cgroup_memory(fake.machine), Barrier::disabled, "memory controller");
}

TEST(DoctorCgroup, not_mounted_and_not_in_the_kernel_are_told_apart) {
  Fake fake;
  expect_obstacle(check_cgroup_version(fake.machine), Barrier::kernel, "no control groups");
  fake.tree.put("/proc/filesystems", "nodev\tcgroup\nnodev\tcgroup2\n");
  expect_obstacle(check_cgroup_version(fake.machine), Barrier::not_mounted, "mounted");
}

TEST(DoctorPsi, is_read_and_its_absence_is_told) {
  Fake fake;
  expect_obstacle(check_psi(fake.machine), Barrier::disabled, "off, or not in this kernel");
  fake.tree.put("/proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\nfull …\n");
  EXPECT_TRUE(check_psi(fake.machine).ok());
  fake.tree.put("/proc/pressure/memory", "");
  expect_obstacle(check_psi(fake.machine), Barrier::kernel, "form");
}

TEST(DoctorMounts, not_mounted_and_not_in_the_kernel_are_told_apart) {
  Fake fake;
  Finding absent = check_mount(fake.machine, "tracefs", "/sys/kernel/tracing");
  expect_obstacle(absent, Barrier::kernel, "tracefs");
  fake.tree.put("/proc/filesystems", "nodev\ttracefs\n");
  Finding unmounted = check_mount(fake.machine, "tracefs", "/sys/kernel/tracing");
  expect_obstacle(unmounted, Barrier::not_mounted, "tracefs");
  EXPECT_EQ(unmounted.remedy, "mount -t tracefs tracefs /sys/kernel/tracing");
}

TEST(DoctorMounts, are_looked_at_where_they_really_are) {
  Fake fake;
  fake.tree.put("/my trace/README", "");
  fake.mounts("nodev /my\\040trace tracefs rw 0 0\n");
  EXPECT_EQ(check_mount(fake.machine, "tracefs", "/sys/kernel/tracing").detail, "/my trace");
}

TEST(DoctorProc, that_hides_processes_needs_a_capability) {
  Fake fake;
  fake.mounts("proc /proc proc rw,hidepid=invisible 0 0\n");
  EXPECT_TRUE(check_proc(fake.machine).ok());
  fake.become_nobody();
  expect_obstacle(check_proc(fake.machine), Barrier::privilege, "hidepid");
  fake.mounts("proc /proc proc rw,hidepid=0 0 0\n");
  EXPECT_TRUE(check_proc(fake.machine).ok());
}

TEST(DoctorLockdown, only_confidentiality_is_an_obstacle) {
  Fake fake;
  fake.tree.put("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
  EXPECT_EQ(check_lockdown(fake.machine).detail, "mode integrity");
  fake.tree.put("/sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
  expect_obstacle(check_lockdown(fake.machine), Barrier::lockdown, "confidentiality");
}

TEST(DoctorLsmList, without_bpf_says_the_boot_parameter) {
  Fake fake;
  fake.tree.put("/sys/kernel/security/lsm", "capability,landlock,yama");
  Finding finding = check_lsm_list(fake.machine);
  expect_obstacle(finding, Barrier::disabled, "'bpf' is not among the active ones");
  EXPECT_EQ(finding.remedy, "boot with lsm=capability,landlock,yama,bpf");
  fake.tree.put("/sys/kernel/security/lsm", "capability,bpf");
  EXPECT_TRUE(check_lsm_list(fake.machine).ok());
}

TEST(DoctorSysctls, concern_only_those_without_the_capability) {
  Fake fake;
  fake.tree.put("/proc/sys/kernel/unprivileged_bpf_disabled", "2\n");
  fake.tree.put("/proc/sys/kernel/perf_event_paranoid", "3\n");
  EXPECT_TRUE(check_unprivileged_bpf(fake.machine).ok());
  EXPECT_TRUE(check_perf_event_paranoid(fake.machine).ok());
  fake.become_nobody();
  expect_obstacle(check_unprivileged_bpf(fake.machine), Barrier::privilege, "is 2");
  expect_obstacle(check_perf_event_paranoid(fake.machine), Barrier::privilege, "is 3");
  fake.tree.put("/proc/sys/kernel/perf_event_paranoid", "-1\n");
  EXPECT_TRUE(check_perf_event_paranoid(fake.machine).ok());
}

TEST(DoctorCapabilities, held_in_a_user_namespace_alone_do_not_count) {
  Fake fake;
  EXPECT_TRUE(check_capability(fake.machine, Capability::bpf).ok());
  fake.machine.privileges.user_namespace = true;
  expect_obstacle(check_capability(fake.machine, Capability::bpf), Barrier::environment, "CAP_BPF");
}

TEST(DoctorCapabilities, sys_admin_covers_the_newer_ones) {
  Fake fake;
  fake.machine.privileges.effective = std::uint64_t{1} << static_cast<unsigned>(Capability::sys_admin);
  EXPECT_TRUE(check_capability(fake.machine, Capability::bpf).ok());
  expect_obstacle(check_capability(fake.machine, Capability::sys_ptrace), Barrier::privilege, "CAP_SYS_PTRACE");
}

TEST(DoctorPidNamespace, that_is_nested_is_told) {
  Fake fake;
  std::filesystem::create_directories(fake.tree.root() + "/proc/self/ns");
  std::filesystem::create_symlink("pid:[4026532198]", fake.tree.root() + "/proc/self/ns/pid");
  EXPECT_THAT(check_pid_namespace(fake.machine).detail, HasSubstr("nested"));
}

TEST(DoctorReference, files_that_a_kernel_lacks_are_told_with_the_option_that_gives_them) {
  Fake fake;
  Finding clear = check_clear_refs(fake.machine);
  expect_obstacle(clear, Barrier::kernel, "No such file");
  EXPECT_THAT(clear.remedy, HasSubstr("CONFIG_PROC_PAGE_MONITOR"));
  expect_obstacle(check_idle_bitmap(fake.machine), Barrier::kernel, "idle page tracking");
  expect_obstacle(check_damon(fake.machine), Barrier::kernel, "DAMON");
}

TEST(DoctorReference, smaps_must_tell_what_was_referenced) {
  Fake fake;
  fake.tree.put("/proc/self/smaps_rollup", "00400000-7fff000 ---p 0 00:00 0 [rollup]\nRss: 4 kB\nReferenced: 4 kB\n");
  EXPECT_TRUE(check_smaps_rollup(fake.machine).ok());
  fake.tree.put("/proc/self/smaps", "Rss: 4 kB\n");
  expect_obstacle(check_smaps(fake.machine), Barrier::kernel, "referenced");
}

TEST(DoctorDamon, that_somebody_else_uses_is_left_alone) {
  Fake fake;
  fake.tree.put("/sys/kernel/mm/damon/admin/kdamonds/nr_kdamonds", "0\n");
  EXPECT_TRUE(check_damon(fake.machine).ok());
  fake.tree.put("/sys/kernel/mm/damon/admin/kdamonds/nr_kdamonds", "1\n");
  fake.tree.put("/sys/kernel/mm/damon/admin/kdamonds/0/state", "on\n");
  fake.tree.put("/sys/kernel/mm/damon/admin/kdamonds/0/contexts/0/operations", "paddr\n");
  expect_obstacle(check_damon(fake.machine), Barrier::in_use, "1 kdamond (the first is on, monitoring paddr)");
}

TEST(DoctorBtf, missing_and_damaged_are_told_apart) {
  Fake fake;
  expect_obstacle(check_btf(fake.machine), Barrier::kernel, "carries no type information");
  fake.machine.privileges.sysfs = false;
  expect_obstacle(check_btf(fake.machine), Barrier::not_mounted, "/sys is not mounted");
  fake.machine.privileges.sysfs = true;
  fake.tree.put("/sys/kernel/btf/vmlinux", "\x9f\xeb\x01 cut");
  expect_obstacle(check_btf(fake.machine), Barrier::kernel, "not valid");
  fake.tree.put("/sys/kernel/btf/vmlinux", "");
  expect_obstacle(check_btf(fake.machine), Barrier::kernel, "not valid");
}

TEST(DoctorCensus, is_not_for_other_architectures) {
  Fake fake;
  fake.machine.arch = "aarch64";
  EXPECT_EQ(check_census(fake.machine).state, Finding::State::not_applicable);
}

TEST(DoctorChecks, have_names_of_their_own_and_a_purpose) {
  std::set<std::string_view> names;
  for (const Check& check : doctor_checks()) {
    EXPECT_TRUE(names.insert(check.name).second) << check.name;
    EXPECT_NE(check.name.find('.'), std::string_view::npos) << check.name;
    EXPECT_FALSE(check.purpose.empty()) << check.name;
  }
}

TEST(DoctorChecks, stand_in_the_documentation_as_they_are) {
  constexpr std::string_view kBegin = "<!-- checks: begin -->\n", kEnd = "<!-- checks: end -->";
  const std::string path = HOTSET_SOURCE_DIR "/docs/doctor.md";
  std::string text = Files().read(path).value();
  std::size_t begin = text.find(kBegin), end = text.find(kEnd);
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  begin += kBegin.size();
  if (std::getenv("HOTSET_UPDATE_GOLDENS") != nullptr) {
    text.replace(begin, end - begin, doctor_table());
    ASSERT_TRUE(replace_file(path, text));
    return;
  }
  EXPECT_EQ(text.substr(begin, end - begin), doctor_table())
      << "to update: HOTSET_UPDATE_GOLDENS=1 build/hotset_unit_tests --gtest_filter='DoctorChecks.*'";
}

} // namespace
} // namespace hotset
