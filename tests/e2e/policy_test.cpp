// SPDX-License-Identifier: Apache-2.0
// hotset policy as its author uses it: nothing is loaded, and no privilege is needed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "e2e/run_hotset.h"

namespace hotset {
namespace {

using testing::HasSubstr;

constexpr std::string_view kHead = "mode = \"audit\"\ndefault = \"allow\"\nunknown = \"deny\"\n";

RunResult run_policy(const std::vector<std::string>& arguments, std::string_view rules) {
  std::vector<std::string> all{"policy"};
  std::ranges::copy(arguments, std::back_inserter(all));
  return run_hotset(all, {.input = std::string(kHead) + std::string(rules)});
}

constexpr std::string_view kKeys = "[[rule]]\npath = \"/keys/\"\naction = \"deny\"\n";
constexpr std::string_view kShadowed =
    "[[rule]]\npath = \"/keys/\"\naction = \"deny\"\n"
    "[[rule]]\npath = \"/keys/a\"\naction = \"allow\"\n";

TEST(PolicyCheckCommand, ends_with_0_for_a_policy_that_can_be_loaded) {
  const RunResult run = run_policy({"check", "-"}, kKeys);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("It can be loaded.\n"));
}

TEST(PolicyCheckCommand, ends_with_6_for_one_that_cannot_and_with_strict_for_a_warning) {
  EXPECT_EQ(run_policy({"check", "-"}, "[[rule]]\npath = \"keys\"\naction = \"deny\"\n").exit_code, 6);
  EXPECT_EQ(run_policy({"check", "-"}, kShadowed).exit_code, 0);
  EXPECT_EQ(run_policy({"check", "-", "--strict"}, kShadowed).exit_code, 6);
}

TEST(PolicyCheckCommand, prints_one_json_object) {
  const std::vector<nlohmann::json> lines = run_policy({"check", "-", "--json"}, kShadowed).json_lines();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].at("schema"), "hotset.policy_check/1");
  EXPECT_EQ(lines[0].at("findings").at(0).at("line"), 7);
}

TEST(PolicyCheckCommand, a_file_that_is_not_there_is_not_found) {
  EXPECT_EQ(run_hotset({"policy", "check", "/nowhere/p.toml"}).exit_code, 3);
}

TEST(PolicyTestCommand, tells_the_verdict_and_holds_it_against_what_is_expected) {
  const RunResult run = run_policy({"test", "-", "--path", "/keys/a", "--access", "read,write"}, kKeys);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("deny read, write of /keys/a\n"));
  EXPECT_EQ(run_policy({"test", "-", "--path", "/keys/a", "--expect", "deny"}, kKeys).exit_code, 0);
  EXPECT_EQ(run_policy({"test", "-", "--path", "/keys/a", "--expect", "allow"}, kKeys).exit_code, 6);
}

TEST(PolicyTestCommand, refuses_a_path_that_the_kernel_would_not_give) {
  for (const char* path : {"keys", "/keys/", "/keys//a", "/keys/../a"})
    EXPECT_EQ(run_policy({"test", "-", "--path", path}, kKeys).exit_code, 2) << path;
}

TEST(PolicyTestCommand, a_policy_that_cannot_be_loaded_is_bad_data_with_its_line) {
  const RunResult run = run_policy({"test", "-", "--path", "/a"}, "colour = 1\n");
  EXPECT_EQ(run.exit_code, 6);
  EXPECT_THAT(run.err, HasSubstr("the standard input:4:1"));
}

TEST(PolicyCommand, without_a_subcommand_is_a_usage_error) {
  EXPECT_EQ(run_hotset({"policy"}).exit_code, 2);
}

} // namespace
} // namespace hotset
