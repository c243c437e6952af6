// SPDX-License-Identifier: Apache-2.0
// The compiled policy against the naive twin, and what it promises to the kernel program.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <span>

#include "policy/compiled.h"
#include "policy_glob.h"

namespace hotset {
namespace {

Result<std::optional<std::uint32_t>> no_users(const std::string&) {
  return std::nullopt;
}

PolicyRule rule(std::string_view path, policy_action action, std::uint8_t access = kEveryAccess) {
  PolicyRule rule;
  rule.path = PathPattern::parse(path).value();
  rule.action = action;
  rule.access = access;
  return rule;
}

CompiledPolicy compiled(std::vector<PolicyRule> rules, policy_action fallback = POLICY_ALLOW) {
  Policy policy;
  policy.fallback = fallback;
  policy.rules = std::move(rules);
  return compile_policy(std::move(policy), no_users).value();
}

policy_verdict ask(const CompiledPolicy& policy, std::string path, std::uint32_t access = POLICY_READ) {
  PolicyQuery query;
  query.path = std::move(path);
  query.access = access;
  return decide(*policy.image, query);
}

TEST(PolicyCompile, the_first_rule_that_matches_decides) {
  const CompiledPolicy policy =
      compiled({rule("/etc/ssl/public", POLICY_ALLOW), rule("/etc/ssl/", POLICY_DENY), rule("/etc/", POLICY_ALLOW)},
               POLICY_DENY);
  EXPECT_EQ(ask(policy, "/etc/ssl/public").rule, 0);
  EXPECT_EQ(ask(policy, "/etc/ssl/private").rule, 1);
  EXPECT_EQ(ask(policy, "/etc/ssl/private").action, POLICY_DENY);
  EXPECT_EQ(ask(policy, "/etc/passwd").rule, 2);
  EXPECT_EQ(ask(policy, "/usr/bin/ls").reason, POLICY_BY_DEFAULT);
  EXPECT_EQ(ask(policy, "/usr/bin/ls").action, POLICY_DENY);
}

TEST(PolicyCompile, each_access_is_decided_on_its_own_and_one_denied_is_all_denied) {
  const CompiledPolicy policy = compiled({rule("/a", POLICY_DENY, POLICY_WRITE), rule("/a", POLICY_ALLOW)});
  EXPECT_EQ(ask(policy, "/a", POLICY_READ).action, POLICY_ALLOW);
  EXPECT_EQ(ask(policy, "/a", POLICY_WRITE).action, POLICY_DENY);
  EXPECT_EQ(ask(policy, "/a", POLICY_READ | POLICY_WRITE).action, POLICY_DENY);
  EXPECT_EQ(ask(policy, "/a", POLICY_READ | POLICY_WRITE).rule, 0);
}

TEST(PolicyCompile, a_match_says_nothing_of_the_subject) {
  PolicyRule redis = rule("/data/", POLICY_ALLOW);
  redis.command = "redis-server";
  const CompiledPolicy policy = compiled({redis, rule("/data/", POLICY_DENY)});
  PolicyQuery query;
  query.path = "/data/dump.rdb";
  EXPECT_EQ(decide(*policy.image, query).action, POLICY_DENY);
  query.command = "redis-server";
  EXPECT_EQ(decide(*policy.image, query).action, POLICY_ALLOW);
  const std::uint32_t match = match_of_path(*policy.image, query.path);
  EXPECT_EQ(policy.image->match[match].choice[0].count, 1);
  EXPECT_EQ(policy.image->match[match].choice[0].otherwise, 1);
}

TEST(PolicyCompile, an_executable_is_found_by_the_same_automaton) {
  PolicyRule only = rule("/data/", POLICY_ALLOW);
  only.executable = PathPattern::parse("/usr/bin/redis-*").value();
  const CompiledPolicy policy = compiled({only, rule("/data/", POLICY_DENY)});
  PolicyQuery query;
  query.path = "/data/dump.rdb";
  query.executable = "/usr/bin/redis-server";
  EXPECT_EQ(decide(*policy.image, query).action, POLICY_ALLOW);
  query.executable = "/usr/bin/cat";
  EXPECT_EQ(decide(*policy.image, query).action, POLICY_DENY);
  EXPECT_EQ(policy.image->conditions, POLICY_BY_EXECUTABLE);
}

TEST(PolicyCompile, an_unknown_executable_is_unknown_only_to_a_rule_that_asks_for_one) {
  PolicyRule only = rule("/data/", POLICY_ALLOW);
  only.executable = PathPattern::parse("/usr/bin/redis").value();
  CompiledPolicy policy = compiled({only, rule("/etc/", POLICY_ALLOW)});
  policy.image->unknown = POLICY_DENY;
  policy_subject subject{};
  subject.executable = POLICY_UNKNOWN_MATCH;
  auto verdict = [&](std::string_view path) {
    return policy_decide(policy.image.get(), match_of_path(*policy.image, path), POLICY_READ, &subject);
  };
  EXPECT_EQ(verdict("/data/x").action, POLICY_DENY);
  EXPECT_EQ(verdict("/data/x").reason, POLICY_BY_UNKNOWN);
  EXPECT_EQ(verdict("/data/x").rule, 0);
  EXPECT_EQ(verdict("/etc/x").reason, POLICY_BY_RULE);
  EXPECT_EQ(verdict("/var/x").reason, POLICY_BY_DEFAULT);
}

TEST(PolicyCompile, an_unknown_path_is_what_the_policy_says_of_unknown) {
  CompiledPolicy policy = compiled({rule("/a", POLICY_ALLOW)});
  policy.image->unknown = POLICY_DENY;
  const policy_subject subject{};
  const policy_verdict verdict = policy_decide(policy.image.get(), POLICY_UNKNOWN_MATCH, POLICY_READ, &subject);
  EXPECT_EQ(verdict.action, POLICY_DENY);
  EXPECT_EQ(verdict.reason, POLICY_BY_UNKNOWN);
  EXPECT_EQ(verdict.rule, POLICY_NO_RULE);
}

TEST(PolicyCompile, a_cgroup_is_itself_and_all_below) {
  PolicyRule below = rule("/a", POLICY_DENY);
  below.cgroup = "/system.slice/redis.service";
  const CompiledPolicy policy = compiled({below});
  auto action = [&](std::string cgroup) {
    PolicyQuery query;
    query.path = "/a";
    query.cgroup = std::move(cgroup);
    return decide(*policy.image, query).action;
  };
  EXPECT_EQ(action("/system.slice/redis.service"), POLICY_DENY);
  EXPECT_EQ(action("/system.slice/redis.service/worker"), POLICY_DENY);
  EXPECT_EQ(action("/system.slice"), POLICY_ALLOW);
  EXPECT_EQ(action("/"), POLICY_ALLOW);
  EXPECT_EQ(action(""), POLICY_ALLOW);
}

TEST(PolicyCompile, a_path_that_no_rule_can_match_is_settled_after_a_few_bytes) {
  const CompiledPolicy policy = compiled({rule("/etc/shadow", POLICY_DENY), rule("/var/log/*.log", POLICY_DENY)});
  const policy_image& image = *policy.image;
  EXPECT_FALSE(policy_settled(&image, image.start));
  const std::uint32_t state = policy_next(&image, image.start, 'x');
  EXPECT_TRUE(policy_settled(&image, state));
  EXPECT_EQ(policy_match_of(&image, state), POLICY_NO_MATCH);
}

TEST(PolicyCompile, a_rule_for_all_paths_is_settled_from_the_start) {
  for (std::string_view all : {"/", "/**"}) {
    const CompiledPolicy policy = compiled({rule(all, POLICY_DENY)});
    EXPECT_TRUE(policy_settled(policy.image.get(), policy.image->start)) << all;
    EXPECT_EQ(ask(policy, "/").action, POLICY_DENY);
  }
}

TEST(PolicyCompile, a_settled_state_keeps_its_match_whatever_comes) {
  const CompiledPolicy policy =
      compiled({rule("/**/*.pem", POLICY_DENY), rule("/a/", POLICY_ALLOW), rule("/", POLICY_DENY)});
  const policy_image& image = *policy.image;
  ASSERT_GT(image.settled, 0U);
  for (std::uint32_t state = 0; state < image.settled; ++state)
    for (unsigned byte = 0; byte < 256; ++byte)
      EXPECT_EQ(policy_next(&image, state, static_cast<std::uint8_t>(byte)), state);
}

TEST(PolicyCompile, many_rules_that_may_match_anywhere_do_not_multiply) {
  std::vector<PolicyRule> rules;
  for (int i = 0; i < 60; ++i)
    rules.push_back(rule(fmt::format("/**/.secret{}/", i), POLICY_DENY));
  EXPECT_LT(compiled(std::move(rules)).image->states, 20000U); // the square of the text, and not 2^60
}

TEST(PolicyCompile, what_is_too_large_is_refused_and_the_rule_named) {
  Policy policy;
  policy.file = "big.toml";
  for (std::string_view path : {"/etc/passwd", "/a????????????????????*", "/b"})
    policy.rules.push_back(rule(path, POLICY_DENY));
  for (std::uint32_t i = 0; i < 3; ++i)
    policy.rules[i].place = {10 + i, 1};
  Result<CompiledPolicy> refused = compile_policy(policy, no_users);
  ASSERT_TRUE(refused.has_value()) << "the rule reads only forwards, so its automaton is small";
  policy.rules[1].path = PathPattern::parse("/????????????????????a*").value();
  refused = compile_policy(policy, no_users);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::bad_data);
  EXPECT_EQ(refused.error().object, "big.toml:11");
}

// A state that is built asks whether to stop, so that counts the work.
TEST(PolicyCompile, what_is_much_too_large_is_given_up_at_twice_the_states_that_fit) {
  Policy policy;
  policy.file = "big.toml";
  policy.rules.push_back(rule("/??????????????????????a*", POLICY_DENY)); // would take 2^23 states, with few classes
  std::size_t built = 0;
  const std::function<bool()> count = [&] {
    ++built;
    return false;
  };
  ASSERT_FALSE(compile_policy(policy, no_users, count));
  EXPECT_GT(built, POLICY_MAX_STATES / 2);
  EXPECT_LT(built, POLICY_MAX_STATES / 10 * 11) << "each leads to two others";
}

TEST(PolicyCompile, what_is_too_large_is_given_up_when_more_states_are_open_than_fit) {
  Policy policy;
  policy.file = "big.toml";
  // Which of 15 bytes were an 'a', three times over, by what came first: 98,304 states, and so no twice that fits.
  for (std::string_view path : {"/*c", "/*d", "/??????????????a*"})
    policy.rules.push_back(rule(path, POLICY_DENY));
  std::size_t built = 0;
  const Result<CompiledPolicy> refused = compile_policy(policy, no_users, [&] {
    ++built;
    return false;
  });
  ASSERT_FALSE(refused);
  EXPECT_LT(built, POLICY_MAX_STATES / 10 * 13);
}

TEST(PolicyCompile, the_rule_that_is_too_much_is_found_by_few_that_are_too_large) {
  Policy policy;
  policy.file = "big.toml";
  for (std::uint32_t i = 0; i < 128; ++i) {
    policy.rules.push_back(rule(i == 2 ? "/??????????????????????a*" : fmt::format("/x{}/*", i), POLICY_DENY));
    policy.rules.back().place = {10 + i, 1};
  }
  std::size_t built = 0;
  const Result<CompiledPolicy> refused = compile_policy(policy, no_users, [&] {
    ++built;
    return false;
  });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().object, "big.toml:12");
  EXPECT_LT(built, POLICY_MAX_STATES / 10 * 31); // all rules, the first four, the first three
}

