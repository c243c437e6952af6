// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "policy/policy.h"

namespace hotset {
namespace {

constexpr std::string_view kHead = "mode = \"audit\"\ndefault = \"allow\"\nunknown = \"deny\"\n";

PolicyText parse(std::string_view rules) {
  return parse_policy(std::string(kHead) + std::string(rules), "p.toml");
}

// "LINE:COLUMN CAUSE; REMEDY", or "fine".
std::string first_flaw(const PolicyText& text) {
  if (text.flaws.empty()) return "fine";
  const PolicyFlaw& flaw = text.flaws.front();
  return fmt::format("{}:{} {}; {}", flaw.place.line, flaw.place.column, flaw.cause, flaw.remedy);
}

TEST(PolicyParse, reads_all_that_a_rule_can_say) {
  const PolicyText text = parse(R"(
[[rule]]
name = "keys"
path = "/etc/ssl/private/"
access = ["read", "write"]
command = "nginx"
executable = "/usr/sbin/nginx*"
cgroup = "/system.slice/nginx.service"
uid = "www-data"
action = "allow"

[[rule]]
path = "/etc/ssl/private/"
action = "deny"
uid = 0
)");
  EXPECT_EQ(first_flaw(text), "fine");
  EXPECT_EQ(text.policy.mode, POLICY_AUDIT);
  EXPECT_EQ(text.policy.fallback, POLICY_ALLOW);
  EXPECT_EQ(text.policy.unknown, POLICY_DENY);
  ASSERT_EQ(text.policy.rules.size(), 2U);
  const PolicyRule& first = text.policy.rules[0];
  EXPECT_EQ(first.place.line, 5U);
  EXPECT_EQ(first.name, "keys");
  EXPECT_EQ(first.path.text(), "/etc/ssl/private/");
  EXPECT_EQ(first.access, POLICY_READ | POLICY_WRITE);
  EXPECT_EQ(first.command, "nginx");
  EXPECT_EQ(first.executable->text(), "/usr/sbin/nginx*");
  EXPECT_EQ(first.cgroup, "/system.slice/nginx.service");
  EXPECT_EQ(std::get<std::string>(*first.user), "www-data");
  EXPECT_EQ(first.action, POLICY_ALLOW);
  const PolicyRule& second = text.policy.rules[1];
  EXPECT_EQ(second.place.line, 15U);
  EXPECT_EQ(second.access, kEveryAccess);
  EXPECT_EQ(std::get<std::uint32_t>(*second.user), 0U);
  EXPECT_FALSE(second.command || second.executable || second.cgroup);
}

TEST(PolicyParse, a_policy_without_rules_is_one) {
  EXPECT_EQ(first_flaw(parse("")), "fine");
}

TEST(PolicyParse, what_matters_most_has_no_silent_default) {
  const PolicyText text = parse_policy("[[rule]]\naccess = [\"read\"]\n", "p.toml");
  ASSERT_EQ(text.flaws.size(), 5U);
  EXPECT_EQ(text.flaws[0].cause, "'mode' is missing");
  EXPECT_EQ(text.flaws[1].cause, "'default' is missing");
  EXPECT_EQ(text.flaws[2].cause, "'unknown' is missing");
  EXPECT_EQ(text.flaws[3].cause, "the rule has no 'path'");
  EXPECT_EQ(text.flaws[4].cause, "the rule has no 'action'");
  EXPECT_EQ(text.flaws[4].place.line, 1U);
}

TEST(PolicyParse, an_unknown_key_is_refused_where_it_stands_with_the_nearest_known_one) {
  EXPECT_EQ(first_flaw(parse("[[rule]]\npath = \"/a\"\naction = \"deny\"\nacess = [\"read\"]\n")),
            "7:1 the key 'acess' is unknown in a rule; write 'access'");
  EXPECT_EQ(first_flaw(parse("defualt = \"deny\"\n")), "4:1 the key 'defualt' is unknown; write 'default'");
  EXPECT_EQ(first_flaw(parse("colour = 1\n")),
            "4:1 the key 'colour' is unknown; known are mode, default, unknown, rule");
}

TEST(PolicyParse, a_value_of_the_wrong_kind_is_refused_with_what_is_right) {
  EXPECT_EQ(first_flaw(parse_policy("mode = \"on\"\ndefault = \"allow\"\nunknown = \"deny\"\n", "p.toml")),
            "1:8 the value of 'mode' can't be used; write mode = \"audit\" or mode = \"enforce\" above the rules");
  auto with = [](std::string_view line) {
    return parse(fmt::format("[[rule]]\npath = \"/a\"\naction = \"deny\"\n{}\n", line));
  };
  for (std::string_view wrong :
       {"access = \"read\"", "access = []", "access = [\"append\"]", "access = [1]", "name = \"\"", "command = \"\"",
        "command = \"sixteen-bytes-xx\"", "uid = -1", "uid = 4294967295", "uid = \"\"", "uid = \"1000\"", "uid = 1.5",
        "cgroup = \"redis\"", "cgroup = \"/a/\"", "cgroup = \"/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p\"", "executable = 1"})
    EXPECT_TRUE(first_flaw(with(wrong)).starts_with("7:")) << wrong << ": " << first_flaw(with(wrong));
  for (std::string_view right : {"access = [\"read\", \"read\"]", "command = \"fifteen-bytes-x\"", "uid = 4294967294",
                                 "cgroup = \"/\"", "cgroup = \"/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o\""})
    EXPECT_EQ(first_flaw(with(right)), "fine") << right;
}

TEST(PolicyParse, a_wrong_pattern_says_what_is_wrong_with_it) {
  EXPECT_EQ(first_flaw(parse("[[rule]]\npath = \"etc/shadow\"\naction = \"deny\"\n")),
            "5:8 the pattern 'etc/shadow': it does not begin with '/'; write '/**/' in front if it may be anywhere");
}

TEST(PolicyParse, a_rule_that_is_no_list_is_refused) {
  EXPECT_EQ(first_flaw(parse("[rule]\npath = \"/a\"\naction = \"deny\"\n")),
            "4:1 the value of 'rule' can't be used; write each rule as a table that begins with [[rule]]");
}

TEST(PolicyParse, wrong_toml_is_refused_where_it_goes_wrong) {
  const PolicyText text = parse("[[rule]]\npath = /a\n");
  ASSERT_EQ(text.flaws.size(), 1U);
  EXPECT_EQ(text.flaws[0].place.line, 5U);
  EXPECT_EQ(text.flaws[0].remedy, "correct the TOML");
}

TEST(PolicyParse, a_header_that_begins_as_no_key_can_is_refused_like_any_other) {
  for (std::string_view header : {"[&a]", "[[&a]]", "[.a]", "[=", "a.=1", "[a.]", "[\x01]"}) {
    const PolicyText text = parse(header);
    ASSERT_EQ(text.flaws.size(), 1U) << header;
    EXPECT_EQ(text.flaws[0].place.line, 4U) << header;
  }
}

TEST(PolicyParse, all_flaws_are_told_in_the_order_of_the_file) {
  const PolicyText text =
      parse("[[rule]]\npath = \"a\"\naction = \"deny\"\n[[rule]]\npath = \"/a\"\naction = \"maybe\"\n");
  ASSERT_EQ(text.flaws.size(), 2U);
  EXPECT_EQ(text.flaws[0].place.line, 5U);
  EXPECT_EQ(text.flaws[1].place.line, 9U);
}

TEST(PolicyParse, more_rules_than_the_kernel_program_takes_are_refused) {
  std::string rules;
  for (unsigned i = 0; i < POLICY_MAX_RULES; ++i)
    rules += "[[rule]]\npath = \"/a\"\naction = \"deny\"\n";
  EXPECT_EQ(first_flaw(parse(rules)), "fine");
  rules += "[[rule]]\npath = \"/a\"\naction = \"deny\"\n";
  EXPECT_EQ(first_flaw(parse(rules)),
            "772:1 there are more than 256 rules; put what several of them say into one with a glob");
}

TEST(PolicyParse, flaws_beyond_a_hundred_are_left_out) {
  std::string keys;
  for (int i = 0; i < 1000; ++i)
    keys += fmt::format("key{} = 1\n", i);
  EXPECT_EQ(parse(keys).flaws.size(), 100U);
}

// Such a key once ended the program: the library takes the tables apart by recursion.
TEST(PolicyParse, refuses_a_key_of_two_hundred_thousand_parts) {
  std::string key = "a";
  for (int part = 0; part < 200'000; ++part)
    key += ".a";
  PolicyText parsed = parse_policy("mode = \"audit\"\n" + key + " = 1\n", "deep.toml");
  ASSERT_EQ(parsed.flaws.size(), 1U);
  EXPECT_EQ(parsed.flaws[0].place.line, 2U);
  EXPECT_EQ(parse_policy("[" + key + "]\n", "deep.toml").flaws.size(), 1U);
}

// Undefined behaviour in the library once: its tables of characters left this one out.
TEST(PolicyParse, refuses_a_letter_that_the_library_forgot_outside_of_quotes) {
  EXPECT_FALSE(parse_policy("\xc8\xa8 = 1\n", "letter.toml").flaws.empty());
}

TEST(PolicyRead, the_error_names_file_line_and_column) {
  const Result<Policy> refused = without_flaws(parse("colour = 1\n"));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::bad_data);
  EXPECT_EQ(refused.error().object, "p.toml:4:1");
}

TEST(PolicyRead, a_file_that_is_not_there_is_not_found) {
  const Result<Policy> refused = read_policy("/nowhere/p.toml");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::not_found);
}

TEST(PolicyNames, are_those_of_the_language) {
  EXPECT_EQ(access_names(POLICY_READ | POLICY_EXECUTE), "read, execute");
  EXPECT_EQ(access_named("write"), POLICY_WRITE);
  EXPECT_EQ(access_named("append"), 0);
  PolicyRule rule;
  rule.place.line = 12;
  EXPECT_EQ(rule_label(rule), "line 12");
  rule.name = "keys";
  EXPECT_EQ(rule_label(rule), "line 12 ('keys')");
}

} // namespace
} // namespace hotset
