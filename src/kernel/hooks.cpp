// SPDX-License-Identifier: Apache-2.0
#include "kernel/hooks.h"

#include <algorithm>
#include <array>

namespace hotset {
namespace {

// The exit of handle_mm_fault comes first, for it sees the result and so counts exactly what /proc/PID/stat counts
// (mm_account_fault, Linux 5.9); but trampolines (fentry, fexit) run with preemption enabled, and on a kernel that
// preempts itself 527 of 19,523 faults of four threads were skipped (7.2, emulated), so there they come last. The
// user-mode tracepoints leave out the faults that the kernel takes on behalf of the process, copy_to_user above all;
// they are still preferred to the software event, which sees CPUs online at the start only.
constexpr std::string_view kExit = "user and kernel mode; completed faults, as /proc/PID/stat counts them";
constexpr std::string_view kEntry =
    "user and kernel mode; calls, so that failed faults count and one begun again under the mmap lock counts twice";
constexpr std::string_view kInternal =
    "user and kernel mode, without hugetlb; calls, so that failed faults count and one begun again under the mmap lock "
    "counts twice";
constexpr std::string_view kUserMode = "user mode only; failed faults (SIGSEGV) count too";
constexpr std::string_view kSoftware =
    "user and kernel mode; failed faults (SIGSEGV) count too; only on CPUs that were online at the start";

constexpr std::array kPageFaultHooks{
    Hook{"fexit:handle_mm_fault", "fault_fexit", Attach::fexit, "handle_mm_fault", kExit, true, true},
    Hook{"fentry:handle_mm_fault", "fault_fentry", Attach::fentry, "handle_mm_fault", kEntry, true, true},
    Hook{"kprobe:handle_mm_fault", "fault_kprobe", Attach::kprobe, "handle_mm_fault", kEntry, true, false},
    Hook{"kprobe:__handle_mm_fault", "fault_kprobe_internal", Attach::kprobe, "__handle_mm_fault", kInternal, true,
         false},
    Hook{"tp_btf:page_fault_user", "fault_tp_btf", Attach::tp_btf, "page_fault_user", kUserMode, false, false},
    Hook{"raw_tp:page_fault_user", "fault_raw_tp", Attach::raw_tp, "page_fault_user", kUserMode, false, false},
    Hook{"tracepoint:exceptions:page_fault_user", "fault_tracepoint", Attach::tracepoint, "exceptions:page_fault_user",
         kUserMode, false, false},
    Hook{"perf_event:page-faults", "fault_perf_event", Attach::perf_event, "page-faults", kSoftware, true, false},
};

// Tracepoints, on every kernel: they alone bring the processor's error code, without which a copy-on-write looks like
// the first touch of a page, and nothing can interrupt them, so none is missed.
constexpr std::string_view kException = "exceptions; failed faults (SIGSEGV) count too";
constexpr std::string_view kMajor = "completed faults with input from disk; only on CPUs that were online at the start";

constexpr std::array kFaultKindHooks{
    Hook{"raw_tp:page_fault_user", "kinds_user", Attach::raw_tp, "page_fault_user", kException, false, false},
    Hook{"raw_tp:page_fault_kernel", "kinds_kernel", Attach::raw_tp, "page_fault_kernel", kException, true, false},
    Hook{"perf_event:major-faults", "kinds_major", Attach::perf_event, "major-faults", kMajor, true, false},
};

} // namespace

std::span<const Hook> fault_kind_hooks() {
  return kFaultKindHooks;
}

std::span<const Hook> page_fault_hooks() {
  return kPageFaultHooks;
}

std::vector<const Hook*> page_fault_hook_order(bool preempting_kernel) {
  std::vector<const Hook*> order;
  order.reserve(kPageFaultHooks.size());
  for (const Hook& hook : kPageFaultHooks)
    order.push_back(&hook);
  if (preempting_kernel)
    std::ranges::stable_partition(order, [](const Hook* hook) { return !hook->misses_when_preempted; });
  return order;
}

const Hook* find_page_fault_hook(std::string_view name) {
  const auto* hook = std::ranges::find(kPageFaultHooks, name, &Hook::name);
  return hook == kPageFaultHooks.end() ? nullptr : hook;
}

} // namespace hotset
