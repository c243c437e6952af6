// SPDX-License-Identifier: Apache-2.0
#include "present/doctor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "present/json.h"
namespace hotset {
namespace {

struct Group {
  std::string_view name;
  std::string_view title;
};

constexpr std::array kGroups{
    Group{"hook", "Page-fault hooks (one is needed)"},
    Group{"reference", "Reference measurements (clear_refs and one of the smaps are needed)"},
    Group{"map", "BPF maps (one of the two buffers is needed)"},
    Group{"bpf", "BPF programs and helpers"},
    Group{"kernel", "Kernel"},
    Group{"privilege", "Privileges"},
    Group{"cgroup", "Control groups"},
    Group{"mount", "Mounts"},
    Group{"build", "This build"},
};

constexpr std::size_t kMarkColumns = 4;

std::string_view title_of(std::string_view group) {
  const auto* row = std::ranges::find(kGroups, group, &Group::name);
  return row == kGroups.end() ? group : row->title;
}

std::string mark(const Finding& finding, const Style& style) {
  switch (finding.state) {
    case Finding::State::ok:
      return style.green(pad_right("ok", kMarkColumns));
    case Finding::State::failed:
      return style.red(pad_right("no", kMarkColumns));
    case Finding::State::not_applicable:
      return style.dim(pad_right("n/a", kMarkColumns));
  }
  return {};
}

std::string_view state_name(Finding::State state) {
  constexpr std::array<std::string_view, 3> kNames{"ok", "failed", "not_applicable"};
  return kNames.at(static_cast<std::size_t>(state));
}

std::string_view part_phrase(Part part) {
  switch (part) {
    case Part::none:
      return "";
    case Part::fault_hook:
      return "no page-fault hook works";
    case Part::transport:
      return "samples have no buffer to come through";
    case Part::reset:
      return "referenced bits can't be reset";
    case Part::reading:
      return "referenced bits can't be read";
  }
  return "";
}

// What helps: more privileges when they are what is missing, for that is soonest done; else what the first check says.
std::string remedy(const DoctorReport& report, const std::vector<Part>& missing) {
  auto stands_in_the_way = [&](const CheckResult& check) {
    return check.part != Part::none && std::ranges::find(missing, check.part) != missing.end();
  };
  auto is_about_privileges = [](const CheckResult& check) {
    return check.finding.barrier == Barrier::privilege || check.finding.barrier == Barrier::environment;
  };
  const CheckResult* chosen = nullptr;
  for (const CheckResult& check : report.checks)
    if (stands_in_the_way(check) &&
        (chosen == nullptr || (is_about_privileges(check) && !is_about_privileges(*chosen))))
      chosen = &check;
  return chosen == nullptr ? std::string() : chosen->finding.remedy;
}

std::string verdict(const DoctorReport& report, const Style& style) {
  std::vector<Part> missing = missing_parts(report.checks);
  if (missing.empty()) {
    auto name = [&](Part part) { return provider(report.checks, part)->name; };
    return style.green("The main job can run here") + fmt::format(": faults by {} through {}, labels by {} and {}.",
                                                                  name(Part::fault_hook), name(Part::transport),
                                                                  name(Part::reset), name(Part::reading));
  }
  std::vector<std::string_view> phrases;
  phrases.reserve(missing.size());
  for (Part part : missing)
    phrases.push_back(part_phrase(part));
  return style.red("The main job cannot run here") +
         fmt::format(": {}; {}.", fmt::join(phrases, ", "), remedy(report, missing));
}

std::string line(const CheckResult& check, std::size_t name_columns, const Style& style, std::size_t columns) {
  const Finding& finding = check.finding;
  std::size_t indent = 2 + kMarkColumns + name_columns + 2;
  std::string text = finding.ok() ? finding.detail : fmt::format("{}; {}", finding.cause, finding.remedy);
  std::string wrapped = wrap_text(text, indent, columns);
  std::string name = text.empty() ? std::string(check.name) : pad_right(check.name, name_columns + 2);
  return fmt::format("  {}{}{}\n", mark(finding, style), name, wrapped);
}

} // namespace

std::string doctor_text(const DoctorReport& report, const Style& style, std::size_t columns) {
  std::size_t name_columns = 0;
  for (const CheckResult& check : report.checks)
    name_columns = std::max(name_columns, check.name.size());
  std::string text = fmt::format("hotset on Linux {}\n", report.kernel);
  std::string_view group;
  for (const CheckResult& check : report.checks) {
    if (check.group != group) text += fmt::format("\n{}\n", style.bold(title_of(check.group)));
    group = check.group;
    text += line(check, name_columns, style, columns);
  }
  return text + "\n" + verdict(report, style) + "\n";
}

std::string doctor_json(const DoctorReport& report) {
  Json checks = Json::array();
  for (const CheckResult& check : report.checks) {
    const Finding& finding = check.finding;
    checks.push_back({{"name", check.name},
                      {"ok", finding.ok()},
                      {"state", state_name(finding.state)},
                      {"barrier", finding.barrier == Barrier::none ? Json() : Json(barrier_name(finding.barrier))},
                      {"cause", text_or_null(finding.cause)},
                      {"remedy", text_or_null(finding.remedy)},
                      {"detail", text_or_null(finding.detail)}});
  }
  Json document{{"schema", "hotset.doctor/1"},
                {"main_job", missing_parts(report.checks).empty()},
                {"kernel", report.kernel},
                {"checks", std::move(checks)}};
  return json_line(document);
}

} // namespace hotset
