// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <functional>
#include <map>
#include <ranges>
#include <utility>

#include "policy/automaton.h"
#include "policy/compiled.h"
#include "policy/order.h"

namespace hotset {
namespace {

std::uint8_t conditions_of(const PolicyRule& rule) {
  return static_cast<std::uint8_t>((rule.command ? POLICY_BY_COMMAND : 0) |
                                   (rule.executable ? POLICY_BY_EXECUTABLE : 0) | (rule.cgroup ? POLICY_BY_CGROUP : 0) |
                                   (rule.user ? POLICY_BY_UID : 0));
}

Result<std::uint32_t> uid_of(const Policy& policy, const PolicyRule& rule, const Users& users) {
  if (const auto* number = std::get_if<std::uint32_t>(&*rule.user)) return *number;
  const std::string& name = std::get<std::string>(*rule.user);
  HOTSET_TRY(const std::optional<std::uint32_t> uid, users(name));
  if (!uid)
    return fail(ErrorCode::bad_data, "use the policy", fmt::format("{}:{}", policy.file, rule.place.line),
                fmt::format("there is no user '{}' here", name), "correct the name, or write the user's number");
  return *uid;
}

Result<> fill_rules(policy_image& image, const Policy& policy, const Users& users) {
  for (std::size_t r = 0; r < policy.rules.size(); ++r) {
    const PolicyRule& rule = policy.rules[r];
    policy_rule& compiled = image.rule[r];
    compiled.access = rule.access;
    compiled.action = static_cast<std::uint8_t>(rule.action);
    compiled.conditions = conditions_of(rule);
    image.conditions |= compiled.conditions;
    if (rule.command) std::ranges::copy(*rule.command | std::views::take(POLICY_COMMAND_BYTES - 1), compiled.command);
    if (rule.cgroup) {
      compiled.cgroup = cgroup_number(*rule.cgroup);
      compiled.cgroup_level = cgroup_level(*rule.cgroup);
    }
    if (rule.user) {
      HOTSET_TRY(compiled.uid, uid_of(policy, rule, users));
    }
  }
  return {};
}

// The patterns of a policy as the automaton numbers them: the paths of all rules, then the executables of those that
// have one.
struct Patterns {
  std::vector<const PathPattern*> all;
  std::vector<std::size_t> asked_by; // by executable: the rule

  explicit Patterns(const Policy& policy) {
    for (const PolicyRule& rule : policy.rules)
      all.push_back(&rule.path);
    for (std::size_t r = 0; r < policy.rules.size(); ++r)
      if (const auto& executable = policy.rules[r].executable) {
        all.push_back(&*executable);
        asked_by.push_back(r);
      }
  }
};

// Fills in the matches, each one once, and finds the match of a set of patterns.
class Matches {
 public:
  Matches(policy_image& image, const Policy& policy, const Patterns& patterns)
      : image_(image), policy_(policy), patterns_(patterns) {
    number_of({}); // POLICY_NO_MATCH
  }

  std::uint16_t number_of(const PatternSet& accepted) {
    policy_match match{};
    for (unsigned bit = 0; bit < POLICY_ACCESSES; ++bit)
      match.choice[bit] = choice(deciders_of(policy_, accepted, bit));
    for (std::size_t e = 0; e < patterns_.asked_by.size(); ++e)
      if (const std::size_t rule = patterns_.asked_by[e]; accepted.test(policy_.rules.size() + e))
        match.executable[rule / 64] |= std::uint64_t{1} << rule % 64;
    auto [at, fresh] = numbers_.emplace(std::bit_cast<Key>(match), static_cast<std::uint16_t>(numbers_.size()));
    if (fresh && fits()) image_.match[at->second] = match;
    return at->second;
  }

  // Where they do not, what is filled in is of no use.
  [[nodiscard]] bool fits() const {
    return numbers_.size() <= POLICY_MAX_MATCHES && image_.candidates <= POLICY_MAX_CANDIDATES;
  }
  [[nodiscard]] std::size_t size() const { return numbers_.size(); }

 private:
  using Key = std::array<std::uint64_t, sizeof(policy_match) / sizeof(std::uint64_t)>;

