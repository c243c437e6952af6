// SPDX-License-Identifier: Apache-2.0
#include "base/mounts.h"

#include <gtest/gtest.h>

#include "fake_tree.h"

namespace hotset {
namespace {

TEST(Mounts, are_read_with_type_point_and_options) {
  auto mounts = parse_mounts("cgroup /sys/fs/cgroup/memory cgroup rw,nosuid,memory 0 0\n");
  ASSERT_EQ(mounts.size(), 1u);
  EXPECT_EQ(mounts[0].source, "cgroup");
  EXPECT_EQ(mounts[0].point, "/sys/fs/cgroup/memory");
  EXPECT_EQ(mounts[0].type, "cgroup");
  EXPECT_TRUE(mounts[0].has_option("memory"));
  EXPECT_FALSE(mounts[0].has_option("mem"));
}

TEST(Mounts, blanks_line_feeds_and_backslashes_in_a_path_come_back) {
  auto mounts = parse_mounts("a\\134b /mnt/my\\040disk\\011\\012x ext4 rw 0 0\n");
  ASSERT_EQ(mounts.size(), 1u);
  EXPECT_EQ(mounts[0].source, "a\\b");
  EXPECT_EQ(mounts[0].point, "/mnt/my disk\t\nx");
}

TEST(Mounts, what_only_looks_like_an_escape_stays) {
  auto mounts = parse_mounts("a /\\04 ext4 rw 0 0\nb /\\999\\ ext4 rw 0 0\nc /\\400 ext4 rw 0 0\n");
  ASSERT_EQ(mounts.size(), 3u);
  EXPECT_EQ(mounts[0].point, "/\\04");
  EXPECT_EQ(mounts[1].point, "/\\999\\");
  EXPECT_EQ(mounts[2].point, "/\\400");
}

TEST(Mounts, a_line_without_all_fields_is_passed_over) {
  EXPECT_TRUE(parse_mounts("").empty());
  EXPECT_TRUE(parse_mounts("proc /proc proc\n\n \n").empty());
}

TEST(Mounts, the_last_of_a_type_is_the_one_that_is_seen) {
  auto mounts = parse_mounts("none /old proc rw 0 0\nnone /sys sysfs rw 0 0\nproc /proc proc rw 0 0\n");
  ASSERT_NE(find_mount(mounts, "proc"), nullptr);
  EXPECT_EQ(find_mount(mounts, "proc")->point, "/proc");
  EXPECT_EQ(find_mount(mounts, "tracefs"), nullptr);
}

TEST(Mounts, without_proc_are_an_error) {
  FakeTree tree;
  EXPECT_EQ(read_mounts(tree.files()).error().code, ErrorCode::not_found);
}

} // namespace
} // namespace hotset
