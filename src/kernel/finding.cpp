// SPDX-License-Identifier: Apache-2.0
#include "kernel/finding.h"

#include <algorithm>
#include <array>

namespace hotset {

std::string_view barrier_name(Barrier barrier) {
  constexpr std::array<std::string_view, 10> kNames{"none",        "kernel",   "privilege", "environment", "lockdown",
                                                    "not_mounted", "disabled", "in_use",    "build",       "failed"};
  return kNames.at(static_cast<std::size_t>(barrier));
}

Finding found(std::string detail) {
  return {Finding::State::ok, Barrier::none, {}, {}, std::move(detail), false};
}

Finding obstacle(Barrier barrier, std::string cause, std::string remedy) {
  return {Finding::State::failed, barrier, std::move(cause), std::move(remedy), {}, false};
}

Finding not_applicable(std::string cause) {
  return {Finding::State::not_applicable, Barrier::none, std::move(cause), "nothing to do", {}, false};
}

const CheckResult* provider(const std::vector<CheckResult>& checks, Part part) {
  const CheckResult* last_resort = nullptr;
  for (const CheckResult& check : checks) {
    if (check.part != part || !check.finding.ok()) continue;
    if (!check.finding.last_resort) return &check;
    if (last_resort == nullptr) last_resort = &check;
  }
  return last_resort;
}

std::vector<Part> missing_parts(const std::vector<CheckResult>& checks) {
  constexpr std::array kParts{Part::fault_hook, Part::transport, Part::reset, Part::reading};
  std::vector<Part> missing;
  for (Part part : kParts)
    if (provider(checks, part) == nullptr) missing.push_back(part);
  return missing;
}

} // namespace hotset
