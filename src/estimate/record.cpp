// SPDX-License-Identifier: Apache-2.0
#include "estimate/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace hotset {
namespace {

bool is_share(const std::optional<double>& value) {
  return !value || (*value >= 0 && *value <= 1); // false for NaN
}

bool is_time(const std::optional<double>& seconds) {
  return !seconds || (std::isfinite(*seconds) && *seconds >= 0);
}

std::string broken_order(const Estimate& estimate) {
  const WorkingSet& wss = *estimate.wss;
  if (wss.low_bytes > wss.bytes) return fmt::format("low {} is above the WSS {}", wss.low_bytes, wss.bytes);
  if (wss.bytes > wss.high_bytes) return fmt::format("the WSS {} is above high {}", wss.bytes, wss.high_bytes);
  if (estimate.rss_bytes && wss.high_bytes > *estimate.rss_bytes)
    return fmt::format("high {} is above the RSS {}", wss.high_bytes, *estimate.rss_bytes);
  if (estimate.group && estimate.group->usage_bytes && wss.high_bytes > *estimate.group->usage_bytes)
    return fmt::format("high {} is above the cgroup's usage {}", wss.high_bytes, *estimate.group->usage_bytes);
  return {};
}

// Empty when all holds.
std::string broken(const Estimate& estimate) {
  if (estimate.wss) {
    if (std::string order = broken_order(estimate); !order.empty()) return order;
    if (!is_share(estimate.wss->confidence)) return "the confidence is no probability";
  }
  if (!is_share(estimate.coverage)) return "the coverage is no share";
  if (!is_time(estimate.requested_s) || !is_time(estimate.effective_s)) return "the window is no time";
  if (!is_time(estimate.cost.cpu_s) || !is_time(estimate.cost.target_stall_s)) return "the cost is no time";
  if (estimate.granularity_bytes == 0) return "the granularity is zero";
  if (estimate.method.empty()) return "it names no method";
  bool all_known = estimate.requested_s && estimate.effective_s && estimate.wss && estimate.wss->confidence &&
                   estimate.rss_bytes && estimate.pss_bytes && estimate.swap_bytes && estimate.coverage &&
                   estimate.cost.target_stall_s;
  if (!all_known && estimate.flags.empty()) return "something is unknown and no flag says why";
  return {};
}

} // namespace

bool has_flag(const Estimate& estimate, std::string_view code) {
  return std::ranges::any_of(estimate.flags, [&](const Flag& flag) { return flag.code == code; });
}

std::optional<Flag> thread_flag(const Process& target) {
  if (target.requested == target.id.pid || target.requested == 0) return std::nullopt;
  return Flag{"thread_id", fmt::format("{} is a thread: its process {} is measured", target.requested, target.id.pid)};
}

Result<> check_invariants(const Estimate& estimate) {
  std::string what = broken(estimate);
  if (what.empty()) return {};
  return fail(ErrorCode::internal, "print", "an estimate that contradicts itself", std::move(what),
              "please report this as a bug");
}

} // namespace hotset
