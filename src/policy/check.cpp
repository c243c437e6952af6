// SPDX-License-Identifier: Apache-2.0
#include "policy/check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <unordered_set>

#include "policy/automaton.h"
#include "policy/order.h"
#include "policy/relation.h"

namespace hotset {
namespace {

struct ProblemRow {
  std::string_view name;
  Severity severity;
};

// In the order of enum PolicyProblem.
constexpr std::array kProblems{
    ProblemRow{"flaw", Severity::error},         ProblemRow{"unknown_user", Severity::error},
    ProblemRow{"too_large", Severity::error},    ProblemRow{"shadowed", Severity::warning},
    ProblemRow{"empty", Severity::warning},      ProblemRow{"conflict", Severity::warning},
    ProblemRow{"unfinished", Severity::warning}, ProblemRow{"exception", Severity::note},
};

// Larger than the kernel program's, since paths are told from other texts; still a bound on time.
constexpr std::size_t kMostTransitions = 4 * std::size_t{POLICY_MAX_TRANSITIONS};
constexpr std::size_t kMostStates = 4 * std::size_t{POLICY_MAX_STATES};
// Of all pairs of rules together: a few seconds.
constexpr std::size_t kMostOfPairs = std::size_t{1} << 23;

std::string labels(const Policy& policy, const std::vector<std::size_t>& rules) {
  std::vector<std::string> each;
  for (std::size_t rule : rules)
    each.push_back(rule_label(policy.rules[rule]));
  return fmt::format("{}", fmt::join(each, ", "));
}

class Check {
 public:
  Check(PolicyCheck& report, const std::function<bool()>& stop)
      : report_(report), rules_(report.policy.rules), stop_(stop), relations_(kMostOfPairs, stop) {}

  void users_exist(const Users& users) {
    for (std::size_t r = 0; r < rules_.size(); ++r) {
      const std::string* name = rules_[r].user ? std::get_if<std::string>(&*rules_[r].user) : nullptr;
      if (name == nullptr) continue;
      const Result<std::optional<std::uint32_t>> uid = users(*name);
      if (!uid)
        add(PolicyProblem::unknown_user, r, {}, to_sentence(uid.error()));
      else if (!*uid)
        add(PolicyProblem::unknown_user, r, {}, fmt::format("there is no user '{}' here", *name),
            "correct the name, or write the user's number");
    }
  }

  // Compiles it with users that all exist, since those that do not have their own finding.
  void fits() {
    const Users any = [](const std::string&) -> Result<std::optional<std::uint32_t>> { return 0; };
    const Result<CompiledPolicy> compiled = compile_policy(report_.policy, any, stop_);
    if (!compiled && compiled.error().code == ErrorCode::interrupted) return;
    if (!compiled) {
      add(PolicyProblem::too_large, std::nullopt, {}, to_sentence(compiled.error()));
      return;
    }
    const policy_image& image = *compiled->image;
    const double share = std::max({static_cast<double>(image.states) / POLICY_MAX_STATES,
                                   static_cast<double>(image.states) * image.classes / POLICY_MAX_TRANSITIONS,
                                   static_cast<double>(image.matches) / POLICY_MAX_MATCHES,
                                   static_cast<double>(image.candidates) / POLICY_MAX_CANDIDATES});
    report_.size = PolicySize{image.states, image.classes, image.matches, share};
  }

  // A rule decides when it is among the deciders of some path.
  void each_rule_decides() {
    std::vector<const PathPattern*> paths;
    for (const PolicyRule& rule : rules_)
      paths.push_back(&rule.path);
    const AutomatonOptions options{
        .most_transitions = kMostTransitions,
        .most_states = kMostStates,
        .only_paths = true,
        .forget = [&](const PatternSet& settled) { return decided_by_others(report_.policy, settled); },
        .stop = stop_,
        .hopeless = {}};
    const std::optional<PathAutomaton> automaton = build_automaton(paths, options);
    if (!automaton) {
      add(PolicyProblem::unfinished, std::nullopt, {},
          "whether each rule decides something would take too long to find out");
      return;
    }
    std::unordered_set<PatternSet> seen;
    for (std::uint32_t state = 0; state < automaton->states() && !stopped(); ++state)
      if (automaton->is_path[state] && seen.insert(automaton->accepted[state]).second)
        note_deciders(automaton->accepted[state]);
    for (std::size_t r = 0; r < rules_.size() && !stopped(); ++r)
      if (!decides_.test(r)) add_idle(r);
  }

  void rules_agree() {
    for (std::size_t later = 0; later < rules_.size(); ++later)
      for (std::size_t earlier = 0; earlier < later && !stopped(); ++earlier)
        if (decides_.test(later) && decides_.test(earlier)) compare(earlier, later);
    if (relations_.gave_up())
      add(PolicyProblem::unfinished, std::nullopt, {},
          "whether some pairs of rules meet would take too long to find out");
  }

