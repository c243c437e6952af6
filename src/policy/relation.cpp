// SPDX-License-Identifier: Apache-2.0
#include "policy/relation.h"

#include <algorithm>
#include <array>

#include "policy/automaton.h"

namespace hotset {
namespace {

constexpr std::size_t kMostOfOnePair = std::size_t{1} << 19;

PathRelation relation_in(const PathAutomaton& automaton) {
  PathRelation relation;
  for (std::uint32_t state = 0; state < automaton.states(); ++state) {
    if (!automaton.is_path[state]) continue;
    const bool first = automaton.accepted[state].test(0);
    const bool second = automaton.accepted[state].test(1);
    if (first && second && relation.common.empty()) relation.common = automaton.text_of(state);
    relation.first_has_more |= first && !second;
    relation.second_has_more |= second && !first;
  }
  return relation;
}

} // namespace

PathRelation Relations::of_paths(const PathPattern& first, const PathPattern& second) {
  const std::string head = first.literal_head();
  const std::string other = second.literal_head();
  const std::size_t shared = std::min(head.size(), other.size());
  if (head.compare(0, shared, other, 0, shared) != 0)
    return {.known = true, .common = {}, .first_has_more = true, .second_has_more = true};

  const std::array patterns{&first, &second};
  const AutomatonOptions options{.most_transitions = std::min(kMostOfOnePair, budget_),
                                 .only_paths = true,
                                 .forget = {},
                                 .stop = stop_,
                                 .hopeless = {}};
  const std::optional<PathAutomaton> automaton = build_automaton(patterns, options);
  budget_ -= automaton ? automaton->next.size() : options.most_transitions;
  gave_up_ |= !automaton;
  if (!automaton) return {.known = false, .common = {}, .first_has_more = false, .second_has_more = false};
  return relation_in(*automaton);
}

bool Relations::covers(const PolicyRule& wide, const PolicyRule& narrow) {
  if (wide.command && wide.command != narrow.command) return false;
  if (wide.user && wide.user != narrow.user) return false;
  if (wide.cgroup && !(narrow.cgroup && in_cgroup(*narrow.cgroup, *wide.cgroup))) return false;
  if (!wide.executable) return true;
  if (!narrow.executable) return false;
  return wide.executable->text() == narrow.executable->text() ||
         of_paths(*narrow.executable, *wide.executable).first_within_second();
}

bool Relations::may_be_both(const PolicyRule& first, const PolicyRule& second) {
  if (first.command && second.command && first.command != second.command) return false;
  // A name and a number may be one user.
  if (first.user && second.user && first.user->index() == second.user->index() && first.user != second.user)
    return false;
  if (first.cgroup && second.cgroup && !in_cgroup(*first.cgroup, *second.cgroup) &&
      !in_cgroup(*second.cgroup, *first.cgroup))
    return false;
  if (!first.executable || !second.executable) return true;
  const PathRelation executables = of_paths(*first.executable, *second.executable);
  return !executables.known || executables.overlap();
}

} // namespace hotset
