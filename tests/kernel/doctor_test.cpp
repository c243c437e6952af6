// SPDX-License-Identifier: Apache-2.0
// Doctor on the kernel that runs here: it agrees with independent evidence, and leaves nothing behind.
#include <bpf/bpf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <thread>

#include "app/doctor.h"
#include "kernel/bpf_probes.h"
#include "kernel/private_mount.h"

namespace hotset {
namespace {

std::string slurp(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

const DoctorReport& report() {
  static const DoctorReport kReport = run_doctor(Files());
  return kReport;
}

const Finding& finding(std::string_view name) {
  auto check = std::ranges::find(report().checks, name, &CheckResult::name);
  EXPECT_NE(check, report().checks.end()) << name;
  return check->finding;
}

// How many of the kernel's objects bear a name that begins like those of our probes. Other programs' come and go.
template <class Info>
std::size_t count_probes(int (*next)(__u32, __u32*), int (*open)(__u32)) {
  std::size_t count = 0;
  for (__u32 id = 0; next(id, &id) == 0;) {
    Fd object(open(id));
    Info info{};
    __u32 size = sizeof(info);
    if (!object || bpf_obj_get_info_by_fd(object.get(), &info, &size) != 0) continue;
    if (std::string_view(info.name).starts_with("probe_")) ++count;
  }
  return count;
}

std::size_t probes_in_the_kernel() {
  return count_probes<bpf_prog_info>(bpf_prog_get_next_id, bpf_prog_get_fd_by_id) +
         count_probes<bpf_map_info>(bpf_map_get_next_id, bpf_map_get_fd_by_id);
}

std::size_t open_descriptors() {
  auto entries = std::filesystem::directory_iterator("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

class DoctorOnThisKernel : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  }
};

TEST_F(DoctorOnThisKernel, every_check_that_is_not_ok_says_cause_and_remedy) {
  for (const CheckResult& check : report().checks) {
    const Finding& finding = check.finding;
    std::cout << check.name << ": " << (finding.ok() ? "ok " + finding.detail : finding.cause + "; " + finding.remedy)
              << '\n';
    if (finding.ok()) continue;
    EXPECT_NE(finding.cause, "") << check.name;
    EXPECT_NE(finding.remedy, "") << check.name;
    EXPECT_EQ(finding.cause.find("ulimit -l;"), std::string::npos) << check.name;
  }
}

TEST_F(DoctorOnThisKernel, a_kprobe_is_ok_only_where_tracefs_offers_kprobes) {
  Result<Fd> tracefs = private_mount("tracefs");
  if (!tracefs) GTEST_SKIP() << to_sentence(tracefs.error());
  bool offered = ::faccessat(tracefs->get(), "kprobe_events", F_OK, 0) == 0;
  if (finding("hook.kprobe").ok()) {
    EXPECT_TRUE(offered);
  } else if (!offered) {
    EXPECT_THAT(finding("hook.kprobe").cause, ::testing::HasSubstr("no kprobes"));
  }
}

TEST_F(DoctorOnThisKernel, a_tracepoint_is_ok_only_where_tracefs_lists_it) {
  Result<Fd> tracefs = private_mount("tracefs");
  if (!tracefs) GTEST_SKIP() << to_sentence(tracefs.error());
  bool listed = ::faccessat(tracefs->get(), "events/exceptions/page_fault_user/id", F_OK, 0) == 0;
  EXPECT_EQ(finding("hook.tracepoint").ok(), listed) << finding("hook.tracepoint").cause;
  EXPECT_EQ(finding("hook.raw_tp").ok(), listed) << finding("hook.raw_tp").cause;
}

TEST_F(DoctorOnThisKernel, hooks_on_a_function_are_ok_only_where_the_kernel_shows_it) {
  std::string symbols = slurp("/proc/kallsyms");
  if (symbols.find(" T handle_mm_fault\n") != std::string::npos) return; // then it depends on more than the symbol
  EXPECT_FALSE(finding("hook.fexit").ok());
  EXPECT_FALSE(finding("hook.fentry").ok());
}

TEST_F(DoctorOnThisKernel, features_agree_with_the_names_in_kallsyms) {
  // The kernel function without which a feature cannot be. The converse does not hold: it may be locked down.
  const std::map<std::string_view, std::string_view> needs{
      {"bpf.loop", " bpf_loop\n"},
      {"bpf.iter_task_vma", " bpf_iter_task_vma\n"},
      {"bpf.lsm", " bpf_lsm_task_getscheduler\n"},
      {"map.ringbuf", " bpf_ringbuf_output\n"},
      {"reference.clear_refs", " clear_refs_write\n"},
      {"reference.idle_bitmap", " page_idle_bitmap_read\n"},
  };
  std::string symbols = slurp("/proc/kallsyms");
  if (symbols.find(" clear_refs_write") == std::string::npos) GTEST_SKIP() << "/proc/kallsyms shows no local names";
  for (auto [check, symbol] : needs)
    EXPECT_TRUE(!finding(check).ok() || symbols.find(symbol) != std::string::npos) << check;
}

TEST_F(DoctorOnThisKernel, a_census_is_ok_only_where_its_parts_are) {
  if (!finding("reference.census").ok()) return;
  for (std::string_view part : {"bpf.loop", "bpf.iter_task_vma", "bpf.kernel_read", "map.mmapable"})
    EXPECT_TRUE(finding(part).ok()) << part;
}

TEST_F(DoctorOnThisKernel, memory_needs_no_memlock_where_a_map_was_made_without) {
  if (finding("map.memlock").ok() && !finding("privilege.sys_resource").ok()) {
    EXPECT_EQ(finding("privilege.sys_resource").state, Finding::State::not_applicable);
  }
}

TEST_F(DoctorOnThisKernel, an_unmounted_securityfs_hides_neither_lockdown_nor_the_modules) {
  if (std::filesystem::exists("/sys/kernel/security/lsm")) {
    EXPECT_THAT(finding("kernel.lsm_list").cause + finding("kernel.lsm_list").detail,
                ::testing::HasSubstr(slurp("/sys/kernel/security/lsm")));
  } else if (private_mount("securityfs")) {
    EXPECT_NE(finding("kernel.lockdown").barrier, Barrier::not_mounted);
    EXPECT_NE(finding("kernel.lsm_list").barrier, Barrier::not_mounted);
  }
}

TEST_F(DoctorOnThisKernel, leaves_no_program_map_link_descriptor_or_mount) {
  run_doctor(Files()); // what libraries keep after their first use is not of interest
  std::size_t descriptors = open_descriptors();
  std::string mounts = slurp("/proc/self/mounts");
  run_doctor(Files());
  EXPECT_EQ(open_descriptors(), descriptors);
  EXPECT_EQ(slurp("/proc/self/mounts"), mounts);
  // The kernel frees programs a grace period after their last user is gone: it is asked again for a while.
  for (int i = 0; i < 200 && probes_in_the_kernel() != 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(probes_in_the_kernel(), 0u);
}

TEST_F(DoctorOnThisKernel, leaves_the_limit_of_locked_memory_as_it_was) {
  std::string before = slurp("/proc/self/limits");
  (void)try_map_without_memlock().has_value();
  EXPECT_EQ(slurp("/proc/self/limits"), before);
}

// bpf(2) fails with EPERM from here on, as under a container's default profile.
bool forbid_bpf() {
  std::array filter{
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 0, 1),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program{filter.size(), filter.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST_F(DoctorOnThisKernel, a_seccomp_filter_is_blamed_and_not_the_kernel) {
  constexpr int kNoSeccomp = 77;
  pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (!forbid_bpf()) ::_exit(kNoSeccomp);
    int wrong = 0;
    for (const CheckResult& check : run_doctor(Files()).checks)
      if (check.part == Part::fault_hook && check.finding.barrier != Barrier::environment) ++wrong;
    ::_exit(wrong);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNoSeccomp) GTEST_SKIP() << "this kernel has no seccomp filters";
  EXPECT_EQ(WEXITSTATUS(status), 0) << "hooks whose refusal was put down to something else";
}

} // namespace
} // namespace hotset
