// SPDX-License-Identifier: Apache-2.0
#include "policy/pattern.h"

#include <gtest/gtest.h>

#include <string>

namespace hotset {
namespace {

bool matches(std::string_view pattern, std::string_view path) {
  Result<PathPattern> parsed = PathPattern::parse(pattern);
  EXPECT_TRUE(parsed.has_value()) << pattern << ": " << to_sentence(parsed.error());
  return parsed && parsed->matches(path);
}

std::string cause(std::string_view pattern) {
  Result<PathPattern> parsed = PathPattern::parse(pattern);
  return parsed ? "none" : parsed.error().cause;
}

TEST(PathPattern, an_exact_path_matches_itself_alone) {
  EXPECT_TRUE(matches("/etc/shadow", "/etc/shadow"));
  EXPECT_FALSE(matches("/etc/shadow", "/etc/shadow-"));
  EXPECT_FALSE(matches("/etc/shadow", "/etc/shado"));
  EXPECT_FALSE(matches("/etc/shadow", "/etc/shadow/x"));
  EXPECT_FALSE(matches("/etc/shadow", "/chroot/etc/shadow"));
}

TEST(PathPattern, a_directory_is_itself_and_all_below) {
  EXPECT_TRUE(matches("/etc/ssl/", "/etc/ssl"));
  EXPECT_TRUE(matches("/etc/ssl/", "/etc/ssl/a"));
  EXPECT_TRUE(matches("/etc/ssl/", "/etc/ssl/a/b"));
  EXPECT_FALSE(matches("/etc/ssl/", "/etc/ssla"));
  EXPECT_FALSE(matches("/etc/ssl/", "/etc"));
  EXPECT_TRUE(matches("/", "/"));
  EXPECT_TRUE(matches("/", "/a/b"));
}

TEST(PathPattern, a_star_and_a_question_mark_stay_within_a_name) {
  EXPECT_TRUE(matches("/a/*.log", "/a/x.log"));
  EXPECT_TRUE(matches("/a/*.log", "/a/.log"));
  EXPECT_FALSE(matches("/a/*.log", "/a/b/x.log"));
  EXPECT_TRUE(matches("/a/?/c", "/a/b/c"));
  EXPECT_FALSE(matches("/a?b", "/a/b"));
  EXPECT_FALSE(matches("/a?b", "/ab"));
  EXPECT_TRUE(matches("/users/*/.ssh/", "/users/me/.ssh/id"));
  EXPECT_FALSE(matches("/users/*/.ssh/", "/users/me/x/.ssh/id"));
}

TEST(PathPattern, two_stars_go_across_names_and_stand_for_no_name_too) {
  EXPECT_TRUE(matches("/srv/**/key", "/srv/key"));
  EXPECT_TRUE(matches("/srv/**/key", "/srv/a/b/key"));
  EXPECT_FALSE(matches("/srv/**/key", "/srv/akey"));
  EXPECT_TRUE(matches("/srv/**", "/srv/a/b"));
  EXPECT_FALSE(matches("/srv/**", "/srv"));
  EXPECT_TRUE(matches("/srv/a**b", "/srv/a/x/b"));
  EXPECT_TRUE(matches("/srv/a**/b", "/srv/ax/y/b"));
  EXPECT_TRUE(matches("/**/*.pem", "/x.pem"));
  EXPECT_TRUE(matches("/**/*.pem", "/a/b/x.pem"));
  EXPECT_TRUE(matches("/**", "/a"));
  EXPECT_TRUE(matches("/**/a/**/b", "/a/b"));
}

TEST(PathPattern, a_set_takes_one_byte_that_is_no_slash) {
  EXPECT_TRUE(matches("/a[0-9x]", "/a7"));
  EXPECT_TRUE(matches("/a[0-9x]", "/ax"));
  EXPECT_FALSE(matches("/a[0-9x]", "/ay"));
  EXPECT_TRUE(matches("/a[!0-9]", "/ay"));
  EXPECT_TRUE(matches("/a[^0-9]", "/ay"));
  EXPECT_FALSE(matches("/a[!0-9]b", "/a/b"));
  EXPECT_TRUE(matches("/a[]x]", "/a]"));
  EXPECT_TRUE(matches("/a[x-]", "/a-"));
  EXPECT_TRUE(matches("/a[\\]]", "/a]"));
}

TEST(PathPattern, a_backslash_makes_the_next_byte_itself) {
  EXPECT_TRUE(matches(R"(/a\*)", "/a*"));
  EXPECT_FALSE(matches(R"(/a\*)", "/ab"));
  EXPECT_TRUE(matches(R"(/a\\)", R"(/a\)"));
}

TEST(PathPattern, what_no_path_can_match_is_refused_with_the_reason) {
  EXPECT_EQ(cause("etc/x"), "it does not begin with '/'");
  EXPECT_EQ(cause(""), "it does not begin with '/'");
  EXPECT_EQ(cause("/a//b"), "it has two '/' in a row");
  EXPECT_EQ(cause("/a/../b"), "it has a '..' in it");
  EXPECT_EQ(cause("/a/./b"), "it has a '.' in it");
  EXPECT_EQ(cause("/a/.."), "it has a '..' in it");
  EXPECT_EQ(cause("/a[b"), "a '[' has no ']'");
  EXPECT_EQ(cause("/a[b/]"), "a '/' is in '[…]'");
  EXPECT_EQ(cause("/a[z-a]"), "a range in '[…]' goes backwards");
  EXPECT_EQ(cause("/a[é]"), "a character in '[…]' has more than one byte");
  EXPECT_EQ(cause("/a***"), "more than two '*' in a row mean nothing");
  EXPECT_EQ(cause("/a\\"), "a '\\' at its end escapes nothing");
  EXPECT_EQ(cause("/a\\/"), "a '/' can't be escaped");
  EXPECT_EQ(cause(std::string_view("/a\0b", 4)), "it has a NUL byte in it");
}

TEST(PathPattern, a_longer_text_than_a_path_can_be_is_refused) {
  EXPECT_EQ(cause("/" + std::string(kPatternBytes - 1, 'a')), "none");
  EXPECT_EQ(cause("/" + std::string(kPatternBytes, 'a')), "it has 4096 bytes, and a path has at most 4095");
}

TEST(PathPattern, the_literal_head_is_what_all_paths_begin_with) {
  auto head = [](std::string_view text) { return PathPattern::parse(text).value().literal_head(); };
  EXPECT_EQ(head("/etc/shadow"), "/etc/shadow");
  EXPECT_EQ(head("/etc/ssl/"), "/etc/ssl");
  EXPECT_EQ(head("/var/log/*.log"), "/var/log/");
  EXPECT_EQ(head("/**/x"), "");
  EXPECT_EQ(head("/"), "");
}

TEST(NormalPath, is_what_the_kernel_calls_a_file) {
  for (std::string_view path : {"/", "/a", "/a/b", "/a/...", "/a/.b"})
    EXPECT_TRUE(is_normal_path(path)) << path;
  for (std::string_view path : {"", "a", "/a/", "//", "/a//b", "/.", "/..", "/a/../b"})
    EXPECT_FALSE(is_normal_path(path)) << path;
}

} // namespace
} // namespace hotset
