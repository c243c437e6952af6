// SPDX-License-Identifier: Apache-2.0
// What is known of a path is used again, and ends when the path does: each way in which it can.
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "guard_files.h"

namespace hotset {
namespace {

class GuardCache : public GuardTest {
 protected:
  Folder folder_;

  // Everything below a denied/ is denied, all else is allowed.
  Guard& denying() { return auditing_guard(rule("/**/denied/", "deny")); }
  static void expect_hit(const Judged& judged, bool denied) {
    EXPECT_TRUE(judged.hit);
    EXPECT_FALSE(judged.walked);
    EXPECT_EQ(judged.denied, denied);
  }
  static void expect_walk(const Judged& judged, bool denied) {
    EXPECT_TRUE(judged.walked);
    EXPECT_FALSE(judged.hit);
    EXPECT_EQ(judged.denied, denied);
  }
};

TEST_P(GuardCache, the_second_open_of_a_file_is_a_hit) {
  std::string denied = folder_.file("denied/a"), allowed = folder_.file("allowed/a");
  Guard& guard = denying();
  HOTSET_NEEDS_A_CACHE(guard);
  expect_walk(open_judged(guard, denied), true);
  expect_walk(open_judged(guard, allowed), false);
  expect_hit(open_judged(guard, denied), true);
  expect_hit(open_judged(guard, allowed), false);
}

TEST_P(GuardCache, without_a_cache_each_open_walks) {
  std::string file = folder_.file("denied/a");
  GuardOptions walking = options();
  walking.cache = false;
  Guard guard = start(auditing(rule(folder_ / "denied/", "deny")), walking);
  for (int i = 0; i < 3; ++i)
    expect_walk(open_judged(guard, file), true);
}

TEST_P(GuardCache, a_rename_of_the_file_ends_what_is_known) {
  std::string from = folder_.file("allowed/a"), to = folder_.file("denied/b");
  Guard& guard = denying();
  HOTSET_NEEDS_A_CACHE(guard);
  open_judged(guard, from);
  expect_hit(open_judged(guard, from), false);
  ASSERT_EQ(::rename(from.c_str(), to.c_str()), 0);
  expect_walk(open_judged(guard, to), true);
  ASSERT_EQ(::rename(to.c_str(), from.c_str()), 0);
  expect_walk(open_judged(guard, from), false);
}

TEST_P(GuardCache, a_rename_over_a_file_ends_what_is_known_of_both) {
  std::string a = folder_.file("allowed/a"), b = folder_.file("denied/b");
  Guard& guard = denying();
  open_judged(guard, a);
  open_judged(guard, b);
  ASSERT_EQ(::rename(a.c_str(), b.c_str()), 0);
  expect_walk(open_judged(guard, b), true);
}

TEST_P(GuardCache, an_exchange_of_two_files_ends_what_is_known_of_both) {
  std::string a = folder_.file("allowed/a"), b = folder_.file("denied/b");
  Guard& guard = denying();
  open_judged(guard, a);
  open_judged(guard, b);
  ASSERT_EQ(::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE), 0);
  expect_walk(open_judged(guard, a), false);
  expect_walk(open_judged(guard, b), true);
}

TEST_P(GuardCache, a_rename_of_a_directory_above_ends_what_is_known_below) {
  std::string file = folder_.file("allowed/x/y/z/a");
  std::filesystem::create_directories(folder_ / "denied");
  Guard& guard = denying();
  HOTSET_NEEDS_A_CACHE(guard);
  open_judged(guard, file);
  expect_hit(open_judged(guard, file), false);
  ASSERT_EQ(::rename((folder_ / "allowed/x").c_str(), (folder_ / "denied/x").c_str()), 0);
  expect_walk(open_judged(guard, folder_ / "denied/x/y/z/a"), true);
  ASSERT_EQ(::rename((folder_ / "denied/x").c_str(), (folder_ / "allowed/x").c_str()), 0);
  expect_walk(open_judged(guard, file), false);
}

TEST_P(GuardCache, an_exchange_with_a_directory_ends_what_is_known_below) {
  std::string inside = folder_.file("allowed/x/a"), file = folder_.file("denied/f");
  Guard& guard = denying();
  open_judged(guard, inside);
  ASSERT_EQ(::renameat2(AT_FDCWD, file.c_str(), AT_FDCWD, (folder_ / "allowed/x").c_str(), RENAME_EXCHANGE), 0);
  expect_walk(open_judged(guard, folder_ / "denied/f/a"), true);
}

TEST_P(GuardCache, a_file_that_got_the_inode_of_an_unlinked_one_is_judged_anew) {
  std::filesystem::create_directories(folder_ / "denied");
  Guard& guard = denying();
  ino_t first = 0;
  for (int i = 0; i < 100; ++i) { // until the file system gives the number out again; each round has to be right
    std::string allowed = folder_.file("allowed/a");
    struct stat info{};
    ASSERT_EQ(::stat(allowed.c_str(), &info), 0);
    first = info.st_ino;
    EXPECT_FALSE(open_judged(guard, allowed).denied);
    ASSERT_EQ(::unlink(allowed.c_str()), 0);
    std::string denied = folder_.file("denied/a");
    ASSERT_EQ(::stat(denied.c_str(), &info), 0);
    EXPECT_TRUE(open_judged(guard, denied).denied);
    ASSERT_EQ(::unlink(denied.c_str()), 0);
    if (info.st_ino == first) return;
  }
}

TEST_P(GuardCache, a_directory_that_got_the_inode_of_a_removed_one_has_its_files_judged_anew) {
  std::filesystem::create_directories(folder_ / "denied");
  Guard& guard = denying();
  for (int i = 0; i < 20; ++i) {
    std::string allowed = folder_.file("allowed/d/a");
    EXPECT_FALSE(open_judged(guard, allowed).denied);
    ASSERT_EQ(::unlink(allowed.c_str()), 0);
    ASSERT_EQ(::rmdir((folder_ / "allowed/d").c_str()), 0);
    std::string denied = folder_.file("denied/d/a");
    EXPECT_TRUE(open_judged(guard, denied).denied);
    ASSERT_EQ(::unlink(denied.c_str()), 0);
    ASSERT_EQ(::rmdir((folder_ / "denied/d").c_str()), 0);
  }
}

TEST_P(GuardCache, a_hard_link_is_judged_by_the_name_it_was_opened_by) {
  std::string allowed = folder_.file("allowed/a"), denied = folder_ / "denied/a";
  std::filesystem::create_directories(folder_ / "denied");
  Guard& guard = denying();
  EXPECT_FALSE(open_judged(guard, allowed).denied);
  ASSERT_EQ(::link(allowed.c_str(), denied.c_str()), 0);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(open_judged(guard, denied).denied);
    EXPECT_FALSE(open_judged(guard, allowed).denied);
  }
}

