// SPDX-License-Identifier: Apache-2.0
// An open that the policy denied, or would have denied, as the kernel program tells of it (bpf/guard.h). Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "bpf/guard.h"

namespace hotset {

struct GuardEvent {
  Nanoseconds time{}; // Clock::now()
  std::string path;   // as far as it was found; where `walk` is not whole it lacks its front
  guard_walk_end walk = GUARD_WALK_whole;
  std::uint32_t access = 0; // mask of policy_access
  bool blocked = false;     // it failed with EPERM; else it went through, and would have been denied
  policy_reason reason = POLICY_BY_RULE;
  std::optional<std::uint32_t> rule; // its index; nothing where no rule decided
  std::uint32_t pid = 0;             // 0: not visible in the agent's PID namespace
  std::string comm;                  // any bytes
  std::uint32_t uid = 0;             // effective, by which rules decide
  std::uint64_t cgroup = 0;          // id, in the hierarchy of cgroup v2
  std::uint64_t inode = 0;
  std::uint32_t device_major = 0, device_minor = 0;
  std::uint32_t generation = 0; // of the policy
};

// Nothing when the record is not what this version's program sends.
std::optional<GuardEvent> decode_guard_event(std::span<const std::byte> record);

// "too deep": what is the matter with a path; empty for a whole one.
std::string_view walk_end_text(guard_walk_end end);

} // namespace hotset
