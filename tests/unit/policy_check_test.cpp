// SPDX-License-Identifier: Apache-2.0
#include "policy/check.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "golden.h"
#include "policy/relation.h"
#include "present/policy_check.h"

namespace hotset {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kHead = "mode = \"audit\"\ndefault = \"allow\"\nunknown = \"deny\"\n";

// The system's user database has root alone.
Result<std::optional<std::uint32_t>> only_root(const std::string& name) {
  return name == "root" ? std::optional<std::uint32_t>(0) : std::nullopt;
}

// One rule a line, from line 4 on: "[[rule]]" cannot share a line with its keys, so rules are an inline list.
PolicyCheck check(std::initializer_list<std::string_view> rules) {
  std::string text(kHead);
  text += "rule = [";
  for (std::string_view rule : rules)
    text += fmt::format("\n{{ {} }},", rule);
  return check_policy(parse_policy(text + "\n]\n", "p.toml"), only_root);
}

// "LINE PROBLEM [OTHER LINES] EXAMPLE"
std::vector<std::string> found(const PolicyCheck& check) {
  std::vector<std::string> found;
  for (const PolicyFinding& finding : check.findings) {
    std::string text = fmt::format("{} {}", finding.place.line, problem_name(finding.problem));
    for (std::size_t other : finding.others)
      text += fmt::format(" {}", check.policy.rules[other].place.line);
    found.push_back(text + (finding.example.empty() ? "" : " " + finding.example));
  }
  return found;
}

TEST(PolicyCheck, rules_that_do_not_meet_are_fine) {
  EXPECT_THAT(found(check({R"(path = "/a", action = "deny")", R"(path = "/b", action = "allow")",
                           R"(path = "/b", action = "deny", access = ["write"], uid = 1)"})),
              ElementsAre("7 shadowed 6"));
  EXPECT_THAT(found(check({R"(path = "/a", action = "deny")", R"(path = "/b/", action = "allow")"})), IsEmpty());
  EXPECT_THAT(found(check({R"(path = "/a", action = "deny", access = ["read"])",
                           R"(path = "/a", action = "allow", access = ["write"])"})),
              IsEmpty());
  EXPECT_THAT(
      found(check({R"(path = "/a", action = "deny", uid = 1)", R"(path = "/a", action = "allow", uid = 2)",
                   R"(path = "/b", action = "deny", command = "x")", R"(path = "/b", action = "allow", command = "y")",
                   R"(path = "/c", action = "deny", cgroup = "/x")", R"(path = "/c", action = "allow", cgroup = "/xy")",
                   R"(path = "/d", action = "deny", executable = "/bin/x*")",
                   R"(path = "/d", action = "allow", executable = "/bin/y*")"})),
      IsEmpty());
}

TEST(PolicyCheck, a_narrow_rule_before_a_wide_one_is_an_exception) {
  EXPECT_THAT(
      found(check({R"(path = "/etc/ssl/public/", action = "allow")", R"(path = "/etc/ssl/", action = "deny")"})),
      ElementsAre("5 exception 6 /etc/ssl/public"));
  EXPECT_THAT(found(check({R"(path = "/a", action = "allow", uid = 1)", R"(path = "/a", action = "deny")"})),
              ElementsAre("5 exception 6 /a"));
  EXPECT_THAT(found(check({R"(path = "/a", action = "allow", access = ["read", "write"])",
                           R"(path = "/", action = "deny", access = ["write", "execute"])"})),
              ElementsAre("5 exception 6 /a"));
}

TEST(PolicyCheck, a_wide_rule_before_a_narrow_one_shadows_it) {
  EXPECT_THAT(
      found(check({R"(path = "/etc/ssl/", action = "deny")", R"(path = "/etc/ssl/public/", action = "allow")"})),
      ElementsAre("6 shadowed 5"));
  EXPECT_THAT(found(check({R"(path = "/a/**", action = "deny")", R"(path = "/a/?*/b", action = "deny")"})),
              ElementsAre("6 shadowed 5"));
}

TEST(PolicyCheck, several_rules_may_shadow_one_together) {
  EXPECT_THAT(found(check({R"(path = "/a/[a-m]*", action = "deny")", R"(path = "/a/[!a-m]*", action = "deny")",
                           R"(path = "/a/*", action = "allow")"})),
              ElementsAre("7 shadowed 5 6"));
  EXPECT_THAT(found(check({R"(path = "/a", action = "deny", access = ["read"])",
                           R"(path = "/", action = "deny", access = ["write", "execute"])",
                           R"(path = "/a", action = "deny")"})),
              ElementsAre("7 shadowed 5 6"));
}

TEST(PolicyCheck, a_rule_is_shadowed_by_one_for_the_same_or_more_subjects_alone) {
  EXPECT_THAT(found(check({R"(path = "/", action = "deny", command = "x")", R"(path = "/a", action = "deny")"})),
              IsEmpty());
  EXPECT_THAT(found(check({R"(path = "/", action = "deny", command = "x")",
                           R"(path = "/a", action = "deny", command = "x", uid = 1)"})),
              ElementsAre("6 shadowed 5"));
  EXPECT_THAT(found(check({R"(path = "/", action = "deny", cgroup = "/x")",
                           R"(path = "/a", action = "deny", cgroup = "/x/y")"})),
              ElementsAre("6 shadowed 5"));
  EXPECT_THAT(found(check({R"(path = "/", action = "deny", executable = "/bin/*")",
                           R"(path = "/a", action = "deny", executable = "/bin/x")"})),
              ElementsAre("6 shadowed 5"));
}

TEST(PolicyCheck, rules_that_meet_in_part_conflict_with_a_path_as_the_example) {
  EXPECT_THAT(found(check({R"(path = "/users/*/.ssh/", action = "allow")", R"(path = "/**/*.pem", action = "deny")"})),
              ElementsAre("6 conflict 5 /users/a/.ssh/.pem"));
  EXPECT_THAT(found(check({R"(path = "/a/", action = "allow", command = "x")", R"(path = "/a/b", action = "deny")"})),
              ElementsAre("6 conflict 5 /a/b"));
}

TEST(PolicyCheck, examples_are_paths_that_a_file_can_have) {
  // Without the rules for paths the shortest text that both match would be "/a/".
  const PolicyCheck report =
      check({R"(path = "/a/*", action = "allow", uid = 1)", R"(path = "/a/**", action = "deny")"});
  EXPECT_THAT(found(report), ElementsAre("5 exception 6 /a/b"));
  // And what only texts that are no paths match is matched by none.
  EXPECT_THAT(found(check({R"(path = "/a/?*", action = "deny")", R"(path = "/a/*", action = "allow")"})),
              ElementsAre("6 shadowed 5"));
  EXPECT_THAT(found(check({R"(path = "/a/[.]/b", action = "deny")"})), ElementsAre("5 empty"));
}

TEST(PolicyCheck, a_user_that_does_not_exist_is_an_error) {
  const PolicyCheck report =
      check({R"(path = "/a", action = "deny", uid = "root")", R"(path = "/b", action = "deny", uid = "redis")"});
  EXPECT_THAT(found(report), ElementsAre("6 unknown_user"));
  EXPECT_EQ(report.count(Severity::error), 1U);
}

TEST(PolicyCheck, a_policy_that_the_kernel_program_cannot_take_is_an_error_and_what_was_not_looked_for_is_said) {
  const PolicyCheck report = check({R"(path = "/????????????????????a*", action = "deny")"});
  ASSERT_EQ(report.findings.size(), 2U);
  EXPECT_EQ(report.findings[0].problem, PolicyProblem::too_large);
  EXPECT_EQ(report.findings[1].problem, PolicyProblem::unfinished);
  EXPECT_FALSE(report.size.has_value());
}

TEST(PolicyCheck, of_a_policy_that_is_too_large_it_is_found_all_the_same_which_rules_never_decide) {
  EXPECT_THAT(found(check({R"(path = "/????????????????a*", action = "deny")", R"(path = "/zz/y", action = "deny")",
                           R"(path = "/zz/y", action = "allow")"})),
              ElementsAre("0 too_large", "0 unfinished", "7 shadowed 6")); // unfinished: of pairs
}

TEST(PolicyCheck, of_a_text_with_flaws_the_flaws_are_all_that_is_told) {
  const PolicyCheck report = check({R"(path = "a", action = "deny")", R"(path = "/b", action = "maybe")"});
  EXPECT_THAT(found(report), ElementsAre("5 flaw", "6 flaw"));
  EXPECT_FALSE(report.size.has_value());
}

TEST(PolicyCheck, that_is_stopped_says_so_and_asks_on_the_way) {
  const std::string rules = R"(
[[rule]]
path = "/**/abc*def*"
action = "deny"
[[rule]]
path = "/**/*ghi*jkl"
action = "allow"
)";
  const PolicyText text = parse_policy(std::string(kHead) + rules, "p.toml");
  int asked = 0;
  check_policy(text, only_root, [&] {
    ++asked;
    return false;
  });
  EXPECT_GT(asked, 100);
  for (int stop_at : {1, 2, asked / 2, asked - 1}) {
    int left = stop_at;
    const PolicyCheck report = check_policy(text, only_root, [&] { return --left <= 0; });
    ASSERT_EQ(report.findings.size(), 1U) << stop_at;
    EXPECT_EQ(report.findings[0].problem, PolicyProblem::unfinished);
    EXPECT_GT(left, -20) << "it goes on after it was told to stop";
  }
}

TEST(PolicyRelation, gives_up_within_its_budget_and_says_so) {
  Relations relations(100);
  const PathRelation relation =
      relations.of_paths(PathPattern::parse("/**/abc*").value(), PathPattern::parse("/**/*def").value());
  EXPECT_FALSE(relation.known);
  EXPECT_FALSE(relation.first_within_second());
  EXPECT_TRUE(relations.gave_up());
}

PolicyCheck faulty() {
  return check({R"(path = "/users/*/.ssh/", action = "allow", name = "ssh")", R"(path = "/**/*.pem", action = "deny")",
                R"(path = "/etc/ssl/*.pem", action = "allow")", R"(path = "/b", action = "deny", uid = "redis")"});
}

TEST(PolicyCheckText, tells_each_finding_with_its_place) {
  expect_golden("policy_check.txt", policy_check_text(faulty(), Style(false)) +
                                        policy_check_text(check({R"(path = "/a", action = "deny")"}), Style(false)) +
                                        policy_check_text(check({R"(pat = "/a", action = "deny")"}), Style(false)));
}

TEST(PolicyCheckJson, has_all_that_the_text_has) {
  expect_golden("policy_check.json", nlohmann::ordered_json::parse(policy_check_json(faulty())).dump(2) + "\n");
}

TEST(PolicyExamples, can_be_loaded_without_a_warning) {
  for (std::string_view name : {"secrets", "redis"}) {
    const std::string file = fmt::format("{}/examples/policy/{}.toml", HOTSET_SOURCE_DIR, name);
    const PolicyCheck report = check_policy(parse_policy(read_policy_text(file).value(), file), only_root);
    EXPECT_EQ(report.count(Severity::error) + report.count(Severity::warning), 0U)
        << policy_check_text(report, Style(false));
  }
}

} // namespace
} // namespace hotset
