// SPDX-License-Identifier: Apache-2.0
// Hooks: the places in the kernel where one signal can be observed, best first.
//
// One table, one row per candidate. A signal ("a page fault of a task") has several candidates; the first that loads
// and attaches wins, and exactly one is active. The row also says what a count from it means, and that goes with every
// sample: numbers from different hooks are not the same number.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hotset {

enum class Attach { fexit, fentry, kprobe, tp_btf, raw_tp, tracepoint, perf_event };

struct Hook {
  std::string_view name;    // "kprobe:handle_mm_fault": in every sample, on --hook, in doctor
  std::string_view program; // the program in the BPF object
  Attach attach;
  std::string_view target;    // "handle_mm_fault", "exceptions:page_fault_user"
  std::string_view semantics; // "user and kernel mode; …", one phrase, shown to the user
  bool counts_kernel_mode;    // faults that the kernel takes on the task's behalf (copy_to_user …) count too
  bool misses_when_preempted; // runs with preemption enabled: see kernel/preemption.h
};

// Candidates for "a page fault of a task", in order of preference.
std::span<const Hook> page_fault_hooks();
// The order to try them in: the table's, but on a kernel that preempts itself those that then miss faults come last.
std::vector<const Hook*> page_fault_hook_order(bool preempting_kernel);
// The row of that name, null when there is none.
const Hook* find_page_fault_hook(std::string_view name);

// The hooks of "a page fault and its kind". They are no candidates but parts, attached all at once.
std::span<const Hook> fault_kind_hooks();

// Why a candidate was passed over.
struct HookRefusal {
  const Hook* hook;
  Error error;
};

} // namespace hotset
