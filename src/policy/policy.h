// SPDX-License-Identifier: Apache-2.0
// A file-access policy as its author wrote it (docs/policy.md): rules in order, the first that matches decides.
//
// Reading one is pure: users and cgroups stay names here, and get their numbers when the policy is compiled and loaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bpf/policy.h"

namespace hotset {

inline constexpr std::size_t kPolicyFileBytes = std::size_t{1} << 20;
inline constexpr std::size_t kPatternBytes = 4095; // the longest path that the kernel takes has as many

// Where something stands in the policy's file; both count from 1.
struct Place {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

// A user as the policy names one: by number, or by a name that the system's user database knows.
struct PolicyUser {
  std::optional<std::uint32_t> number;
  std::string name;
};

struct PolicyRule {
  Place place;      // of its [[rule]]
  std::string name; // "" when it has none
  std::string path; // a pattern: exact, a directory when it ends in '/', or a glob
  std::uint8_t access = POLICY_READ | POLICY_WRITE | POLICY_EXECUTE;
  policy_action action = POLICY_DENY;

  // The subject; what is absent matches everyone.
  std::optional<std::string> command;
  std::optional<std::string> executable; // a pattern, as `path`
  std::optional<std::string> cgroup;     // path below the mount of cgroup v2: "/system.slice/redis.service"
  std::optional<PolicyUser> user;

  [[nodiscard]] bool asks_subject() const { return command || executable || cgroup || user; }
};

struct Policy {
  policy_mode mode = POLICY_AUDIT;
  policy_action fallback = POLICY_ALLOW; // "default" in the file
  policy_action unknown = POLICY_ALLOW;
  std::vector<PolicyRule> rules; // at most POLICY_MAX_RULES
};

} // namespace hotset