  policy_choice choice(const Deciders& deciders) {
    policy_choice choice{
        .first = 0, .count = static_cast<std::uint16_t>(deciders.candidates.size()), .otherwise = deciders.otherwise};
    if (deciders.candidates.empty()) return choice;
    auto [at, fresh] = lists_.emplace(deciders.candidates, image_.candidates);
    if (fresh) {
      image_.candidates += static_cast<std::uint32_t>(deciders.candidates.size());
      if (fits()) std::ranges::copy(deciders.candidates, image_.candidate + at->second);
    }
    choice.first = at->second;
    return choice;
  }

  policy_image& image_;
  const Policy& policy_;
  const Patterns& patterns_;
  std::map<Key, std::uint16_t> numbers_;
  std::map<std::vector<std::uint8_t>, std::uint32_t> lists_; // where each list of candidates begins
};

// By state, whether another match than its own can still come. Of an automaton that is not finished: surely can.
std::vector<bool> open_states(const PathAutomaton& automaton, std::span<const std::uint16_t> match) {
  const std::size_t classes = automaton.classes.sample.size();
  std::vector<std::vector<std::uint32_t>> before(automaton.states());
  std::vector<bool> open(automaton.states());
  std::vector<std::uint32_t> spread;
  for (std::uint32_t state = 0; state < automaton.next.size() / classes; ++state)
    for (std::uint32_t next : std::span(automaton.next).subspan(state * classes, classes)) {
      before[next].push_back(state);
      if (match[next] == match[state] || open[state]) continue;
      open[state] = true;
      spread.push_back(state);
    }
  while (!spread.empty()) {
    const std::uint32_t state = spread.back();
    spread.pop_back();
    for (std::uint32_t earlier : before[state]) {
      if (open[earlier]) continue;
      open[earlier] = true;
      spread.push_back(earlier);
    }
  }
  return open;
}

// Whether an automaton cannot come to fit any more, while it is being built. States that are settled merge at the end,
// so that more may be built than fit, up to the bounds of AutomatonOptions. Those that are open never merge, and
// matches become no fewer, so that these tell sooner. Looking takes as long as building some of it, so that is done now
// and then.
class Hopeless {
 public:
  Hopeless(const Policy& policy, const Patterns& patterns) : matches_(*image_, policy, patterns) {}

  bool operator()(const PathAutomaton& so_far) {
    const std::size_t classes = so_far.classes.sample.size();
    const std::size_t most = std::min<std::size_t>(POLICY_MAX_STATES, POLICY_MAX_TRANSITIONS / classes);
    const std::size_t work = so_far.states() + so_far.next.size() / classes; // come upon, and built
    if (so_far.states() <= most || work <= looked_at_ + looked_at_ / 8) return false;
    looked_at_ = work;
    while (match_.size() < so_far.states()) {
      match_.push_back(matches_.number_of(so_far.accepted[match_.size()]));
      if (!matches_.fits()) return true;
    }
    return static_cast<std::size_t>(std::ranges::count(open_states(so_far, match_), true)) > most;
  }

