// SPDX-License-Identifier: Apache-2.0
// The only file that knows toml++. Two tables name the keys: of the policy, and of a rule.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <ranges>

#include "base/file.h"
#include "base/units.h"
#include "policy/policy.h"

// toml++ 3.3 asserts that a key in brackets begins as a key may, and handles one that does not right behind: "[&a]"
// would abort, or with NDEBUG, where clang is promised what was asserted, do anything.
#undef NDEBUG
#define TOML_ASSERT(condition) static_assert(true)
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace hotset {
namespace {

constexpr std::size_t kMostFlaws = 100;
constexpr std::size_t kMostNameBytes = 255;
constexpr std::size_t kLongestLine = 65'536; // bytes; patterns have at most 4,095

Place place_of(const toml::source_region& source) {
  return {static_cast<std::uint32_t>(source.begin.line), static_cast<std::uint32_t>(source.begin.column)};
}

// Levenshtein's distance, by rows.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t corner = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = corner + (a[i] == b[j] ? 0 : 1);
      corner = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

// "write 'access'" when a known word is near, else all known ones.
std::string nearest(std::string_view word, const std::vector<std::string_view>& known) {
  constexpr std::size_t kNear = 2;
  if (word.size() < 64) {
    const auto best = std::ranges::min_element(known, {}, [&](std::string_view other) { return edits(word, other); });
    if (edits(word, *best) <= kNear) return fmt::format("write '{}'", *best);
  }
  return fmt::format("known are {}", fmt::join(known, ", "));
}

class Parser {
 public:
  explicit Parser(PolicyText& text) : text_(text) {}

  void read(const toml::table& table) {
    read_keys(table, kPolicyKeys, text_.policy, {});
    for (const Key<Policy>& key : kPolicyKeys)
      if (key.required && !table.contains(key.name))
        blame({}, fmt::format("'{}' is missing", key.name), std::string(key.remedy));
  }

  void blame(Place place, std::string cause, std::string remedy) {
    if (text_.flaws.size() < kMostFlaws) text_.flaws.push_back({place, std::move(cause), std::move(remedy)});
  }

 private:
  template <class Subject>
  struct Key {
    std::string_view name;
    bool required;
    std::string_view remedy; // of a value that can't be used
    bool (Parser::*read)(const toml::node& value, Subject& subject);
  };
  static const std::array<Key<Policy>, 4> kPolicyKeys;
  static const std::array<Key<PolicyRule>, 8> kRuleKeys;

  // Each reader returns false for a value of the wrong kind, which read_keys puts into words.
  template <class Subject, std::size_t n>
  void read_keys(const toml::table& table, const std::array<Key<Subject>, n>& keys, Subject& subject,
                 std::string_view where) {
    for (const auto& [name, value] : table) {
      const auto* key = std::ranges::find(keys, name.str(), &Key<Subject>::name);
      if (key == keys.end()) {
        std::vector<std::string_view> known;
        std::ranges::transform(keys, std::back_inserter(known), &Key<Subject>::name);
        blame(place_of(name.source()), fmt::format("the key '{}' is unknown{}", printable(name.str()), where),
              nearest(name.str(), known));
      } else if (!(this->*key->read)(value, subject)) {
        blame(place_of(value.source()), fmt::format("the value of '{}' can't be used", key->name),
              std::string(key->remedy));
      }
    }
  }

  // One of two words.
  template <class Enum>
  static bool read_word(const toml::node& value, std::array<std::pair<std::string_view, Enum>, 2> words, Enum& word) {
    const auto* text = value.as_string();
    if (text == nullptr) return false;
    for (const auto& [name, meaning] : words) {
      if (text->get() != name) continue;
      word = meaning;
      return true;
    }
    return false;
  }
  static bool read_action_word(const toml::node& value, policy_action& action) {
    return read_word<policy_action>(value, {{{"allow", POLICY_ALLOW}, {"deny", POLICY_DENY}}}, action);
  }

  bool read_mode(const toml::node& value, Policy& policy) {
    return read_word<policy_mode>(value, {{{"audit", POLICY_AUDIT}, {"enforce", POLICY_ENFORCE}}}, policy.mode);
  }
  bool read_default(const toml::node& value, Policy& policy) { return read_action_word(value, policy.fallback); }
  bool read_unknown(const toml::node& value, Policy& policy) { return read_action_word(value, policy.unknown); }

  bool read_rules(const toml::node& value, Policy& policy) {
    const toml::array* rules = value.as_array();
    if (rules == nullptr || !rules->is_homogeneous(toml::node_type::table)) return false;
    for (const toml::node& rule : *rules) {
      if (policy.rules.size() == POLICY_MAX_RULES) {
        blame(place_of(rule.source()), fmt::format("there are more than {} rules", POLICY_MAX_RULES),
              "put what several of them say into one with a glob");
        return true;
      }
      read_rule(*rule.as_table(), policy.rules.emplace_back());
    }
    return true;
  }

  void read_rule(const toml::table& table, PolicyRule& rule) {
    rule.place = place_of(table.source());
    read_keys(table, kRuleKeys, rule, " in a rule");
    for (const Key<PolicyRule>& key : kRuleKeys)
      if (key.required && !table.contains(key.name))
        blame(rule.place, fmt::format("the rule has no '{}'", key.name), std::string(key.remedy));
  }

  bool read_pattern(const toml::node& value, PathPattern& pattern) {
    const auto* text = value.as_string();
    if (text == nullptr) return false;
    Result<PathPattern> parsed = PathPattern::parse(text->get());
    if (parsed)
      pattern = *std::move(parsed);
    else
      blame(place_of(value.source()), fmt::format("the pattern {}: {}", parsed.error().object, parsed.error().cause),
            parsed.error().remedy);
    return true;
  }
  bool read_path(const toml::node& value, PolicyRule& rule) { return read_pattern(value, rule.path); }
  bool read_executable(const toml::node& value, PolicyRule& rule) {
    return read_pattern(value, rule.executable.emplace());
  }
  bool read_action(const toml::node& value, PolicyRule& rule) { return read_action_word(value, rule.action); }

  bool read_access(const toml::node& value, PolicyRule& rule) {
    const toml::array* list = value.as_array();
    if (list == nullptr || list->empty()) return false;
    rule.access = 0;
    for (const toml::node& element : *list) {
      const auto* text = element.as_string();
      const std::uint8_t access = text == nullptr ? 0 : access_named(text->get());
      if (access == 0) return false;
      rule.access |= access;
    }
    return true;
  }

  bool read_name(const toml::node& value, PolicyRule& rule) {
    const auto* text = value.as_string();
    if (text == nullptr || text->get().empty() || text->get().size() > kMostNameBytes) return false;
    rule.name = text->get();
    return true;
  }
  bool read_command(const toml::node& value, PolicyRule& rule) {
    const auto* text = value.as_string();
    if (text == nullptr || text->get().empty() || text->get().size() >= POLICY_COMMAND_BYTES ||
        text->get().contains('\0'))
      return false;
    rule.command = text->get();
    return true;
  }
  bool read_cgroup(const toml::node& value, PolicyRule& rule) {
    const auto* text = value.as_string();
    if (text == nullptr || !is_normal_path(text->get()) || std::ranges::count(text->get(), '/') >= POLICY_CGROUP_LEVELS)
      return false;
    rule.cgroup = text->get();
    return true;
  }
  bool read_uid(const toml::node& value, PolicyRule& rule) {
    if (const auto* number = value.as_integer()) {
      if (number->get() < 0 || number->get() >= POLICY_NO_UID) return false;
      rule.user = static_cast<std::uint32_t>(number->get());
      return true;
    }
    const auto* text = value.as_string();
    if (text == nullptr || text->get().empty() || text->get().contains('\0') || parse_u64(text->get())) return false;
    rule.user = text->get();
    return true;
  }

  PolicyText& text_;
};

const std::array<Parser::Key<Policy>, 4> Parser::kPolicyKeys{{
    {"mode", true, R"(write mode = "audit" or mode = "enforce" above the rules)", &Parser::read_mode},
    {"default", true, R"(write default = "allow" or default = "deny" above the rules)", &Parser::read_default},
    {"unknown", true, R"(write unknown = "allow" or unknown = "deny" above the rules)", &Parser::read_unknown},
    {"rule", false, "write each rule as a table that begins with [[rule]]", &Parser::read_rules},
}};

const std::array<Parser::Key<PolicyRule>, 8> Parser::kRuleKeys{{
    {"path", true, R"(write path = "/a/file", "/a/directory/" or a glob)", &Parser::read_path},
    {"action", true, R"(write action = "allow" or action = "deny")", &Parser::read_action},
    {"access", false, R"(write a list of "read", "write" and "execute"; without it the rule is for all three)",
     &Parser::read_access},
    {"name", false, "write a text of 1 to 255 bytes", &Parser::read_name},
    {"command", false, "write the 1 to 15 bytes that the kernel keeps of a command's name, or use 'executable'",
     &Parser::read_command},
    {"executable", false, R"(write executable = "/usr/bin/program" or a glob)", &Parser::read_executable},
    {"cgroup", false,
     R"(write its path below the mount of cgroup v2, as "/system.slice/redis.service", of at most 15 names)",
     &Parser::read_cgroup},
    {"uid", false, "write a number from 0 to 4294967294, or the name of a user in quotes", &Parser::read_uid},
}};

// From 1; 0: there is none.
std::uint32_t first_long_line(std::string_view text) {
  std::uint32_t line = 1;
  for (std::size_t begin = 0; begin < text.size(); ++line) {
    std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end - begin > kLongestLine) return line;
    begin = end + 1;
  }
  return 0;
}

} // namespace