  [[nodiscard]] bool stopped() const { return stop_ && stop_(); }
  // What was found until then may be wrong, as that a rule never decides.
  void say_stopped() {
    report_.findings.clear();
    add(PolicyProblem::unfinished, std::nullopt, {}, "the check was stopped");
  }

  void sort() {
    std::ranges::stable_sort(report_.findings, {}, [](const PolicyFinding& finding) {
      return std::tuple(severity_of(finding.problem) != Severity::error, finding.place.line, finding.place.column);
    });
  }

 private:
  void add(PolicyProblem problem, std::optional<std::size_t> rule, std::vector<std::size_t> others, std::string text,
           std::string remedy = {}, std::string example = {}) {
    report_.findings.push_back({problem, rule ? rules_[*rule].place : Place{}, rule, std::move(others), std::move(text),
                                std::move(remedy), std::move(example)});
  }

  void note_deciders(const PatternSet& matching) {
    for (unsigned bit = 0; bit < POLICY_ACCESSES; ++bit) {
      const Deciders deciders = deciders_of(report_.policy, matching, bit);
      if (deciders.otherwise != POLICY_NO_RULE) decides_.set(deciders.otherwise);
      for (auto candidate = deciders.candidates.begin(); candidate != deciders.candidates.end(); ++candidate) {
        if (decides_.test(*candidate)) continue;
        const bool covered = std::any_of(deciders.candidates.begin(), candidate, [&](std::uint8_t earlier) {
          return relations_.covers(rules_[earlier], rules_[*candidate]);
        });
        if (!covered) decides_.set(*candidate);
      }
    }
  }

  void add_idle(std::size_t rule) {
    std::vector<std::size_t> deciding;
    for (std::size_t earlier = 0; earlier < rule; ++earlier)
      if ((rules_[earlier].access & rules_[rule].access) != 0 && relations_.covers(rules_[earlier], rules_[rule]) &&
          relations_.of_paths(rules_[earlier].path, rules_[rule].path).overlap())
        deciding.push_back(earlier);
    if (deciding.empty()) {
      add(PolicyProblem::empty, rule, {}, fmt::format("no path matches '{}'", rules_[rule].path.text()),
          "correct the pattern, or leave the rule out");
      return;
    }
    std::string text = fmt::format("never decides: wherever it matches, {} decide{} before",
                                   labels(report_.policy, deciding), deciding.size() == 1 ? "s" : "");
    add(PolicyProblem::shadowed, rule, std::move(deciding), std::move(text), "put it before, or leave it out");
  }

  void compare(std::size_t earlier, std::size_t later) {
    const PolicyRule& first = rules_[earlier];
    const PolicyRule& second = rules_[later];
    if (first.action == second.action || (first.access & second.access) == 0) return;
    if (!relations_.may_be_both(first, second)) return;
    const PathRelation paths = relations_.of_paths(first.path, second.path);
    if (!paths.known || !paths.overlap()) return;
    // Each access is decided on its own, so those that only one of them is for do not matter.
    const bool within = paths.first_within_second() && relations_.covers(second, first);
    if (within)
      add(PolicyProblem::exception, earlier, {later},
          fmt::format("an exception to {}: {} instead of {}", rule_label(second), action_name(first.action),
                      action_name(second.action)),
          {}, paths.common);
    else
      add(PolicyProblem::conflict, later, {earlier},
          fmt::format("conflicts with {}: where both match, that one decides ({}), since it comes first",
                      rule_label(first), action_name(first.action)),
          "make the narrower one come first, or the two not meet", paths.common);
  }

  PolicyCheck& report_;
  const std::vector<PolicyRule>& rules_;
  const std::function<bool()>& stop_;
  PatternSet decides_;
  Relations relations_;
};

} // namespace

Severity severity_of(PolicyProblem problem) {
  return kProblems.at(static_cast<std::size_t>(problem)).severity;
}

std::string_view problem_name(PolicyProblem problem) {
  return kProblems.at(static_cast<std::size_t>(problem)).name;
}

std::string_view severity_name(Severity severity) {
  constexpr std::array<std::string_view, 3> kNames{"error", "warning", "note"};
  return kNames.at(static_cast<std::size_t>(severity));
}

std::size_t PolicyCheck::count(Severity severity) const {
  return static_cast<std::size_t>(std::ranges::count(
      findings, severity, [](const PolicyFinding& finding) { return severity_of(finding.problem); }));
}

PolicyCheck check_policy(PolicyText text, const Users& users, const std::function<bool()>& stop) {
  PolicyCheck report;
  report.policy = std::move(text.policy);
  for (PolicyFlaw& flaw : text.flaws)
    report.findings.push_back(
        {PolicyProblem::flaw, flaw.place, std::nullopt, {}, std::move(flaw.cause), std::move(flaw.remedy), {}});
  if (!report.findings.empty()) return report;
  Check check(report, stop);
  check.users_exist(users);
  for (auto part : {&Check::fits, &Check::each_rule_decides, &Check::rules_agree})
    if (!check.stopped()) (check.*part)();
  if (check.stopped()) check.say_stopped();
  check.sort();
  return report;
}

} // namespace hotset
