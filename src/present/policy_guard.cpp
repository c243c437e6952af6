// SPDX-License-Identifier: Apache-2.0
#include "present/policy_guard.h"

#include <fmt/format.h>

#include "guard/setup.h"
#include "policy/policy.h"
#include "present/json.h"

namespace hotset {
namespace {

std::string row(std::string_view name, std::string_view value) {
  return fmt::format("{:<8} {}\n", name, value);
}

std::string shown_path(const GuardEvent& event) {
  if (event.walk == GUARD_WALK_whole) return printable(event.path);
  return fmt::format("...{} ({})", printable(event.path), walk_end_text(event.walk));
}

Json counts_json(const GuardCounts& counts) {
  Json document;
  for (std::size_t i = 0; i < kGuardCounters.size(); ++i)
    document[std::string(kGuardCounters[i].name)] = counts.of[i];
  document["hit_rate"] = or_null(counts.hit_rate());
  return document;
}

Json missed_json(const Result<std::uint64_t>& missed) {
  return missed ? Json(*missed) : Json();
}

// What it means that the kernel skipped runs of the programs that judge, or that it did not.
std::string missed_text(const Result<std::uint64_t>& missed, guard_hook hook) {
  if (!missed) return fmt::format("not known: {}", to_sentence(missed.error()));
  if (*missed == 0) return "0: the kernel skipped no run of the programs that judge";
  if (hook == GUARD_LSM)
    return fmt::format(
        "{}: so many opens nobody judged. They succeeded, whatever the policy says of them, since\n"
        "         this kernel preempts itself, and skips a program that already runs on a processor",
        *missed);
  return fmt::format(
      "{}: of so many ends of system calls the kernel skipped the program, for it preempts itself.\n"
      "         The opens among them nobody judged: what the policy denies of them is not told",
      *missed);
}

} // namespace

std::string policy_status_text(const GuardStatus& status, Nanoseconds age, const Style& style) {
  bool enforces = status.mode == POLICY_ENFORCE;
  std::string text = row("policy", fmt::format("{}: {}, default {}, unknown {}", printable(status.file),
                                               counted(status.rules.size(), "rule"), action_name(status.fallback),
                                               action_name(status.unknown)));
  text += row("mode", enforces ? style.bold("enforce") + ": what is denied fails"
                               : "audit: what would be denied is told, and succeeds");
  text += row("hook", status.hook == GUARD_LSM ? "lsm: each open, as the security module BPF"
                                               : "calls: the end of system calls that open or execute");
  text += row("cache", status.cache ? topology_text(status.topology) : "off: the path is walked at each open");
  text += row("loaded", fmt::format("{} ago, generation {} ({}, {} refused)", human_duration(age), status.generation,
                                    counted(status.reloads, "reload"), status.refused_reloads));
  text += row("events", fmt::format("at most {} a second", status.events_per_second));
  text += row("missed", missed_text(status.missed, status.hook));
  text += row("agent", fmt::format("pid {}", status.pid));
  return text;
}

std::string policy_status_json(const GuardStatus& status, Nanoseconds age) {
  Json rules = Json::array();
  for (const GuardStatus::Rule& rule : status.rules)
    rules.push_back({{"line", rule.line}, {"name", text_or_null(rule.name)}});
  return json_line({{"schema", "hotset.policy_status/1"},
                    {"file", printable(status.file)},
                    {"mode", mode_name(status.mode)},
                    {"hook", hook_name(status.hook)},
                    {"default", action_name(status.fallback)},
                    {"unknown", action_name(status.unknown)},
                    {"cache", status.cache},
                    {"topology", topology_name(status.topology)},
                    {"generation", status.generation},
                    {"age_s", to_seconds(age)},
                    {"reloads", status.reloads},
                    {"refused_reloads", status.refused_reloads},
                    {"events_per_second", status.events_per_second},
                    {"missed", missed_json(status.missed)},
                    {"pid", status.pid},
                    {"rules", std::move(rules)}});
}

std::string policy_stats_text(const PolicyStats& stats, const Style& style) {
  std::string span = stats.known_s == stats.requested_s
                         ? fmt::format("last {} s", stats.known_s)
                         : fmt::format("last {} s of {} s", stats.known_s, stats.requested_s);
  std::string text = style.bold(fmt::format("{:<17} {:>16} {:>16}\n", "", span, "since the start"));
  for (std::size_t i = 0; i < kGuardCounters.size(); ++i)
    text += fmt::format("{:<17} {:>16} {:>16}  {}\n", kGuardCounters[i].name, stats.span.of[i], stats.total.of[i],
                        style.dim(kGuardCounters[i].says));
  auto rate = [](const GuardCounts& counts) {
    std::optional<double> share = counts.hit_rate();
    return share ? fmt::format("{:.2f} %", 100 * *share) : std::string("no look-ups");
  };
  text += fmt::format("{:<17} {:>16} {:>16}\n", "hit rate", rate(stats.span), rate(stats.total));
  return text + row("missed", missed_text(stats.missed, stats.hook));
}

std::string policy_stats_json(const PolicyStats& stats) {
  return json_line({{"schema", "hotset.policy_stats/1"},
                    {"requested_s", stats.requested_s},
                    {"known_s", stats.known_s},
                    {"window", counts_json(stats.span)},
                    {"total", counts_json(stats.total)},
                    {"missed", missed_json(stats.missed)}});
}

std::string policy_event_text(const GuardEvent& event, const GuardStatus& status, Nanoseconds wall,
                              const Style& style) {
  std::string verdict = event.blocked ? style.red("denied") : style.yellow("would be denied");
  std::string by = event.reason == POLICY_BY_RULE      ? rule_text(status, event.rule, event.generation)
                   : event.reason == POLICY_BY_DEFAULT ? "the default"
                                                       : "what is said of unknown paths";
  return fmt::format("{} {} {} of {} to {} (pid {}, uid {}, cgroup {}), by {}", utc_text(wall), verdict,
                     access_names(event.access), shown_path(event), printable(event.comm),
                     event.pid == 0 ? std::string("elsewhere") : std::to_string(event.pid), event.uid, event.cgroup,
                     by);
}

std::string policy_event_json(const GuardEvent& event, const GuardStatus& status, Nanoseconds wall) {
  bool known = event.rule && event.generation == status.generation && *event.rule < status.rules.size();
  constexpr std::array<std::string_view, 3> kReasons{"rule", "default", "unknown"};
  Json access = Json::array();
  for (std::uint32_t one : {POLICY_READ, POLICY_WRITE, POLICY_EXECUTE})
    if ((event.access & one) != 0) access.push_back(access_names(one));
  return json_line({{"schema", "hotset.policy_event/1"},
                    {"time", utc_text(wall)},
                    {"blocked", event.blocked},
                    {"path", printable(event.path)},
                    {"path_flaw", event.walk == GUARD_WALK_whole ? Json() : Json(walk_end_text(event.walk))},
                    {"access", std::move(access)},
                    {"by", kReasons.at(event.reason)},
                    {"rule", event.rule ? Json(*event.rule + 1) : Json()},
                    {"line", known ? Json(status.rules[*event.rule].line) : Json()},
                    {"generation", event.generation},
                    {"pid", event.pid == 0 ? Json() : Json(event.pid)},
                    {"comm", printable(event.comm)},
                    {"uid", event.uid},
                    {"cgroup_id", event.cgroup},
                    {"inode", event.inode},
                    {"device", fmt::format("{}:{}", event.device_major, event.device_minor)}});
}

} // namespace hotset
