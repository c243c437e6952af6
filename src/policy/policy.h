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
#include <variant>
#include <vector>

#include "base/result.h"
#include "bpf/policy.h"
#include "policy/pattern.h"

namespace hotset {

inline constexpr std::size_t kPolicyFileBytes = std::size_t{1} << 20;
inline constexpr std::uint8_t kEveryAccess = POLICY_READ | POLICY_WRITE | POLICY_EXECUTE;

// Where something stands in the policy's file; both count from 1.
struct Place {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

struct PolicyRule {
  Place place;      // of its [[rule]]
  std::string name; // "" when it has none
  PathPattern path;
  std::uint8_t access = kEveryAccess; // a mask
  policy_action action = POLICY_DENY;

  // The subject; what is absent matches everyone.
  std::optional<std::string> command;
  std::optional<PathPattern> executable;
  std::optional<std::string> cgroup; // below the mount of cgroup v2: "/system.slice/redis.service"
  std::optional<std::variant<std::uint32_t, std::string>> user; // by number, or by a name of the system's user database

  [[nodiscard]] bool asks_subject() const { return command || executable || cgroup || user; }
};

struct Policy {
  std::string file; // its name, for reports
  policy_mode mode = POLICY_AUDIT;
  policy_action fallback = POLICY_ALLOW; // "default" in the file
  policy_action unknown = POLICY_ALLOW;
  std::vector<PolicyRule> rules; // at most POLICY_MAX_RULES
};

// One thing that is wrong with the text of a policy.
struct PolicyFlaw {
  Place place; // line 0: of the whole
  std::string cause;
  std::string remedy;
};

// All that could be read, and all that is wrong. Without flaws the policy keeps what this header promises.
struct PolicyText {
  Policy policy;
  std::vector<PolicyFlaw> flaws; // in the order of the file
};

PolicyText parse_policy(std::string_view text, std::string file);

// The first flaw as an error (bad_data) that names file, line and column.
Result<Policy> without_flaws(PolicyText text);

// Reads a file of at most kPolicyFileBytes; "-" is the standard input.
Result<std::string> read_policy_text(const std::string& path);
// All of it together: what most callers want.
Result<Policy> read_policy(const std::string& path);

// "read", "read, write"; "allow", "deny"; "audit", "enforce".
std::string access_names(std::uint32_t access);
std::uint8_t access_named(std::string_view name); // 0: there is no such access
std::string_view action_name(unsigned action);
std::string_view mode_name(unsigned mode);

// Whether a cgroup is `ancestor` or below it, by their paths; false for one that is not given ("").
bool in_cgroup(std::string_view cgroup, std::string_view ancestor);

// "line 12", or "line 12 ('keys')" for a rule with a name.
std::string rule_label(const PolicyRule& rule);

} // namespace hotset
