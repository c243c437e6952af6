// SPDX-License-Identifier: Apache-2.0
// A policy that is held, as text and as JSON: its status, its counters, its events. Pure.
#pragma once

#include <string>

#include "base/clock.h"
#include "guard/counters.h"
#include "guard/event.h"
#include "guard/status.h"
#include "present/style.h"

namespace hotset {

// `age`: since the policy was loaded.
std::string policy_status_text(const GuardStatus& status, Nanoseconds age, const Style& style);
// Schema hotset.policy_status/1.
std::string policy_status_json(const GuardStatus& status, Nanoseconds age);

struct PolicyStats {
  std::uint64_t requested_s = 0, known_s = 0; // whole seconds before the running one
  GuardCounts span;                           // over the known ones
  GuardCounts total;                          // since the agent started
  guard_hook hook = GUARD_CALLS;
  Result<std::uint64_t> missed = 0; // since the agent started; see GuardStatus
};
std::string policy_stats_text(const PolicyStats& stats, const Style& style);
// Schema hotset.policy_stats/1.
std::string policy_stats_json(const PolicyStats& stats);

// One line each; `wall`: of the event. Schema hotset.policy_event/1.
std::string policy_event_text(const GuardEvent& event, const GuardStatus& status, Nanoseconds wall, const Style& style);
std::string policy_event_json(const GuardEvent& event, const GuardStatus& status, Nanoseconds wall);

} // namespace hotset
