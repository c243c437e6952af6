// SPDX-License-Identifier: Apache-2.0
// The naive twin of patterns and automata: a glob matched by recursion over its text, as one would explain it, and
// rules tried one by one.
#pragma once

#include <string_view>

#include "policy/compiled.h"

namespace hotset {

// Whether `path` matches from here on; `first`: the text before ended in a slash.
inline bool naive_glob(std::string_view glob, std::string_view path, bool after_slash = false) {
  if (glob.empty()) return path.empty();
  if (glob == "/") return path.empty() || path.front() == '/'; // a directory: itself, and all below
  if (glob.starts_with("**")) {
    const std::string_view rest = glob.substr(2);
    if (after_slash && rest.starts_with('/') && rest.size() > 1 && naive_glob(rest.substr(1), path, true)) return true;
    for (std::size_t taken = 0; taken <= path.size(); ++taken)
      if (naive_glob(rest, path.substr(taken))) return true;
    return false;
  }
  if (glob.front() == '*') {
    if (naive_glob(glob.substr(1), path)) return true;
    return !path.empty() && path.front() != '/' && naive_glob(glob, path.substr(1));
  }
  if (path.empty()) return false;
  if (glob.front() == '?') return path.front() != '/' && naive_glob(glob.substr(1), path.substr(1));
  if (glob.front() == '[') { // of tests: letters and ranges of them, no escapes
    const bool negated = glob[1] == '!';
    bool found = false;
    std::size_t at = negated ? 2 : 1;
    for (; glob[at] != ']'; ++at) {
      const bool range = glob[at + 1] == '-';
      found = found || (path.front() >= glob[at] && path.front() <= glob[range ? at + 2 : at]);
      if (range) at += 2;
    }
    return found != negated && path.front() != '/' && naive_glob(glob.substr(at + 1), path.substr(1));
  }
  return glob.front() == path.front() && naive_glob(glob.substr(1), path.substr(1), glob.front() == '/');
}

inline bool naive_matches(const PathPattern& pattern, std::string_view path) {
  return pattern.text() == "/" || naive_glob(pattern.text(), path);
}

inline bool naive_applies(const PolicyRule& rule, const PolicyQuery& query) {
  if (!naive_matches(rule.path, query.path)) return false;
  if (rule.command && *rule.command != query.command) return false;
  if (rule.executable && (query.executable.empty() || !naive_matches(*rule.executable, query.executable))) return false;
  if (rule.cgroup && *rule.cgroup != "/" && query.cgroup != *rule.cgroup &&
      !query.cgroup.starts_with(*rule.cgroup + "/"))
    return false;
  if (rule.cgroup && query.cgroup.empty()) return false;
  return !rule.user || std::get<std::uint32_t>(*rule.user) == query.uid;
}

inline policy_verdict naive_decide(const Policy& policy, const PolicyQuery& query) {
  policy_verdict told{};
  bool decided = false;
  for (unsigned bit = 0; bit < POLICY_ACCESSES; ++bit) {
    if ((query.access >> bit & 1) == 0) continue;
    policy_verdict one{static_cast<std::uint8_t>(policy.fallback), POLICY_BY_DEFAULT, POLICY_NO_RULE};
    for (std::size_t r = 0; r < policy.rules.size(); ++r) {
      if ((policy.rules[r].access >> bit & 1) == 0 || !naive_applies(policy.rules[r], query)) continue;
      one = {static_cast<std::uint8_t>(policy.rules[r].action), POLICY_BY_RULE, static_cast<std::uint16_t>(r)};
      break;
    }
    if (!decided || (one.action == POLICY_DENY && told.action != POLICY_DENY)) told = one;
    decided = true;
  }
  return told;
}

} // namespace hotset
