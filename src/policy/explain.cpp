// SPDX-License-Identifier: Apache-2.0
#include "policy/explain.h"

#include <fmt/format.h>

#include <array>

#include "base/units.h"

namespace hotset {
namespace {

std::string quoted(std::string_view text) {
  return "'" + printable(text) + "'";
}

// "it is for WHAT WANTED, and the WHAT is GIVEN".
RuleStep differs(std::size_t rule, RuleObstacle obstacle, std::string_view what, const std::string& wanted,
                 const std::string& given) {
  const std::string is = given.empty() ? std::string("is not given") : "is " + given;
  return {rule, obstacle, fmt::format("it is for {} {}, and the {} {}", what, wanted, what, is)};
}

RuleStep try_rule(const CompiledPolicy& compiled, std::size_t index, const PolicyQuery& query, std::uint8_t access) {
  const PolicyRule& rule = compiled.policy.rules[index];
  if (!rule.path.matches(query.path))
    return {index, RuleObstacle::path, fmt::format("its path {} does not match", quoted(rule.path.text()))};
  if ((rule.access & access) == 0)
    return {index, RuleObstacle::access, fmt::format("it is for {} alone", access_names(rule.access))};
  if (rule.command && *rule.command != query.command)
    return differs(index, RuleObstacle::command, "command", quoted(*rule.command),
                   query.command.empty() ? "" : quoted(query.command));
  if (rule.executable && (query.executable.empty() || !rule.executable->matches(query.executable)))
    return differs(index, RuleObstacle::executable, "executable", quoted(rule.executable->text()),
                   query.executable.empty() ? "" : quoted(query.executable));
  if (rule.cgroup && !in_cgroup(query.cgroup, *rule.cgroup))
    return differs(index, RuleObstacle::cgroup, "cgroup", quoted(*rule.cgroup),
                   query.cgroup.empty() ? "" : quoted(query.cgroup));
  if (const std::uint32_t uid = compiled.image->rule[index].uid; rule.user && uid != query.uid)
    return differs(index, RuleObstacle::uid, "uid", std::to_string(uid),
                   query.uid == POLICY_NO_UID ? "" : std::to_string(query.uid));
  return {index, RuleObstacle::none, ""};
}

// The rules in order, up to the one that decides.
std::vector<RuleStep> try_rules(const CompiledPolicy& compiled, const PolicyQuery& query, std::uint8_t access) {
  std::vector<RuleStep> steps;
  for (std::size_t r = 0; r < compiled.policy.rules.size(); ++r) {
    steps.push_back(try_rule(compiled, r, query, access));
    if (steps.back().obstacle == RuleObstacle::none) break;
  }
  return steps;
}

std::uint16_t decider(const std::vector<RuleStep>& steps) {
  if (steps.empty() || steps.back().obstacle != RuleObstacle::none) return POLICY_NO_RULE;
  return static_cast<std::uint16_t>(steps.back().rule);
}

} // namespace

std::string_view obstacle_name(RuleObstacle obstacle) {
  constexpr std::array<std::string_view, 7> kNames{"none", "path", "access", "command", "executable", "cgroup", "uid"};
  return kNames.at(static_cast<std::size_t>(obstacle));
}

Result<PolicyExplanation> explain(const CompiledPolicy& compiled, const PolicyQuery& query) {
  PolicyExplanation explanation;
  explanation.verdict = decide(*compiled.image, query);
  for (unsigned bit = 0; bit < POLICY_ACCESSES; ++bit) {
    if ((query.access >> bit & 1) == 0) continue;
    PolicyQuery one = query;
    one.access = 1U << bit;
    const auto access = static_cast<std::uint8_t>(one.access);
    AccessExplanation& part = explanation.accesses.emplace_back(
        AccessExplanation{access, decide(*compiled.image, one), try_rules(compiled, one, access)});
    if (part.verdict.rule != decider(part.steps))
      return fail(
          ErrorCode::internal, "explain the policy", compiled.policy.file,
          fmt::format("its tables and its rules disagree on {} of {}", access_names(access), quoted(query.path)),
          "this is a bug; please report it with the policy");
  }
  return explanation;
}

} // namespace hotset