TEST_P(GuardCache, a_reload_ends_all_that_is_known) {
  std::string file = folder_.file("denied/a");
  Guard guard = start(auditing(rule("/**/denied/", "deny")));
  HOTSET_NEEDS_A_CACHE(guard);
  open_judged(guard, file);
  expect_hit(open_judged(guard, file), true);
  ASSERT_TRUE(guard.reload(auditing(rule(folder_ / "other/", "deny"))));
  expect_walk(open_judged(guard, file), false);
  expect_hit(open_judged(guard, file), false);
}

TEST_P(GuardCache, a_verdict_on_one_subject_is_none_on_another) {
  std::string file = folder_.file("denied/a");
  Guard guard = start(auditing(rule(folder_ / "denied/", "deny", "uid = 12345")));
  EXPECT_FALSE(open_judged(guard, file).denied);
  ASSERT_EQ(::seteuid(12345), 0);
  ::chmod(folder_.path().c_str(), 0755);
  Judged other = open_judged(guard, file);
  ASSERT_EQ(::seteuid(0), 0);
  EXPECT_TRUE(other.denied || other.error != 0);
  EXPECT_FALSE(open_judged(guard, file).denied);
}

HOTSET_GUARD_TESTS(GuardCache);

} // namespace
} // namespace hotset
