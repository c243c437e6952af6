// SPDX-License-Identifier: Apache-2.0
#include "policy/explain.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "golden.h"
#include "present/policy_test.h"

namespace hotset {
namespace {

CompiledPolicy example(std::string_view name) {
  return compile_policy(read_policy(fmt::format("{}/examples/policy/{}.toml", HOTSET_SOURCE_DIR, name)).value())
      .value();
}

PolicyQuery question(std::string path, std::uint32_t access = POLICY_READ) {
  PolicyQuery query;
  query.path = std::move(path);
  query.access = access;
  return query;
}

std::vector<RuleObstacle> obstacles(const AccessExplanation& part) {
  std::vector<RuleObstacle> obstacles;
  for (const RuleStep& step : part.steps)
    obstacles.push_back(step.obstacle);
  return obstacles;
}

TEST(PolicyExplain, tells_of_each_earlier_rule_what_kept_it_from_deciding) {
  const CompiledPolicy redis = example("redis");
  PolicyQuery query = question("/var/lib/redis/dump.rdb", POLICY_READ | POLICY_WRITE);
  query.executable = "/usr/bin/restic";
  const PolicyExplanation explanation = explain(redis, query).value();
  using enum RuleObstacle;
  ASSERT_EQ(explanation.accesses.size(), 2U);
  EXPECT_THAT(obstacles(explanation.accesses[0]), testing::ElementsAre(cgroup, uid, none));
  EXPECT_THAT(obstacles(explanation.accesses[1]), testing::ElementsAre(cgroup, access, none));
  query.uid = 34;
  EXPECT_THAT(obstacles(explain(redis, query)->accesses[0]), testing::ElementsAre(cgroup, none));
  EXPECT_EQ(explain(redis, query)->verdict.action, POLICY_DENY); // the write
}

TEST(PolicyExplain, the_default_decides_after_every_rule_was_tried) {
  const CompiledPolicy secrets = example("secrets");
  const PolicyExplanation explanation = explain(secrets, question("/usr/bin/ls")).value();
  EXPECT_EQ(explanation.verdict.reason, POLICY_BY_DEFAULT);
  EXPECT_EQ(explanation.accesses[0].steps.size(), secrets.policy.rules.size());
}

TEST(PolicyExplain, notices_when_tables_and_rules_disagree) {
  CompiledPolicy broken = example("redis");
  std::ranges::fill(broken.image->match_of, std::uint16_t{POLICY_NO_MATCH});
  const Result<PolicyExplanation> refused = explain(broken, question("/var/lib/redis/dump.rdb"));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::internal);
}

TEST(PolicyTestText, says_which_rule_decides_and_why_not_the_others) {
  const CompiledPolicy secrets = example("secrets");
  const CompiledPolicy redis = example("redis");
  auto text = [](const CompiledPolicy& policy, const PolicyQuery& query) {
    return policy_test_text(policy.policy, query, explain(policy, query).value(), Style(false));
  };
  PolicyQuery cat = question("/home/Ann/.ssh/id_rsa");
  cat.executable = "/usr/bin/cat";
  expect_golden("policy_test.txt", text(secrets, cat) + "\n" + text(secrets, question("/usr/bin/ls")) + "\n" +
                                       text(redis, question("/var/lib/redis/dump.rdb", POLICY_READ | POLICY_WRITE)));
}

TEST(PolicyTestJson, has_all_that_the_text_has) {
  CompiledPolicy redis = example("redis");
  redis.policy.file = "redis.toml";
  const PolicyQuery query = question("/var/lib/redis/dump.rdb", POLICY_READ | POLICY_WRITE);
  const std::string json = policy_test_json(redis.policy, query, explain(redis, query).value());
  expect_golden("policy_test.json", nlohmann::ordered_json::parse(json).dump(2) + "\n");
}

} // namespace
} // namespace hotset
