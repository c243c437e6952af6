// SPDX-License-Identifier: Apache-2.0
// What the guard counts, by name, in the order of the program's window (bpf/guard_window.bpf.h). Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "window/history.h"

namespace hotset {

enum class GuardCounter : std::uint8_t {
  lookups,
  hits_no_policy,
  hits_allow,
  hits_deny,
  misses_walk,
  fills,
  unknown,
  invalidations,
  denied,
  events_over_rate,
  events_lost,
  unseen,
};

struct GuardCounterRow {
  std::string_view name;
  std::string_view says;
};

// One row each, by GuardCounter.
inline constexpr std::array kGuardCounters{
    GuardCounterRow{"lookups", "opens that were judged"},
    GuardCounterRow{"hits_no_policy", "the path was known, and no rule names it"},
    GuardCounterRow{"hits_allow", "known, and allowed"},
    GuardCounterRow{"hits_deny", "known, and denied"},
    GuardCounterRow{"misses_walk", "not known, or no longer true: the path was walked"},
    GuardCounterRow{"fills", "walked, and what was found kept"},
    GuardCounterRow{"unknown", "walked in vain: what the policy says of unknown paths decided"},
    GuardCounterRow{"invalidations", "of the walks: something was known, and had ceased to be true"},
    GuardCounterRow{"denied", "denied, or would have been"},
    GuardCounterRow{"events_over_rate", "events dropped: more than the budget of their second"},
    GuardCounterRow{"events_lost", "events dropped: nobody read them, and the buffer was full"},
    GuardCounterRow{"unseen", "opens whose descriptor was closed before it could be looked at"},
};

// Sums over some time.
struct GuardCounts {
  std::array<std::uint64_t, kGuardCounters.size()> of{};

  [[nodiscard]] std::uint64_t operator[](GuardCounter counter) const { return of[static_cast<std::size_t>(counter)]; }
  [[nodiscard]] std::uint64_t hits() const;
  // hits / lookups; nothing when there was no look-up.
  [[nodiscard]] std::optional<double> hit_rate() const;
  // lookups = hits_no_policy + hits_allow + hits_deny + misses_walk. Holds whenever no open is being judged.
  [[nodiscard]] bool adds_up() const {
    return (*this)[GuardCounter::lookups] == hits() + (*this)[GuardCounter::misses_walk];
  }
};

// Since the window was started.
GuardCounts totals_of(const WindowHistory& history);
// Over the known seconds of a span.
GuardCounts counts_of(const WindowSpan& span);

} // namespace hotset
