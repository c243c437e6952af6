// SPDX-License-Identifier: Apache-2.0
#include "present/policy_check.h"

#include <fmt/format.h>

#include "present/json.h"

namespace hotset {
namespace {

std::string where(const PolicyCheck& check, Place place) {
  std::string text = printable(check.policy.file);
  return place.line == 0 ? text : fmt::format("{}:{}:{}", text, place.line, place.column);
}

std::string severity(Severity severity, const Style& style) {
  std::string name(severity_name(severity));
  switch (severity) {
    case Severity::error:
      return style.red(name);
    case Severity::warning:
      return style.yellow(name);
    case Severity::note:
      return style.cyan(name);
  }
  return name;
}

std::string line(const PolicyCheck& check, const PolicyFinding& finding, const Style& style) {
  std::string text = fmt::format("{}: {}: {}", where(check, finding.place),
                                 severity(severity_of(finding.problem), style), finding.text);
  if (!finding.example.empty()) text += fmt::format(", as for {}", printable(finding.example));
  if (!finding.remedy.empty()) text += "; " + finding.remedy;
  return text + "\n";
}

std::string size_text(const PolicySize& size) {
  return fmt::format("an automaton of {} with {}, {}; {:.2g} % of what the kernel program takes",
                     counted(size.states, "state"), counted(size.classes, "class", "es"),
                     counted(size.matches, "match", "es"), size.share * 100);
}

} // namespace

std::string policy_check_text(const PolicyCheck& check, const Style& style) {
  std::string text;
  for (const PolicyFinding& finding : check.findings)
    text += line(check, finding, style);
  const std::size_t errors = check.count(Severity::error);
  const std::size_t warnings = check.count(Severity::warning);
  if (errors == 0 && check.size)
    text += fmt::format("{}: {}, {}\n", where(check, {}), counted(check.policy.rules.size(), "rule"),
                        size_text(*check.size));
  if (errors > 0)
    text += style.red("It can't be loaded") +
            fmt::format(": {}, {}.\n", counted(errors, "error"), counted(warnings, "warning"));
  else if (warnings > 0)
    text += style.yellow("It can be loaded") + fmt::format(", with {}.\n", counted(warnings, "warning"));
  else
    text += style.green("It can be loaded") + ".\n";
  return text;
}

std::string policy_check_json(const PolicyCheck& check) {
  auto number_or_null = [](std::uint32_t number) { return number == 0 ? Json() : Json(number); };
  Json findings = Json::array();
  for (const PolicyFinding& finding : check.findings) {
    Json others = Json::array();
    for (std::size_t other : finding.others)
      others.push_back(check.policy.rules[other].place.line);
    findings.push_back({{"problem", problem_name(finding.problem)},
                        {"severity", severity_name(severity_of(finding.problem))},
                        {"line", number_or_null(finding.place.line)},
                        {"column", number_or_null(finding.place.column)},
                        {"other_lines", std::move(others)},
                        {"text", printable(finding.text)},
                        {"remedy", text_or_null(finding.remedy)},
                        {"example", text_or_null(finding.example)}});
  }
  Json size;
  if (check.size)
    size = {{"states", check.size->states},
            {"classes", check.size->classes},
            {"matches", check.size->matches},
            {"share", check.size->share}};
  const std::size_t errors = check.count(Severity::error);
  return json_line({{"schema", "hotset.policy_check/1"},
                    {"file", printable(check.policy.file)},
                    {"loadable", errors == 0},
                    {"rules", check.policy.rules.size()},
                    {"errors", errors},
                    {"warnings", check.count(Severity::warning)},
                    {"size", std::move(size)},
                    {"findings", std::move(findings)}});
}

} // namespace hotset
