// SPDX-License-Identifier: Apache-2.0
// How two rules stand to each other: which paths both match, and whose subject is the wider one.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "policy/policy.h"

namespace hotset {

// Of the sets of paths that two patterns match.
struct PathRelation {
  bool known = true;           // false: finding out would take too much; nothing else is meant then
  std::string common;          // a shortest path that both match; "" when there is none
  bool first_has_more = false; // the first matches a path that the second does not
  bool second_has_more = false;

  [[nodiscard]] bool overlap() const { return !common.empty(); }
  [[nodiscard]] bool first_within_second() const { return known && !first_has_more; }
};

// Answers from automata of two patterns, of which all together may take a bounded number of transitions.
class Relations {
 public:
  // `stop`: true ends the search for an answer that is under way, and all that come after it.
  explicit Relations(std::size_t budget = std::size_t{1} << 23, std::function<bool()> stop = {})
      : budget_(budget), stop_(std::move(stop)) {}

  PathRelation of_paths(const PathPattern& first, const PathPattern& second);
  // Whether every subject of `narrow` is one of `wide`; false when it is not known.
  bool covers(const PolicyRule& wide, const PolicyRule& narrow);
  // Whether there may be a subject of both; true when it is not known.
  bool may_be_both(const PolicyRule& first, const PolicyRule& second);
  // An answer was not found because the budget was spent, or it was stopped.
  [[nodiscard]] bool gave_up() const { return gave_up_; }

 private:
  std::size_t budget_;
  std::function<bool()> stop_;
  bool gave_up_ = false;
};

} // namespace hotset
