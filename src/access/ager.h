// SPDX-License-Identifier: Apache-2.0
// Clears runs where that costs least, and knows what it costs.
//
// The kernel flushes the TLB after each run that changed something. Where the target runs on another processor, that is
// an interrupt there, for which both wait, on a virtual machine for several times as long as all the rest of a short
// run takes (docs/access.md). On the target's own processor no interrupt is needed. So where short runs are many
// enough, they are cleared there (access/beside.h), in turns with the target.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "access/beside.h"
#include "access/clear.h"
#include "access/runs.h"
#include "base/result.h"

namespace hotset {

// Longer runs would hold the target up: 0.1 ms.
inline constexpr std::uint64_t kLongestThere = 1024; // pages

// Whether going to the target's processor for these runs, none of them longer, costs less than it saves, by the prices
// there and elsewhere. Never where the pages are what takes long.
bool is_worth_going(std::span<const Run> runs, const ClearCosts& there, const ClearCosts& elsewhere);

class Ager {
 public:
  // As age_runs(), in any order, and learns from what it took. `processor`: where the target ran when its page tables
  // were read; nothing when it did not run.
  Result<ClearReport> age(int pidfd, std::span<const Run> runs, std::optional<unsigned> processor);
  // What it costs for a target that runs there; nothing: that does not run, or where that isn't known.
  [[nodiscard]] const ClearCosts& costs(std::optional<unsigned> processor) const {
    return processor && may_go_ ? there_ : elsewhere_;
  }

 private:
  Result<ClearReport> age_here(int pidfd, std::span<const Run> runs);

  Beside beside_;
  bool may_go_ = true; // when it was tried last
  ClearCosts elsewhere_, there_{.per_run_us = 1.5};
};

} // namespace hotset
