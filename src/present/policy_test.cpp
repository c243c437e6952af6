// SPDX-License-Identifier: Apache-2.0
#include "present/policy_test.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "present/json.h"

namespace hotset {
namespace {

std::string action(unsigned action, const Style& style) {
  const std::string name(action_name(action));
  return action == POLICY_DENY ? style.red(name) : style.green(name);
}

std::string decider(const Policy& policy, const policy_verdict& verdict) {
  if (verdict.rule == POLICY_NO_RULE) return "the default";
  const PolicyRule& rule = policy.rules[verdict.rule];
  return fmt::format("{}: {}", rule_label(rule), printable(rule.path.text()));
}

// Rules for other paths are many and say little: they share a line.
std::string passed_over(const Policy& policy, const AccessExplanation& part) {
  std::string text;
  std::vector<std::uint32_t> elsewhere;
  for (const RuleStep& step : part.steps) {
    if (step.obstacle == RuleObstacle::path) elsewhere.push_back(policy.rules[step.rule].place.line);
    if (step.obstacle == RuleObstacle::path || step.obstacle == RuleObstacle::none) continue;
    text += fmt::format("  not {}: {}\n", rule_label(policy.rules[step.rule]), step.why);
  }
  if (!elsewhere.empty())
    text +=
        fmt::format("  not line{} {}: for other paths\n", elsewhere.size() == 1 ? "" : "s", fmt::join(elsewhere, ", "));
  return text;
}

Json verdict_json(const Policy& policy, const policy_verdict& verdict) {
  const PolicyRule* rule = verdict.rule == POLICY_NO_RULE ? nullptr : &policy.rules[verdict.rule];
  return {{"action", action_name(verdict.action)},
          {"by", rule == nullptr ? "default" : "rule"},
          {"line", rule == nullptr ? Json() : Json(rule->place.line)},
          {"name", rule == nullptr ? Json() : text_or_null(rule->name)}};
}

} // namespace

std::string policy_test_text(const Policy& policy, const PolicyQuery& query, const PolicyExplanation& explanation,
                             const Style& style) {
  std::string text = fmt::format("{} {} of {}\n", action(explanation.verdict.action, style), access_names(query.access),
                                 printable(query.path));
  for (const AccessExplanation& part : explanation.accesses)
    text += fmt::format("{}: {}, by {}\n{}", access_names(part.access), action(part.verdict.action, style),
                        decider(policy, part.verdict), passed_over(policy, part));
  if (policy.mode == POLICY_AUDIT && explanation.verdict.action == POLICY_DENY)
    text += "The policy audits: such an open is reported, and succeeds.\n";
  return text;
}

std::string policy_test_json(const Policy& policy, const PolicyQuery& query, const PolicyExplanation& explanation) {
  Json accesses = Json::array();
  for (const AccessExplanation& part : explanation.accesses) {
    Json steps = Json::array();
    for (const RuleStep& step : part.steps) {
      const bool decides = step.obstacle == RuleObstacle::none;
      steps.push_back({{"line", policy.rules[step.rule].place.line},
                       {"decides", decides},
                       {"obstacle", decides ? Json() : Json(obstacle_name(step.obstacle))},
                       {"why", decides ? Json() : Json(step.why)}});
    }
    Json access = verdict_json(policy, part.verdict);
    access["access"] = access_names(part.access);
    access["steps"] = std::move(steps);
    accesses.push_back(std::move(access));
  }
  Json document{{"schema", "hotset.policy_test/1"},
                {"file", printable(policy.file)},
                {"path", printable(query.path)},
                {"mode", mode_name(policy.mode)}};
  document.update(verdict_json(policy, explanation.verdict));
  document["accesses"] = std::move(accesses);
  return json_line(document);
}

} // namespace hotset
