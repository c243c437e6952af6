// SPDX-License-Identifier: Apache-2.0
// What a running agent says of itself (bpf/guard.h), read and checked. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "bpf/guard.h"
#include "guard/missed.h"

namespace hotset {

struct GuardStatus {
  std::string file;
  std::uint32_t pid = 0;
  Nanoseconds loaded{}; // Clock::now() of the last load
  std::uint32_t generation = 0, reloads = 0, refused_reloads = 0;
  guard_hook hook = GUARD_CALLS;
  guard_topology topology = GUARD_TOPOLOGY_none;
  policy_mode mode = POLICY_AUDIT; // as it is held
  policy_action fallback = POLICY_ALLOW, unknown = POLICY_ALLOW;
  bool cache = false;
  std::uint32_t events_per_second = 0;
  GuardJudges judges{};            // programs that judge, as it was written; 0: none
  std::uint64_t missed_before = 0; // of those of policies before
  // Runs of all these that the kernel skipped (guard/missed.h), when the status was read; or why that is not known.
  Result<std::uint64_t> missed = 0;
  struct Rule {
    std::uint32_t line = 0;
    std::string name; // may be cut
  };
  std::vector<Rule> rules;
};

// `missed` is only that of policies before: the rest is the kernel's to tell. Error: bad_data when it is not what this
// version writes.
Result<GuardStatus> decode_guard_state(const guard_state& state);

// "line 12 ('keys')" of that rule, "no rule" without one; of another generation's policy just "rule 3".
std::string rule_text(const GuardStatus& status, std::optional<std::uint32_t> rule, std::uint32_t generation);

} // namespace hotset
