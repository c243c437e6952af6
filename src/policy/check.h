// SPDX-License-Identifier: Apache-2.0
// What the author of a policy should know before it is loaded: what is wrong with it, which rules never decide, and
// where two rules disagree. Every finding names lines, and paths as examples.
//
// All answers come from automata over whole sets of paths; none from trying some.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/compiled.h"
#include "policy/policy.h"

namespace hotset {

enum class PolicyProblem : std::uint8_t {
  flaw,         // the text is not a policy
  unknown_user, // a rule names a user that does not exist
  too_large,    // the kernel program can't take it
  shadowed,     // a rule never decides, for earlier ones do wherever it matches
  empty,        // a rule's pattern matches no path at all
  conflict,     // two rules of different actions meet, and neither is an exception to the other
  unfinished,   // not all of the above could be looked for
  exception,    // two rules of different actions meet, and the earlier is wholly within the later
};

enum class Severity : std::uint8_t { error, warning, note };

Severity severity_of(PolicyProblem problem);
std::string_view problem_name(PolicyProblem problem); // "unknown_user"
std::string_view severity_name(Severity severity);

struct PolicyFinding {
  PolicyProblem problem = PolicyProblem::flaw;
  Place place;                     // of the flaw, or of the rule; line 0: the whole file
  std::optional<std::size_t> rule; // index
  std::vector<std::size_t> others; // rules that it has to do with
  std::string text;                // one phrase
  std::string remedy;              // may be empty
  std::string example;             // a path; may be empty
};

// What the compiled policy takes of what the kernel program has.
struct PolicySize {
  std::uint32_t states = 0;
  std::uint32_t classes = 0;
  std::uint32_t matches = 0;
  // The largest share that it takes of any of the limits in bpf/policy.h.
  double share = 0;
};

struct PolicyCheck {
  Policy policy;
  std::vector<PolicyFinding> findings; // errors first, then by line
  std::optional<PolicySize> size;      // of a policy that compiles

  [[nodiscard]] std::size_t count(Severity severity) const;
};

// `stop` is asked all the time: once it is true, the check ends and says no more than that it is unfinished.
PolicyCheck check_policy(PolicyText text, const Users& users, const std::function<bool()>& stop = {});

} // namespace hotset
