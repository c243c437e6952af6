// SPDX-License-Identifier: Apache-2.0
#include "present/estimate_json.h"

#include "present/json.h"

namespace hotset {
namespace {

Json target_json(const Estimate& estimate) {
  const std::optional<GroupFacts>& group = estimate.group;
  if (group && !group->tree) return {{"kind", "cgroup"}, {"id", group->id}, {"path", printable(group->path)}};
  return {{"kind", group ? "tree" : "process"},
          {"pid", estimate.target.id.pid},
          {"start_ticks", estimate.target.id.start_ticks},
          {"comm", printable(estimate.target.comm)}};
}

Json group_json(const GroupFacts& group) {
  return {{"members", group.members},
          {"born", group.born},
          {"joined", group.joined},
          {"ended", group.ended},
          {"shared_bytes", group.shared_bytes},
          {"usage_bytes", or_null(group.usage_bytes)},
          {"frame_set_bytes", group.frame_set_bytes}};
}

Json wss_json(const std::optional<WorkingSet>& wss) {
  if (!wss) return nullptr;
  return {{"bytes", wss->bytes},
          {"low_bytes", wss->low_bytes},
          {"high_bytes", wss->high_bytes},
          {"confidence", or_null(wss->confidence)}};
}

Json flags_json(const std::vector<Flag>& flags) {
  Json list = Json::array();
  for (const Flag& flag : flags)
    list.push_back({{"code", flag.code}, {"text", printable(flag.text)}});
  return list;
}

} // namespace

std::string estimate_json(const Estimate& estimate) {
  Json json{
      {"schema", kEstimateSchema},
      {"time", utc_text(estimate.wall)},
      {"target", target_json(estimate)},
      {"window", {{"requested_s", or_null(estimate.requested_s)}, {"effective_s", or_null(estimate.effective_s)}}},
      {"method", estimate.method},
      {"wss", wss_json(estimate.wss)},
      {"rss_bytes", or_null(estimate.rss_bytes)},
      {"pss_bytes", or_null(estimate.pss_bytes)},
      {"swap_bytes", or_null(estimate.swap_bytes)},
      {"granularity_bytes", estimate.granularity_bytes},
      {"coverage", or_null(estimate.coverage)},
      {"flags", flags_json(estimate.flags)},
      {"cost", {{"cpu_s", estimate.cost.cpu_s}, {"target_stall_s", or_null(estimate.cost.target_stall_s)}}}};
  if (estimate.faults)
    json["faults"] = {
        {"count", estimate.faults->count}, {"hook", estimate.faults->hook}, {"semantics", estimate.faults->semantics}};
  if (estimate.group) json["group"] = group_json(*estimate.group);
  if (estimate.verify)
    json["verify"] = {{"method", estimate.verify->method},
                      {"bytes", estimate.verify->bytes},
                      {"truth_bytes", or_null(estimate.verify->truth_bytes)}};
  if (estimate.cost.prediction_s) json["cost"]["prediction_s"] = *estimate.cost.prediction_s;
  return json_line(json);
}

} // namespace hotset
