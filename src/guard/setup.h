// SPDX-License-Identifier: Apache-2.0
// How a policy is to be held on this kernel: by which hook, and how what is known of paths is kept true.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/file.h"
#include "base/result.h"
#include "bpf/guard.h"

namespace hotset {

struct GuardOptions {
  std::optional<guard_hook> hook;         // nothing: the LSM's where it can be had, else that of system calls
  bool audit = false;                     // deny nothing, whatever the mode of the policy
  bool cache = true;                      // false: walk at each open
  std::optional<guard_topology> topology; // nothing: the cheapest that is true here
  std::uint32_t events_per_second = 100;
  std::uint32_t event_bytes = 1 << 20; // of the ring buffer: a power of two of pages. An event takes 4.5 KB
  bool exempt_self = true;             // this process is denied nothing
  bool only_self = false;              // and no other is judged: for tests and benchmarks
};

// What was decided, for the program.
struct GuardSetup {
  guard_hook hook = GUARD_CALLS;
  bool enforce = false;
  guard_topology topology = GUARD_TOPOLOGY_none;
  std::uint64_t rename_lock = 0, mount_lock = 0; // addresses; 0: unused
  bool typed_pointers = false;                   // the kernel has bpf_rdonly_cast
  bool prepare_exec = false;                     // the kernel has the tracepoint sched_prepare_exec
  bool rename_hook = false;                      // follow vfs_rename
};

// Finds out what this kernel allows. `mode`: enum policy_mode of the policy. Errors: unsupported or permission when it
// cannot enforce and is to.
Result<GuardSetup> choose_setup(const Files& files, const GuardOptions& options, unsigned mode);

// What helps where this kernel has no LSM programs: one that lists 'bpf' among its active modules lacks more than that.
std::string enforcing_remedy(const Files& files);

// Whether programs at the end of system calls run without being preempted, by the kernel's release ("6.18.44-cloud").
// One that is preempted is passed over for who returns meanwhile on that CPU, and then a rename may go uncounted.
// Nothing but the version tells: up to 6.18 it is so, in 7.2 no longer.
bool calls_are_all_seen(std::string_view release);

// "lsm", "calls".
std::string_view hook_name(unsigned hook);
// "directories": a row of GUARD_TOPOLOGIES; and what it means.
std::string_view topology_name(unsigned topology);
std::string_view topology_text(unsigned topology);

} // namespace hotset
