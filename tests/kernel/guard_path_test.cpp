// SPDX-License-Identifier: Apache-2.0
// Which path a file has, however it is reached: links, mounts, namespaces; and which files have none.
#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>

#include "guard_files.h"

namespace hotset {
namespace {

class GuardPath : public GuardTest {
 protected:
  Folder folder_;

  Guard& denying() {
    return auditing_guard(rule("/**/denied/", "deny") + rule("/hotset-at-the-root", "deny") +
                          rule("/**/inside/hotset-at-the-root", "deny") + rule("/**/*-long-name", "deny"));
  }
  static Fd open_directory(const std::string& path) {
    return Fd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  static int open_at(const Fd& directory, const char* name) {
    return ::openat(directory.get(), name, O_RDONLY | O_CLOEXEC);
  }
  static std::string through_proc(const Fd& fd) { return fmt::format("/proc/self/fd/{}", fd.get()); }
};

TEST_P(GuardPath, of_a_symbolic_link_is_that_of_its_target) {
  std::string denied = folder_.file("denied/a"), allowed = folder_.file("allowed/a");
  std::filesystem::create_symlink(denied, folder_ / "allowed/to-denied");
  std::filesystem::create_symlink(allowed, folder_ / "denied/to-allowed");
  std::filesystem::create_directory_symlink(folder_ / "denied", folder_ / "allowed/directory");
  Guard& guard = denying();
  EXPECT_TRUE(open_judged(guard, folder_ / "allowed/to-denied").denied);
  EXPECT_FALSE(open_judged(guard, folder_ / "denied/to-allowed").denied);
  EXPECT_TRUE(open_judged(guard, folder_ / "allowed/directory/a").denied);
  EXPECT_TRUE(open_judged(guard, folder_ / "allowed/../denied/./a").denied);
}

TEST_P(GuardPath, of_a_directory_is_judged_as_well) {
  folder_.file("denied/a");
  Guard& guard = denying();
  EXPECT_TRUE(open_judged(guard, folder_ / "denied", O_RDONLY | O_DIRECTORY).denied);
  EXPECT_FALSE(open_judged(guard, "/", O_RDONLY | O_DIRECTORY).denied);
  EXPECT_TRUE(open_judged(guard, "/", O_RDONLY | O_DIRECTORY).judged);
}

TEST_P(GuardPath, of_a_long_name_is_read_to_its_first_byte) {
  Guard& guard = denying();
  for (std::size_t bytes : {1U, 15U, 16U, 31U, 32U, 33U, 63U, 64U, 65U, 96U, 128U, 200U, 245U}) {
    std::string name(bytes, 'n');
    EXPECT_TRUE(open_judged(guard, folder_.file(name + "-long-name")).denied) << bytes;
    EXPECT_FALSE(open_judged(guard, folder_.file(name + "-long-nam_")).denied) << bytes;
    EXPECT_FALSE(open_judged(guard, folder_.file(name + "_long-name")).denied) << bytes;
  }
}

// A chain of directories with those names, of which each is opened in the one before; the last.
Fd chain(const std::string& begin, const std::string& name, int directories) {
  Fd at(::open(begin.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (int i = 0; i < directories; ++i) {
    ::mkdirat(at.get(), name.c_str(), 0755);
    at = Fd(::openat(at.get(), name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  Fd file(::openat(at.get(), "a", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  return at;
}

TEST_P(GuardPath, deeper_than_the_bound_is_unknown_and_up_to_it_is_known) {
  folder_.file("denied/begin/a");
  folder_.file("begin/a");
  Guard& guard = denying();
  Fd deep = chain(folder_ / "denied/begin", "d", 200), allowed = chain(folder_ / "begin", "d", 200);
  EXPECT_TRUE(judged(guard, [&] { return open_at(deep, "a"); }).denied);
  Judged known = judged(guard, [&] { return open_at(allowed, "a"); });
  EXPECT_FALSE(known.denied);
  EXPECT_FALSE(known.unknown);
  Fd deeper = chain(folder_ / "denied/begin", "e", 300);
  Judged unknown = judged(guard, [&] { return open_at(deeper, "a"); });
  EXPECT_TRUE(unknown.unknown);
  EXPECT_FALSE(unknown.denied) << "the policy's unknown is allow";
  EXPECT_FALSE(unknown.filled);
}

TEST_P(GuardPath, of_more_bytes_than_a_path_can_have_is_known) {
  folder_.file("denied/begin/a");
  Guard& guard = denying();
  Fd long_way = chain(folder_ / "denied/begin", std::string(250, 'd'), 40);
  EXPECT_TRUE(judged(guard, [&] { return open_at(long_way, "a"); }).denied);
}

TEST_P(GuardPath, of_a_file_without_a_name_is_unknown) {
  std::string path = folder_.file("denied/a");
  Guard& guard = denying();
  Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::unlink(path.c_str()), 0);
  EXPECT_TRUE(open_judged(guard, through_proc(file)).unknown);
  Judged temporary = open_judged(guard, folder_.path(), O_TMPFILE | O_RDWR);
  EXPECT_TRUE(temporary.unknown || temporary.error != 0);
  Fd memory(static_cast<int>(::syscall(SYS_memfd_create, "test", 1U)));
  EXPECT_TRUE(open_judged(guard, through_proc(memory)).unknown);
}

TEST_P(GuardPath, is_not_asked_of_what_is_no_file_of_a_file_system) {
  Guard& guard = denying();
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  Fd read_end(ends[0]), write_end(ends[1]);
  EXPECT_FALSE(open_judged(guard, through_proc(read_end)).judged);
  EXPECT_FALSE(open_judged(guard, folder_.file("denied/a"), O_PATH).judged);
}

TEST_P(GuardPath, through_a_bind_mount_is_that_of_the_mount) {
  std::string here = folder_.file("allowed/d/a");
  std::filesystem::create_directories(folder_ / "denied/m");
  Guard& guard = denying();
  in_own_mount_namespace([&] {
    open_judged(guard, here);
    ASSERT_EQ(::mount((folder_ / "allowed").c_str(), (folder_ / "denied/m").c_str(), nullptr, MS_BIND, nullptr), 0);
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(open_judged(guard, folder_ / "denied/m/d/a").denied);
      EXPECT_FALSE(open_judged(guard, here).denied);
    }
    EXPECT_TRUE(open_judged(guard, folder_ / "denied/m/d/a").walked);
    if (guard.keeps()) {
      EXPECT_TRUE(open_until_hit(guard, folder_ / "denied/m/d/a").hit);
    }
  });
}

TEST_P(GuardPath, ends_with_a_bind_mount_over_it) {
  std::string file = folder_.file("x/a"), other = folder_.file("y/a");
  Guard& guard = denying();
  HOTSET_NEEDS_A_CACHE(guard);
  in_own_mount_namespace([&] {
    EXPECT_TRUE(open_until_hit(guard, file).hit);
    ASSERT_EQ(::mount(other.c_str(), file.c_str(), nullptr, MS_BIND, nullptr), 0);
    EXPECT_TRUE(open_judged(guard, file).walked) << "another file, by the same name";
    ASSERT_EQ(::umount(file.c_str()), 0);
    EXPECT_TRUE(open_judged(guard, file).walked);
    EXPECT_TRUE(open_until_hit(guard, file).hit);
  });
}

TEST_P(GuardPath, ends_when_its_mount_is_moved) {
  std::filesystem::create_directories(folder_ / "allowed/m");
  std::filesystem::create_directories(folder_ / "denied/m");
  Guard& guard = denying();
  HOTSET_NEEDS_A_CACHE(guard);
  in_own_mount_namespace([&] {
    ASSERT_EQ(::mount("none", (folder_ / "allowed/m").c_str(), "tmpfs", 0, nullptr), 0);
    std::string file = folder_.file("allowed/m/d/a");
    EXPECT_TRUE(open_until_hit(guard, file).hit);
    ASSERT_EQ(::mount((folder_ / "allowed/m").c_str(), (folder_ / "denied/m").c_str(), nullptr, MS_MOVE, nullptr), 0);
    EXPECT_TRUE(open_judged(guard, folder_ / "denied/m/d/a").denied);
  });
}

TEST_P(GuardPath, on_a_mount_that_is_nowhere_is_unknown) {
  std::filesystem::create_directories(folder_ / "denied/m");
  Guard& guard = denying();
  in_own_mount_namespace([&] {
    ASSERT_EQ(::mount("none", (folder_ / "denied/m").c_str(), "tmpfs", 0, nullptr), 0);
    folder_.file("denied/m/a");
    Fd inside = open_directory(folder_ / "denied/m");
    EXPECT_TRUE(judged(guard, [&] { return open_at(inside, "a"); }).denied);
    constexpr unsigned kClone = 1, kCloseOnExec = 02000000; // OPEN_TREE_CLONE, OPEN_TREE_CLOEXEC
    Fd copy(
        static_cast<int>(::syscall(SYS_open_tree, AT_FDCWD, (folder_ / "denied/m").c_str(), kClone | kCloseOnExec)));
    ASSERT_TRUE(copy);
    EXPECT_TRUE(judged(guard, [&] { return open_at(copy, "a"); }).unknown) << "mounted nowhere yet";
    ASSERT_EQ(::umount2((folder_ / "denied/m").c_str(), MNT_DETACH), 0);
    EXPECT_TRUE(judged(guard, [&] { return open_at(inside, "a"); }).unknown) << "mounted nowhere any more";
  });
}

TEST_P(GuardPath, above_the_root_of_its_mount_is_unknown) {
  folder_.file("x/y/d/a");
  std::filesystem::create_directories(folder_ / "m");
  Guard& guard = denying();
  in_own_mount_namespace([&] {
    ASSERT_EQ(::mount((folder_ / "x/y").c_str(), (folder_ / "m").c_str(), nullptr, MS_BIND, nullptr), 0);
    Fd inside = open_directory(folder_ / "m/d");
    EXPECT_FALSE(judged(guard, [&] { return open_at(inside, "a"); }).unknown);
    ASSERT_EQ(::rename((folder_ / "x/y/d").c_str(), (folder_ / "x/d").c_str()), 0);
    EXPECT_TRUE(judged(guard, [&] { return open_at(inside, "a"); }).unknown);
  });
}

TEST_P(GuardPath, in_a_chroot_is_that_of_the_mount_namespace) {
  folder_.file("inside/hotset-at-the-root");
  Guard& guard = denying();
  in_own_mount_namespace([&] {
    ASSERT_EQ(::chroot((folder_ / "inside").c_str()), 0);
    ASSERT_EQ(::chdir("/"), 0);
    EXPECT_TRUE(open_judged(guard, "/hotset-at-the-root").denied);
  });
}

TEST_P(GuardPath, after_pivot_root_is_from_the_new_root) {
  std::filesystem::create_directories(folder_ / "new");
  Guard& guard = denying();
  HOTSET_NEEDS_A_CACHE(guard);
  in_own_mount_namespace([&] {
    std::string root = folder_ / "new";
    ASSERT_EQ(::mount("none", root.c_str(), "tmpfs", 0, nullptr), 0);
    std::string file = folder_.file("new/hotset-at-the-root");
    EXPECT_FALSE(open_judged(guard, file).denied);
    EXPECT_TRUE(open_until_hit(guard, file).hit);
    ASSERT_EQ(::chdir(root.c_str()), 0);
    if (::syscall(SYS_pivot_root, ".", ".") != 0) GTEST_SKIP() << "the root of an initramfs cannot be pivoted";
    ASSERT_EQ(::umount2(".", MNT_DETACH), 0);
    EXPECT_TRUE(open_judged(guard, "/hotset-at-the-root").denied);
  });
}

TEST_P(GuardPath, in_another_mount_namespace_is_by_that_ones_mounts) {
  std::string file = folder_.file("allowed/a");
  std::filesystem::create_directories(folder_ / "denied");
  Guard& guard = denying();
  EXPECT_FALSE(open_judged(guard, file).denied);
  in_own_mount_namespace([&] {
    ASSERT_EQ(::mount((folder_ / "allowed").c_str(), (folder_ / "denied").c_str(), nullptr, MS_BIND, nullptr), 0);
    EXPECT_TRUE(open_judged(guard, folder_ / "denied/a").denied);
  });
  EXPECT_FALSE(open_judged(guard, file).denied);
}

TEST_P(GuardPath, on_an_overlay_is_that_of_the_overlay_and_its_layers_are_not_asked_for) {
  std::filesystem::create_directories(folder_ / "layers");
  std::filesystem::create_directories(folder_ / "merged");
  Guard& guard = denying();
  in_own_mount_namespace([&] {
    ASSERT_EQ(::mount("none", (folder_ / "layers").c_str(), "tmpfs", 0, nullptr), 0);
    folder_.file("layers/lower/denied/a");
    folder_.file("layers/lower/allowed/a");
    std::filesystem::create_directories(folder_ / "layers/upper");
    std::filesystem::create_directories(folder_ / "layers/changes");
    std::string layers = fmt::format("lowerdir={0}/lower,upperdir={0}/upper,workdir={0}/changes", folder_ / "layers");
    if (::mount("none", (folder_ / "merged").c_str(), "overlay", 0, layers.c_str()) != 0)
      GTEST_SKIP() << "no overlay file system here";
    for (int flags : {O_RDONLY, O_RDONLY, O_RDWR, O_RDONLY, O_RDWR}) { // the first to write copies the file up
      Judged denied = open_judged(guard, folder_ / "merged/denied/a", flags);
      EXPECT_TRUE(denied.denied);
      EXPECT_FALSE(denied.unknown);
      Judged allowed = open_judged(guard, folder_ / "merged/allowed/a", flags);
      EXPECT_FALSE(allowed.denied);
      EXPECT_FALSE(allowed.unknown);
    }
    ASSERT_EQ(::rename((folder_ / "merged/allowed/a").c_str(), (folder_ / "merged/denied/b").c_str()), 0);
    EXPECT_TRUE(open_judged(guard, folder_ / "merged/denied/b").denied);
  });
}

HOTSET_GUARD_TESTS(GuardPath);

} // namespace
} // namespace hotset
