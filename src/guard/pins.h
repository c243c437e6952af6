// SPDX-License-Identifier: Apache-2.0
// Where a running agent is found: its maps are pinned in a folder of the BPF file system, on which it holds a lock.
//
// The lock goes with the process, however that ends. So a folder without one was left by an agent that was killed: it
// is no sign of a policy, and the next agent takes it over. Programs and links are never pinned. The folder's name
// carries the version of what is in it, so that another version's is not mistaken for ours.
#pragma once

#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "guard/guard.h"
#include "guard/status.h"

namespace hotset {

// "/sys/fs/bpf/hotset/policy-2"
std::string guard_folder();

class GuardPins {
 public:
  // Takes the folder. Errors: unsupported when no BPF file system is mounted there; permission when another agent holds
  // it.
  static Result<GuardPins> reserve();
  // Shows that guard, until the end.
  Result<> show(const Guard& guard);

  GuardPins(GuardPins&& other) noexcept = default;
  GuardPins& operator=(GuardPins&&) = delete;
  ~GuardPins();

 private:
  explicit GuardPins(Fd folder) : folder_(std::move(folder)) {}
  Fd folder_; // locked; invalid when moved from
};

// What a running agent shows.
struct PinnedGuard {
  GuardStatus status;
  Fd window;
};
// Errors: not_found when no policy is held, and why that is known.
Result<PinnedGuard> open_pinned_guard();

// Its events, of which there is one reader at a time: the lock lives as long as the reader. Errors: permission when
// another reads them, and those of open_pinned_guard().
struct PinnedEvents {
  Fd agent; // the folder, which the agent keeps locked
  Fd lock;
  Fd buffer;
  Fd state; // for read_guard_status()
};
Result<PinnedEvents> open_pinned_events();
// Whether the agent of that folder still runs.
Result<bool> agent_runs(const Fd& folder);

} // namespace hotset
