// SPDX-License-Identifier: Apache-2.0
// Many path patterns as one deterministic automaton that reads a path from its end (bpf/policy.h says why).
//
// It is the subset construction: a state stands for all the places, in all patterns, where a reader of the tail so far
// may be. What makes policies of many rules affordable is forgetting. A pattern that matches whatever else comes needs
// no other place; and the caller may say which patterns no longer matter once others match for good. Without that, n
// patterns such as "/**/.ssh/" would take 2^n states.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "policy/pattern.h"
#include "policy/policy.h"

namespace hotset {

inline constexpr std::size_t kMostPatterns = 2 * std::size_t{POLICY_MAX_RULES}; // a path and an executable for each
using PatternSet = std::bitset<kMostPatterns>;

// Bytes that no pattern tells apart are one class.
struct ByteClasses {
  std::array<std::uint8_t, 256> of{};
  std::vector<std::uint8_t> sample; // by class: one byte of it, a letter or a digit where there is one
};

struct PathAutomaton {
  ByteClasses classes;
  // By state. The start is state 0, and states are in the order of the shortest tail that leads to them.
  std::vector<std::uint32_t> next;  // and by class
  std::vector<PatternSet> accepted; // the patterns that match a path that begins here
  std::vector<bool> is_path;        // a path may begin here, which is always so unless only paths are read
  struct Origin {
    std::uint32_t state;
    std::uint8_t byte_class;
  };
  std::vector<Origin> origin;

  [[nodiscard]] std::size_t states() const { return accepted.size(); }
  // The shortest text that ends in the state when it is read from its end.
  [[nodiscard]] std::string text_of(std::uint32_t state) const;
};

struct AutomatonOptions {
  // Twice what the kernel program takes, since some states merge before they are written down for it.
  std::size_t most_transitions = 2 * std::size_t{POLICY_MAX_TRANSITIONS};
  std::size_t most_states = 2 * std::size_t{POLICY_MAX_STATES};
  // Reads absolute, normalised paths alone, so that text_of() a state with is_path is one. Takes some more states.
  bool only_paths = false;
  // Given the patterns that match whatever else comes: those that no longer matter.
  std::function<PatternSet(const PatternSet& settled)> forget;
  // Asked at each state: true gives up, as if it took too much.
  std::function<bool()> stop;
  // Asked at each state, of what there is so far: true gives up. `next` lacks the states that were come upon last.
  std::function<bool(const PathAutomaton& so_far)> hopeless;
};

// Of at most kMostPatterns patterns. Nothing when it would take more transitions than it may, or was stopped.
std::optional<PathAutomaton> build_automaton(std::span<const PathPattern* const> patterns,
                                             const AutomatonOptions& options);

} // namespace hotset