 private:
  std::unique_ptr<policy_image> image_ = std::make_unique<policy_image>(); // of which the tables of matches are used
  Matches matches_;
  std::vector<std::uint16_t> match_; // by state
  std::size_t looked_at_ = 0;        // work
};

// Writes the automaton down: settled states first and one for each match, then the others.
bool fill_automaton(policy_image& image, const PathAutomaton& automaton, Matches& matches) {
  std::vector<std::uint16_t> match;
  for (const PatternSet& accepted : automaton.accepted) {
    match.push_back(matches.number_of(accepted));
    if (!matches.fits()) return false;
  }
  const std::vector<bool> open = open_states(automaton, match);
  std::vector<std::uint32_t> number(automaton.states());
  std::vector<std::uint32_t> kept; // by new number, the old one
  std::map<std::uint16_t, std::uint32_t> settled;
  for (std::uint32_t state = 0; state < automaton.states(); ++state) {
    if (open[state]) continue;
    auto [at, fresh] = settled.emplace(match[state], static_cast<std::uint32_t>(kept.size()));
    if (fresh) kept.push_back(state);
    number[state] = at->second;
  }
  for (std::uint32_t state = 0; state < automaton.states(); ++state) {
    if (!open[state]) continue;
    number[state] = static_cast<std::uint32_t>(kept.size());
    kept.push_back(state);
  }
  const std::size_t classes = automaton.classes.sample.size();
  if (kept.size() > POLICY_MAX_STATES || kept.size() * classes > POLICY_MAX_TRANSITIONS) return false;

  image.start = number[0];
  image.settled = static_cast<std::uint32_t>(settled.size());
  image.states = static_cast<std::uint32_t>(kept.size());
  image.classes = static_cast<std::uint32_t>(classes);
  image.matches = static_cast<std::uint32_t>(matches.size());
  std::ranges::copy(automaton.classes.of, image.class_of);
  for (std::size_t state = 0; state < kept.size(); ++state) {
    image.match_of[state] = match[kept[state]];
    for (std::size_t c = 0; c < classes; ++c)
      image.next[state * classes + c] = static_cast<std::uint16_t>(number[automaton.next[kept[state] * classes + c]]);
  }
  return true;
}

// Fills in all that depends on patterns; false when it does not fit.
bool fill_tables(policy_image& image, const Policy& policy, const std::function<bool()>& stop) {
  const Patterns patterns(policy);
  AutomatonOptions options;
  options.forget = [&](const PatternSet& settled) { return decided_by_others(policy, settled); };
  options.stop = stop;
  Hopeless hopeless(policy, patterns);
  options.hopeless = std::ref(hopeless);
  const std::optional<PathAutomaton> automaton = build_automaton(patterns.all, options);
  if (!automaton) return false;
  image.rules = static_cast<std::uint16_t>(policy.rules.size());
  Matches matches(image, policy, patterns);
  return fill_automaton(image, *automaton, matches);
}

bool first_rules_fit(const Policy& policy, std::size_t rules, const std::function<bool()>& stop) {
  Policy head = policy;
  head.rules.resize(rules);
  return fill_tables(*std::make_unique<policy_image>(), head, stop);
}

// A policy grows with its rules, so the one with which it became too large is found by halving. What is too large costs
// most to try, and a few rules can be it; so that begins with few, and doubles them while they fit.
Error too_large(const Policy& policy, const std::function<bool()>& stop) {
  std::size_t fits = 0;
  std::size_t too_many = policy.rules.size();
  for (std::size_t rules = 1; rules < too_many; rules *= 2)
    (first_rules_fit(policy, rules, stop) ? fits : too_many) = rules;
  while (too_many - fits > 1) {
    const std::size_t middle = fits + (too_many - fits) / 2;
    (first_rules_fit(policy, middle, stop) ? fits : too_many) = middle;
  }
  const PolicyRule& rule = policy.rules.at(fits);
  return {
      ErrorCode::bad_data, "use the policy", fmt::format("{}:{}", policy.file, rule.place.line),
      fmt::format("with this rule it is larger than the kernel program takes ({} states, {} transitions, {} matches)",
                  POLICY_MAX_STATES, POLICY_MAX_TRANSITIONS, POLICY_MAX_MATCHES),
      "write it, or those before it, with fewer '*' and '?' in front of fixed text"};
}

} // namespace

Result<CompiledPolicy> compile_policy(Policy policy, const Users& users, const std::function<bool()>& stop) {
  CompiledPolicy compiled;
  compiled.image = std::make_unique<policy_image>();
  compiled.policy = std::move(policy);
  policy_image& image = *compiled.image;
  image.mode = static_cast<std::uint8_t>(compiled.policy.mode);
  image.fallback = static_cast<std::uint8_t>(compiled.policy.fallback);
  image.unknown = static_cast<std::uint8_t>(compiled.policy.unknown);
  HOTSET_CHECK(fill_rules(image, compiled.policy, users));
  if (fill_tables(image, compiled.policy, stop)) return compiled;
  Error error = too_large(compiled.policy, stop);
  if (stop && stop()) return fail(errno_error(EINTR, "use the policy", compiled.policy.file));
  return fail(std::move(error));
}

} // namespace hotset