TEST(PolicyCompile, a_user_is_looked_up_and_one_that_is_missing_is_refused) {
  Policy policy;
  policy.file = "p.toml";
  policy.rules = {rule("/a", POLICY_DENY)};
  policy.rules[0].user = "redis";
  policy.rules[0].place = {7, 1};
  const Result<CompiledPolicy> refused = compile_policy(policy, no_users);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(
      to_sentence(refused.error()),
      "cannot use the policy p.toml:7: there is no user 'redis' here; correct the name, or write the user's number");
  const Result<CompiledPolicy> found =
      compile_policy(policy, [](const std::string&) -> Result<std::optional<std::uint32_t>> { return 105; });
  EXPECT_EQ(found->image->rule[0].uid, 105U);
}

// As the kernel program does it: name by name from the leaf, each from its end, until nothing can change.
std::uint32_t match_of_walk(const policy_image& image, std::string_view path) {
  std::uint32_t state = image.start;
  while (!path.empty() && !policy_settled(&image, state)) {
    const std::size_t slash = path.rfind('/');
    for (std::size_t i = path.size(); i-- > slash + 1;)
      state = policy_next(&image, state, static_cast<std::uint8_t>(path[i]));
    state = policy_next(&image, state, '/');
    path = path.substr(0, slash);
  }
  return policy_match_of(&image, state);
}

