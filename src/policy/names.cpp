// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/units.h"
#include "policy/policy.h"

namespace hotset {
namespace {

struct AccessName {
  std::uint8_t access;
  std::string_view name;
};

constexpr std::array kAccesses{
    AccessName{POLICY_READ, "read"},
    AccessName{POLICY_WRITE, "write"},
    AccessName{POLICY_EXECUTE, "execute"},
};

} // namespace

std::string access_names(std::uint32_t access) {
  std::string names;
  for (const AccessName& row : kAccesses)
    if ((access & row.access) != 0) names += fmt::format("{}{}", names.empty() ? "" : ", ", row.name);
  return names;
}

std::uint8_t access_named(std::string_view name) {
  const auto* row = std::ranges::find(kAccesses, name, &AccessName::name);
  return row == kAccesses.end() ? 0 : row->access;
}

std::string_view action_name(unsigned action) {
  return action == POLICY_DENY ? "deny" : "allow";
}

std::string_view mode_name(unsigned mode) {
  return mode == POLICY_ENFORCE ? "enforce" : "audit";
}

bool in_cgroup(std::string_view cgroup, std::string_view ancestor) {
  if (!cgroup.starts_with(ancestor)) return false;
  return ancestor == "/" || cgroup.size() == ancestor.size() || cgroup[ancestor.size()] == '/';
}

std::string rule_label(const PolicyRule& rule) {
  std::string label = fmt::format("line {}", rule.place.line);
  return rule.name.empty() ? label : fmt::format("{} ('{}')", label, printable(rule.name));
}

} // namespace hotset
