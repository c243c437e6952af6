// SPDX-License-Identifier: Apache-2.0
// What is known of a path is used again, and ends when the path does: each way in which it can.
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "guard_files.h"

namespace hotset {
namespace {

// Rounds within which a file system that ever gives an inode number out again has done so.
constexpr int kReuseRounds = 100;

// Guests keep their files on a file system that never does, and have another for this (tests/vm/init.sh).
std::string where_inodes_come_again() {
  const char* folder = ::getenv("HOTSET_EXT4");
  return folder != nullptr ? folder : "/var/tmp";
}

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
  static void make_known(const Guard& guard, const std::string& path, bool denied) {
    expect_hit(open_until_hit(guard, path), denied);
  }
  static ino_t inode_of(const std::string& path) {
    struct stat info{};
    EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
    return info.st_ino;
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
  make_known(guard, from, false);
  ASSERT_EQ(::rename(from.c_str(), to.c_str()), 0);
  expect_walk(open_judged(guard, to), true);
  ASSERT_EQ(::rename(to.c_str(), from.c_str()), 0);
  expect_walk(open_judged(guard, from), false);
}

TEST_P(GuardCache, a_rename_over_a_file_ends_what_is_known_of_both) {
  std::string a = folder_.file("allowed/a"), b = folder_.file("denied/b");
  Guard& guard = denying();
  HOTSET_NEEDS_A_CACHE(guard);
  make_known(guard, a, false);
  make_known(guard, b, true);
  ASSERT_EQ(::rename(a.c_str(), b.c_str()), 0);
  expect_walk(open_judged(guard, b), true);
}

TEST_P(GuardCache, an_exchange_of_two_files_ends_what_is_known_of_both) {
  std::string a = folder_.file("allowed/a"), b = folder_.file("denied/b");
  Guard& guard = denying();
  HOTSET_NEEDS_A_CACHE(guard);
  make_known(guard, a, false);
  make_known(guard, b, true);
  ASSERT_EQ(::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE), 0);
  expect_walk(open_judged(guard, a), false);
  expect_walk(open_judged(guard, b), true);
}

TEST_P(GuardCache, a_rename_of_a_directory_above_ends_what_is_known_below) {
  std::string file = folder_.file("allowed/x/y/z/a");
  std::filesystem::create_directories(folder_ / "denied");
  Guard& guard = denying();
  HOTSET_NEEDS_A_CACHE(guard);
  make_known(guard, file, false);
  ASSERT_EQ(::rename((folder_ / "allowed/x").c_str(), (folder_ / "denied/x").c_str()), 0);
  expect_walk(open_judged(guard, folder_ / "denied/x/y/z/a"), true);
  ASSERT_EQ(::rename((folder_ / "denied/x").c_str(), (folder_ / "allowed/x").c_str()), 0);
  expect_walk(open_judged(guard, file), false);
}

TEST_P(GuardCache, an_exchange_with_a_directory_ends_what_is_known_below) {
  std::string inside = folder_.file("allowed/x/a"), file = folder_.file("denied/f");
  Guard& guard = denying();
  HOTSET_NEEDS_A_CACHE(guard);
  make_known(guard, inside, false);
  ASSERT_EQ(::renameat2(AT_FDCWD, file.c_str(), AT_FDCWD, (folder_ / "allowed/x").c_str(), RENAME_EXCHANGE), 0);
  expect_walk(open_judged(guard, folder_ / "denied/f/a"), true);
}

// Until the file system gives the number out again; each round has to be right.
TEST_P(GuardCache, a_file_that_got_the_inode_of_an_unlinked_one_is_judged_anew) {
  Folder folder(where_inodes_come_again());
  std::filesystem::create_directories(folder / "denied");
  Guard& guard = denying();
  HOTSET_NEEDS_A_CACHE(guard);
  const std::string denied = folder / "denied/a";
  for (int i = 0; i < kReuseRounds; ++i) {
    std::string allowed = folder.file("allowed/a");
    make_known(guard, allowed, false);
    ino_t first = inode_of(allowed);
    ASSERT_EQ(::unlink(allowed.c_str()), 0);
    expect_walk(open_judged(guard, denied, O_CREAT | O_WRONLY), true);
    make_known(guard, denied, true);
    bool reused = inode_of(denied) == first;
    ASSERT_EQ(::unlink(denied.c_str()), 0);
    if (reused) return;
  }
  GTEST_SKIP() << "the file system of " << folder.path() << " never gave an inode number out again";
}

TEST_P(GuardCache, a_directory_that_got_the_inode_of_a_removed_one_has_its_files_judged_anew) {
  Folder folder(where_inodes_come_again());
  std::filesystem::create_directories(folder / "allowed");
  std::filesystem::create_directories(folder / "denied");
  Guard& guard = denying();
  HOTSET_NEEDS_A_CACHE(guard);
  const std::string removed = folder / "allowed/d", denied = folder / "denied/d";
  for (int i = 0; i < kReuseRounds; ++i) {
    std::string allowed = folder.file("allowed/d/a");
    make_known(guard, allowed, false);
    ino_t first = inode_of(removed);
    ASSERT_EQ(::unlink(allowed.c_str()), 0);
    ASSERT_EQ(::rmdir(removed.c_str()), 0);
    ASSERT_EQ(::mkdir(denied.c_str(), 0755), 0);
    bool reused = inode_of(denied) == first;
    expect_walk(open_judged(guard, denied + "/a", O_CREAT | O_WRONLY), true);
    make_known(guard, denied + "/a", true);
    ASSERT_EQ(::unlink((denied + "/a").c_str()), 0);
    ASSERT_EQ(::rmdir(denied.c_str()), 0);
    if (reused) return;
  }
  GTEST_SKIP() << "the file system of " << folder.path() << " never gave an inode number out again";
}

TEST_P(GuardCache, a_hard_link_is_judged_by_the_name_it_was_opened_by) {
  std::string allowed = folder_.file("allowed/a"), denied = folder_ / "denied/a";
  std::filesystem::create_directories(folder_ / "denied");
  Guard& guard = denying();
  HOTSET_NEEDS_A_CACHE(guard);
  make_known(guard, allowed, false);
  ASSERT_EQ(::link(allowed.c_str(), denied.c_str()), 0);
  for (int i = 0; i < 3; ++i) { // what is known is of the name that was opened last
    expect_walk(open_judged(guard, denied), true);
    make_known(guard, denied, true);
    expect_walk(open_judged(guard, allowed), false);
    make_known(guard, allowed, false);
  }
}

TEST_P(GuardCache, a_reload_ends_all_that_is_known) {
  std::string file = folder_.file("denied/a");
  Guard guard = start(auditing(rule("/**/denied/", "deny")));
  HOTSET_NEEDS_A_CACHE(guard);
  make_known(guard, file, true);
  ASSERT_TRUE(guard.reload(auditing(rule(folder_ / "other/", "deny"))));
  expect_walk(open_judged(guard, file), false);
  expect_hit(open_judged(guard, file), false);
}

TEST_P(GuardCache, a_verdict_on_one_subject_is_none_on_another) {
  constexpr uid_t kOther = 12345;
  std::string file = folder_.file("denied/a");
  // Whatever the umask is, the other can come to the file.
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod((folder_ / "denied").c_str(), 0755), 0);
  ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
  Guard guard = start(auditing(rule(folder_ / "denied/", "deny", "uid = 12345")));
  HOTSET_NEEDS_A_CACHE(guard);
  make_known(guard, file, false);
  int became = -1, returned = -1;
  Judged other = judged(guard, [&] { // the counters are read by root
    became = ::seteuid(kOther);
    int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    int error = errno;
    returned = ::seteuid(0);
    errno = error;
    return fd;
  });
  ASSERT_EQ(became, 0);
  ASSERT_EQ(returned, 0);
  EXPECT_EQ(other.error, 0) << "a policy in mode audit denies nothing";
  expect_hit(other, true);
  Judged again = open_judged(guard, file);
  EXPECT_EQ(again.error, 0);
  expect_hit(again, false);
}

HOTSET_GUARD_TESTS(GuardCache);

} // namespace
} // namespace hotset