// Short words over few letters, so that patterns and paths meet often.
class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  unsigned below(unsigned n) { return static_cast<unsigned>(engine_() % n); }
  std::string_view one_of(std::span<const std::string_view> words) {
    return words[below(static_cast<unsigned>(words.size()))];
  }

  std::string path(std::span<const std::string_view> parts) {
    std::string path;
    for (unsigned names = 1 + below(3); names > 0; --names) {
      path += '/';
      for (unsigned n = 1 + below(3); n > 0; --n)
        path += one_of(parts);
    }
    return path;
  }
  PathPattern pattern() {
    static constexpr std::array<std::string_view, 8> kParts{"a", "b", "ab", "*", "?", "[a-b]", "[!a]", "**"};
    while (true) {
      std::string text = path(kParts) + (below(4) == 0 ? "/" : "");
      if (Result<PathPattern> parsed = PathPattern::parse(text)) return *std::move(parsed);
    }
  }
  std::string path() {
    static constexpr std::array<std::string_view, 4> kParts{"a", "b", "c", "ab"};
    return path(kParts);
  }

 private:
  std::mt19937 engine_;
};

PolicyRule random_rule(Dice& dice) {
  static constexpr std::array<std::string_view, 2> kCommands{"sh", "redis"};
  static constexpr std::array<std::string_view, 3> kCgroups{"/", "/x", "/x/y"};
  PolicyRule rule;
  rule.path = dice.pattern();
  rule.access = static_cast<std::uint8_t>(1 + dice.below(7));
  rule.action = dice.below(2) == 0 ? POLICY_ALLOW : POLICY_DENY;
  if (dice.below(4) == 0) rule.command = dice.one_of(kCommands);
  if (dice.below(4) == 0) rule.executable = dice.pattern();
  if (dice.below(4) == 0) rule.cgroup = dice.one_of(kCgroups);
  if (dice.below(4) == 0) rule.user = dice.below(2);
  return rule;
}

