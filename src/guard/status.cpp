// SPDX-License-Identifier: Apache-2.0
#include "guard/status.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/units.h"

namespace hotset {
namespace {

template <std::size_t N>
std::string text_of(const char (&bytes)[N]) {
  return {bytes, ::strnlen(bytes, N)};
}

} // namespace

Result<GuardStatus> decode_guard_state(const guard_state& state) {
  if (state.version != GUARD_STATE_VERSION || state.rules > POLICY_MAX_RULES || state.hook > GUARD_CALLS ||
      state.topology >= GUARD_TOPOLOGY_COUNT || state.mode > POLICY_ENFORCE || state.fallback > POLICY_DENY ||
      state.unknown > POLICY_DENY)
    return fail(ErrorCode::bad_data, "read", "the status of the policy", "it was written by another version of hotset",
                "use the version that hotset policy run was started with");
  GuardStatus status;
  status.file = text_of(state.file);
  status.pid = state.pid;
  status.loaded = Nanoseconds(state.loaded_ns);
  status.generation = state.generation;
  status.reloads = state.reloads;
  status.refused_reloads = state.refused_reloads;
  status.hook = static_cast<guard_hook>(state.hook);
  status.topology = static_cast<guard_topology>(state.topology);
  status.mode = static_cast<policy_mode>(state.mode);
  status.fallback = static_cast<policy_action>(state.fallback);
  status.unknown = static_cast<policy_action>(state.unknown);
  status.cache = state.cache != 0;
  status.events_per_second = state.events_per_second;
  std::ranges::copy(state.judge, status.judges.begin());
  status.missed_before = state.missed_before;
  status.missed = state.missed_before;
  for (std::size_t i = 0; i < state.rules; ++i)
    status.rules.push_back({state.label[i].line, text_of(state.label[i].name)});
  return status;
}

std::string rule_text(const GuardStatus& status, std::optional<std::uint32_t> rule, std::uint32_t generation) {
  if (!rule) return "no rule";
  if (generation != status.generation || *rule >= status.rules.size()) return fmt::format("rule {}", *rule + 1);
  const GuardStatus::Rule& known = status.rules[*rule];
  if (known.name.empty()) return fmt::format("line {}", known.line);
  return fmt::format("line {} ('{}')", known.line, printable(known.name));
}

} // namespace hotset