PolicyText parse_policy(std::string_view text, std::string file) {
  PolicyText parsed;
  parsed.policy.file = std::move(file);
  Parser parser(parsed);
  // A key of a hundred thousand dotted parts is a table as deep, and the library takes such a one apart by recursion.
  if (std::uint32_t line = first_long_line(text); line != 0) {
    parser.blame({line, 1}, fmt::format("the line has more than {} bytes", kLongestLine), "break it");
    return parsed;
  }
  const toml::parse_result result = toml::parse(text);
  if (result)
    parser.read(result.table());
  else
    parser.blame(place_of(result.error().source()), printable(result.error().description()), "correct the TOML");
  std::ranges::stable_sort(parsed.flaws, {},
                           [](const PolicyFlaw& flaw) { return std::pair(flaw.place.line, flaw.place.column); });
  return parsed;
}

Result<Policy> without_flaws(PolicyText text) {
  if (text.flaws.empty()) return std::move(text.policy);
  const PolicyFlaw& first = text.flaws.front();
  std::string where = text.policy.file;
  if (first.place.line != 0) where += fmt::format(":{}:{}", first.place.line, first.place.column);
  return fail(ErrorCode::bad_data, "use the policy", where, first.cause, first.remedy);
}

Result<std::string> read_policy_text(const std::string& path) {
  if (path == "-") return read_all(STDIN_FILENO, "the standard input", kPolicyFileBytes);
  return Files().read(path, kPolicyFileBytes);
}

Result<Policy> read_policy(const std::string& path) {
  HOTSET_TRY(const std::string text, read_policy_text(path));
  return without_flaws(parse_policy(text, path == "-" ? "the standard input" : path));
}

} // namespace hotset
