// SPDX-License-Identifier: Apache-2.0
// What the order of rules means, in one place: the first rule that matches decides.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "policy/automaton.h"
#include "policy/policy.h"

namespace hotset {

// For one access to a path that is matched by certain rules.
struct Deciders {
  std::vector<std::uint8_t> candidates;     // rules that ask for a subject, in order
  std::uint16_t otherwise = POLICY_NO_RULE; // the first rule that asks for none: it decides when no candidate does
};

// `matching`: bit r is rule r. `bit`: 0 to 2, as of enum policy_access.
inline Deciders deciders_of(const Policy& policy, const PatternSet& matching, unsigned bit) {
  Deciders deciders;
  for (std::size_t r = 0; r < policy.rules.size(); ++r) {
    if (!matching.test(r) || (policy.rules[r].access >> bit & 1) == 0) continue;
    if (!policy.rules[r].asks_subject()) {
      deciders.otherwise = static_cast<std::uint16_t>(r);
      break;
    }
    deciders.candidates.push_back(static_cast<std::uint8_t>(r));
  }
  return deciders;
}

// Rules whose paths no longer matter once others match for good: earlier ones without a subject have decided all of
// their accesses.
inline PatternSet decided_by_others(const Policy& policy, const PatternSet& settled) {
  PatternSet decided;
  unsigned covered = 0;
  for (std::size_t r = 0; r < policy.rules.size(); ++r) {
    const PolicyRule& rule = policy.rules[r];
    if ((rule.access & ~covered) == 0)
      decided.set(r);
    else if (settled.test(r) && !rule.asks_subject())
      covered |= rule.access;
  }
  return decided;
}

} // namespace hotset