TEST(PolicyCompile, agrees_with_the_naive_matcher_on_random_policies_and_questions) {
  static constexpr std::array<std::string_view, 3> kCommands{"sh", "redis", ""};
  static constexpr std::array<std::string_view, 5> kCgroups{"/", "/x", "/x/y", "/x/y/z", ""};
  Dice dice(20260102);
  for (int round = 0; round < 300; ++round) {
    std::vector<PolicyRule> rules;
    for (unsigned n = dice.below(8); n > 0; --n)
      rules.push_back(random_rule(dice));
    const CompiledPolicy policy = compiled(std::move(rules), dice.below(2) == 0 ? POLICY_ALLOW : POLICY_DENY);
    for (int asked = 0; asked < 50; ++asked) {
      PolicyQuery query;
      query.path = dice.path();
      query.access = 1 + dice.below(7);
      query.command = dice.one_of(kCommands);
      query.executable = dice.below(3) == 0 ? "" : dice.path();
      query.cgroup = dice.one_of(kCgroups);
      query.uid = dice.below(3);
      const policy_verdict told = decide(*policy.image, query);
      ASSERT_EQ(match_of_walk(*policy.image, query.path), match_of_path(*policy.image, query.path)) << query.path;
      const policy_verdict naive = naive_decide(policy.policy, query);
      ASSERT_EQ(std::tuple(told.action, told.reason, told.rule), std::tuple(naive.action, naive.reason, naive.rule))
          << query.path << " by " << query.executable;
    }
    for (const PolicyRule& rule : policy.policy.rules)
      for (int asked = 0; asked < 20; ++asked) {
        const std::string path = dice.path();
        ASSERT_EQ(rule.path.matches(path), naive_matches(rule.path, path)) << rule.path.text() << " on " << path;
      }
  }
}

} // namespace
} // namespace hotset
