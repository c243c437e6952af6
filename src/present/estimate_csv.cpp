// SPDX-License-Identifier: Apache-2.0
#include "present/estimate_csv.h"

#include <fmt/format.h>

#include <array>
#include <concepts>

#include "base/units.h"

namespace hotset {
namespace {

std::string cell(std::string_view text) {
  if (text.find_first_of("\",") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

template <class T>
std::string cell(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : std::string();
}

template <std::integral T>
std::string cell(T value) {
  return fmt::format("{}", value);
}

// The cell of a part of the working set.
template <class T>
std::string wss_cell(const Estimate& estimate, T WorkingSet::* part) {
  return estimate.wss ? cell((*estimate.wss).*part) : std::string();
}

bool is_cgroup(const Estimate& estimate) {
  return estimate.group && !estimate.group->tree;
}

std::string_view kind(const Estimate& estimate) {
  return is_cgroup(estimate) ? "cgroup" : estimate.group ? "tree" : "process";
}

std::string flag_codes(const Estimate& estimate) {
  std::string codes;
  for (const Flag& flag : estimate.flags)
    codes += (codes.empty() ? "" : " ") + flag.code;
  return codes;
}

struct Column {
  std::string_view name;
  std::string (*cell)(const Estimate&);
};

constexpr std::array kColumns{
    Column{"time", [](const Estimate& e) { return utc_text(e.wall); }},
    Column{"kind", [](const Estimate& e) { return std::string(kind(e)); }},
    Column{"pid", [](const Estimate& e) { return is_cgroup(e) ? std::string() : cell(e.target.id.pid); }},
    Column{"start_ticks",
           [](const Estimate& e) { return is_cgroup(e) ? std::string() : cell(e.target.id.start_ticks); }},
    Column{"comm", [](const Estimate& e) { return cell(printable(e.target.comm)); }},
    Column{"requested_s", [](const Estimate& e) { return cell(e.requested_s); }},
    Column{"effective_s", [](const Estimate& e) { return cell(e.effective_s); }},
    Column{"method", [](const Estimate& e) { return cell(e.method); }},
    Column{"wss_bytes", [](const Estimate& e) { return wss_cell(e, &WorkingSet::bytes); }},
    Column{"low_bytes", [](const Estimate& e) { return wss_cell(e, &WorkingSet::low_bytes); }},
    Column{"high_bytes", [](const Estimate& e) { return wss_cell(e, &WorkingSet::high_bytes); }},
    Column{"confidence", [](const Estimate& e) { return wss_cell(e, &WorkingSet::confidence); }},
    Column{"rss_bytes", [](const Estimate& e) { return cell(e.rss_bytes); }},
    Column{"pss_bytes", [](const Estimate& e) { return cell(e.pss_bytes); }},
    Column{"swap_bytes", [](const Estimate& e) { return cell(e.swap_bytes); }},
    Column{"granularity_bytes", [](const Estimate& e) { return cell(e.granularity_bytes); }},
    Column{"coverage", [](const Estimate& e) { return cell(e.coverage); }},
    Column{"faults", [](const Estimate& e) { return e.faults ? cell(e.faults->count) : std::string(); }},
    Column{"flags", [](const Estimate& e) { return flag_codes(e); }},
    Column{"cpu_s", [](const Estimate& e) { return fmt::format("{}", e.cost.cpu_s); }},
    Column{"target_stall_s", [](const Estimate& e) { return cell(e.cost.target_stall_s); }},
    Column{"cgroup_id", [](const Estimate& e) { return is_cgroup(e) ? cell(e.group->id) : std::string(); }},
    Column{"cgroup_path",
           [](const Estimate& e) { return is_cgroup(e) ? cell(printable(e.group->path)) : std::string(); }},
    Column{"members", [](const Estimate& e) { return e.group ? cell(e.group->members) : std::string(); }},
    Column{"shared_bytes", [](const Estimate& e) { return e.group ? cell(e.group->shared_bytes) : std::string(); }},
    Column{"usage_bytes", [](const Estimate& e) { return e.group ? cell(e.group->usage_bytes) : std::string(); }},
};

} // namespace

std::string estimate_csv_header() {
  std::string header;
  for (const Column& column : kColumns)
    header += (header.empty() ? "" : ",") + std::string(column.name);
  return header;
}

std::string estimate_csv_row(const Estimate& estimate) {
  std::string row;
  for (const Column& column : kColumns) {
    if (&column != kColumns.data()) row += ',';
    row += column.cell(estimate);
  }
  return row;
}

} // namespace hotset
