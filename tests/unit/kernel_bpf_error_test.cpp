// SPDX-License-Identifier: Apache-2.0
// The texts are libbpf's own, recorded on kernels 5.10 to 6.18.
#include "kernel/bpf_error.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "kernel/security.h"

namespace hotset {
namespace {

constexpr std::string_view kRefused =
    "libbpf: prog 'fault_fexit': BPF program load failed: Operation not permitted\n"
    "libbpf: permission error while running as root; try raising 'ulimit -l'? current value: 8.0 MiB\n"
    "libbpf: prog 'fault_fexit': failed to load: -1\n"
    "libbpf: failed to load object 'fault_bpf'\n";

Privileges all() {
  return {
      .missing = {}, .user_namespace = false, .seccomp_filter = false, .lockdown = "none", .type_information = true};
}

Error convert(int number, std::string_view log, const Privileges& privileges) {
  return bpf_error(number, "load", "the program", log, privileges);
}

TEST(BpfError, without_capabilities_names_them_and_not_the_memory_limit) {
  Privileges user = all();
  user.missing = {"CAP_BPF", "CAP_PERFMON"};
  Error error = convert(-EPERM, kRefused, user);
  EXPECT_EQ(error.code, ErrorCode::permission);
  EXPECT_EQ(to_sentence(error),
            "cannot load the program: the capabilities CAP_BPF, CAP_PERFMON are missing; run as root");
}

TEST(BpfError, with_every_capability_it_is_the_kernel_that_refuses) {
  Error error = convert(-EPERM, kRefused, all());
  EXPECT_EQ(error.code, ErrorCode::unsupported);
  EXPECT_NE(error.cause.find("refuses programs of this kind"), std::string::npos) << error.cause;
  EXPECT_EQ(to_sentence(error).find("ulimit"), std::string::npos);
}

TEST(BpfError, tells_lockdown_user_namespace_and_seccomp_apart) {
  Privileges locked = all(), rootless = all(), filtered = all();
  locked.lockdown = "confidentiality";
  rootless.user_namespace = true;
  filtered.seccomp_filter = true;
  EXPECT_NE(convert(EPERM, "", locked).cause.find("lockdown"), std::string::npos);
  EXPECT_NE(convert(EPERM, "", rootless).cause.find("user namespace"), std::string::npos);
  EXPECT_NE(convert(EPERM, "", filtered).cause.find("seccomp"), std::string::npos);
}

TEST(BpfError, without_type_information_says_so) {
  constexpr std::string_view kLog = "libbpf: failed to find valid kernel BTF\nlibbpf: Error loading vmlinux BTF: -3\n";
  Privileges without = all();
  without.type_information = false;
  Error error = convert(-ESRCH, kLog, without);
  EXPECT_EQ(error.code, ErrorCode::unsupported);
  EXPECT_NE(error.cause.find("BTF"), std::string::npos);
  EXPECT_NE(error.remedy.find("CONFIG_DEBUG_INFO_BTF"), std::string::npos);
  // It is there, and a memory limit keeps libbpf from loading it.
  error = convert(-ESRCH, kLog, all());
  EXPECT_EQ(error.code, ErrorCode::internal);
  EXPECT_NE(error.remedy.find("memory limit"), std::string::npos);
}

TEST(BpfError, without_sysfs_does_not_say_that_the_kernel_has_no_type_information) {
  Privileges unmounted = all();
  unmounted.sysfs = unmounted.type_information = false;
  for (const char* log : {"libbpf: Error loading vmlinux BTF: -3\n", ""}) {
    Error error = convert(-ESRCH, log, unmounted);
    EXPECT_EQ(error.code, ErrorCode::unsupported);
    EXPECT_EQ(error.cause.find("/sys is not mounted"), 0U) << error.cause;
    EXPECT_EQ(error.remedy, "mount -t sysfs sysfs /sys");
  }
}

TEST(BpfError, of_an_absent_function_says_that_the_kernel_has_none) {
  Error error = convert(
      -ESRCH, "libbpf: prog 'fault_fentry': failed to find kernel BTF type ID of 'handle_mm_fault': -3\n", all());
  EXPECT_EQ(error.cause, "this kernel has no such function or tracepoint");
}

TEST(BpfError, tells_no_kprobes_from_no_such_function) {
  Error none =
      convert(ENOENT,
              "libbpf: failed to add legacy kprobe event for 'handle_mm_fault+0x0': No such file or directory\n"
              "libbpf: prog 'fault_kprobe': failed to create kprobe 'handle_mm_fault+0x0' perf event: No such "
              "file or directory\n",
              all());
  EXPECT_EQ(none.cause, "this kernel has no kprobes");
  Error inlined = convert(ENOENT,
                          "libbpf: prog 'fault_kprobe_internal': failed to create kprobe '__handle_mm_fault+0x0' perf "
                          "event: No such file or directory\n",
                          all());
  EXPECT_NE(inlined.cause.find("no such function"), std::string::npos);
}

TEST(BpfError, quotes_the_one_line_of_the_verifier_that_counts) {
  std::string_view log =
      "libbpf: prog 'p': BPF program load failed: Permission denied\n"
      "libbpf: prog 'p': -- BEGIN PROG LOAD LOG --\n"
      "0: R1=ctx(off=0,imm=0) R10=fp0\n"
      "; int p(void *ctx)\n"
      "1: (61) r0 = *(u32 *)(r1 +4096)\n"
      "invalid bpf_context access off=4096 size=4\n"
      "processed 2 insns (limit 1000000) max_states_per_insn 0 total_states 0 peak_states 0 mark_read 0\n"
      "-- END PROG LOAD LOG --\n"
      "libbpf: prog 'p': failed to load: -13\n";
  EXPECT_EQ(verifier_reason(log), "invalid bpf_context access off=4096 size=4");
  Error error = convert(-EACCES, log, all());
  EXPECT_EQ(error.code, ErrorCode::unsupported);
  EXPECT_NE(error.cause.find("invalid bpf_context access"), std::string::npos);
}

TEST(BpfError, of_a_missing_helper_asks_for_a_newer_kernel) {
  Error error = convert(-EINVAL,
                        "-- BEGIN PROG LOAD LOG --\ninvalid func unknown#181\n"
                        "processed 0 insns\n-- END PROG LOAD LOG --\n",
                        all());
  EXPECT_EQ(error.remedy, "use a newer kernel");
}

TEST(BpfError, of_a_callback_that_an_old_kernel_does_not_know_names_bpf_loop) {
  Error error =
      convert(-EINVAL,
              "libbpf: prog 'probe_loop': BPF program load failed: Invalid argument\n"
              "libbpf: prog 'probe_loop': -- BEGIN PROG LOAD LOG --\n"
              "number of funcs in func_info doesn't match number of subprogs\n"
              "processed 0 insns (limit 1000000) max_states_per_insn 0 total_states 0 peak_states 0 mark_read 0\n"
              "-- END PROG LOAD LOG --\n",
              all());
  EXPECT_EQ(error.code, ErrorCode::unsupported);
  EXPECT_NE(error.cause.find("bpf_loop"), std::string::npos) << error.cause;
}

TEST(BpfError, has_no_reason_of_the_verifier_where_it_said_nothing) {
  EXPECT_EQ(verifier_reason("libbpf: something else\n"), "");
  EXPECT_EQ(verifier_reason("-- BEGIN PROG LOAD LOG --\n"), "");
}

TEST(Lockdown, is_the_word_in_brackets) {
  EXPECT_EQ(parse_lockdown("none [integrity] confidentiality\n"), "integrity");
  EXPECT_EQ(parse_lockdown("none integrity confidentiality\n"), "");
  EXPECT_EQ(parse_lockdown(""), "");
}

} // namespace
} // namespace hotset
