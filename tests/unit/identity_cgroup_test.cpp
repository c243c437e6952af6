// SPDX-License-Identifier: Apache-2.0
// Cgroups of v1, v2 and both, with what happens to them while one looks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "identity/cgroup.h"
#include "unit/fake_tree.h"

namespace hotset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kV2 = "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n";
constexpr std::string_view kHybrid =
    "tmpfs /sys/fs/cgroup tmpfs rw 0 0\n"
    "cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n"
    "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n"
    "cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n";

class CgroupTest : public testing::Test {
 protected:
  void mount(std::string_view mounts) const { tree.put("/proc/self/mounts", mounts); }
  void make(const std::string& folder, std::string_view procs) const { tree.put(folder + "/cgroup.procs", procs); }
  [[nodiscard]] ErrorCode error_of(std::string_view path) const {
    Result<Cgroup> found = Cgroup::find(tree.files(), path);
    EXPECT_FALSE(found) << path;
    return found ? ErrorCode::internal : found.error().code;
  }
  FakeTree tree;
};

TEST_F(CgroupTest, is_found_by_its_path_from_the_root_and_by_that_below_the_mount) {
  mount(kV2);
  make("/sys/fs/cgroup/system.slice/x.service", "12\n");
  for (std::string_view path : {"/system.slice/x.service", "system.slice/x.service", "/system.slice//./x.service/",
                                "/sys/fs/cgroup/system.slice/x.service"}) {
    Result<Cgroup> found = Cgroup::find(tree.files(), path);
    ASSERT_TRUE(found) << to_sentence(found.error());
    EXPECT_EQ(found->path(), "/system.slice/x.service");
    EXPECT_EQ(found->version(), 2);
    EXPECT_NE(found->id(), 0U);
  }
}

TEST_F(CgroupTest, of_a_hybrid_machine_is_that_of_the_memory_controller) {
  mount(kHybrid);
  make("/sys/fs/cgroup/memory/a", "12\n");
  make("/sys/fs/cgroup/unified/a", "13\n");
  make("/sys/fs/cgroup/unified/b", "14\n");
  Result<Cgroup> a = Cgroup::find(tree.files(), "/a"), b = Cgroup::find(tree.files(), "/b"),
                 unified = Cgroup::find(tree.files(), "/sys/fs/cgroup/unified/a");
  ASSERT_TRUE(a && b && unified);
  EXPECT_EQ(a->version(), 1);
  EXPECT_THAT(a->processes(tree.files()).value(), ElementsAre(12));
  EXPECT_EQ(b->version(), 2);
  EXPECT_FALSE(b->memory(tree.files()).usage);
  EXPECT_THAT(unified->processes(tree.files()).value(), ElementsAre(13));
}

TEST_F(CgroupTest, at_the_mount_point_is_the_root) {
  mount(kV2);
  make("/sys/fs/cgroup", "1\n");
  for (std::string_view path : {"/", "/sys/fs/cgroup", "/sys/fs/cgroup/"})
    EXPECT_EQ(Cgroup::find(tree.files(), path).value().path(), "/");
}

TEST_F(CgroupTest, that_cannot_be_measured_is_refused_for_what_it_is) {
  mount(kHybrid);
  make("/sys/fs/cgroup/memory/a", "12\n");
  make("/sys/fs/cgroup/cpu/a", "12\n");
  tree.put("/sys/fs/cgroup/memory/file", "");
  EXPECT_EQ(error_of(""), ErrorCode::usage);
  EXPECT_EQ(error_of("/a/../b"), ErrorCode::usage);
  EXPECT_EQ(error_of("/sys/fs/cgroup/memory/.."), ErrorCode::usage);
  EXPECT_EQ(error_of("/sys/fs/cgroup/cpu/a"), ErrorCode::usage);
  EXPECT_EQ(error_of("/b"), ErrorCode::not_found);
  EXPECT_EQ(error_of("/file"), ErrorCode::not_found);
  EXPECT_EQ(error_of("/sys/fs/cgroup/memoryless"), ErrorCode::not_found);
  mount("proc /proc proc rw 0 0\n");
  EXPECT_EQ(error_of("/a"), ErrorCode::unsupported);
}

TEST_F(CgroupTest, that_is_threaded_names_where_the_memory_belongs) {
  mount(kV2);
  make("/sys/fs/cgroup/a/b", "");
  tree.put("/sys/fs/cgroup/a/b/cgroup.type", "threaded\n");
  Result<Cgroup> found = Cgroup::find(tree.files(), "/a/b");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::unsupported);
  EXPECT_THAT(to_sentence(found.error()), HasSubstr("try /a"));
}

TEST_F(CgroupTest, processes_are_those_below_as_well_each_once) {
  mount(kV2);
  make("/sys/fs/cgroup/a", "30\n7\n0\n");
  make("/sys/fs/cgroup/a/with blank\n", "8\n30\n");
  make("/sys/fs/cgroup/a/b/c", "9\nnonsense\n99999999999\n-3\n");
  make("/sys/fs/cgroup/a/threads", "11\n"); // the kernel refuses to read this one
  tree.put("/sys/fs/cgroup/a/threads/cgroup.type", "threaded\n");
  std::filesystem::create_directories(tree.root() + "/sys/fs/cgroup/a/vanishing"); // its files are gone already
  Cgroup a = Cgroup::find(tree.files(), "/a").value();
  EXPECT_THAT(a.processes(tree.files()).value(), ElementsAre(0, 7, 8, 9, 30));
}

TEST_F(CgroupTest, without_processes_lists_none) {
  mount(kV2);
  make("/sys/fs/cgroup/a", "");
  EXPECT_THAT(Cgroup::find(tree.files(), "/a").value().processes(tree.files()).value(), IsEmpty());
}

TEST_F(CgroupTest, that_was_removed_and_made_again_is_another_one) {
  mount(kV2);
  make("/sys/fs/cgroup/a", "7\n");
  Cgroup a = Cgroup::find(tree.files(), "/a").value();
  make("/sys/fs/cgroup/new", "8\n");
  tree.remove("/sys/fs/cgroup/a");
  EXPECT_EQ(a.processes(tree.files()).error().code, ErrorCode::gone);
  std::filesystem::rename(tree.root() + "/sys/fs/cgroup/new", tree.root() + "/sys/fs/cgroup/a");
  EXPECT_EQ(a.processes(tree.files()).error().code, ErrorCode::gone);
}

TEST_F(CgroupTest, usage_is_what_the_kernel_says_in_either_version) {
  mount(kHybrid);
  make("/sys/fs/cgroup/memory/a", "");
  tree.put("/sys/fs/cgroup/memory/a/memory.usage_in_bytes", "8192000\n");
  tree.put("/sys/fs/cgroup/memory/a/memory.stat",
           "cache 1\nmapped_file 2\ntotal_cache 4096\ntotal_mapped_file 2048\ntotal_swap 12\n");
  CgroupMemory one = Cgroup::find(tree.files(), "/a").value().memory(tree.files());
  EXPECT_EQ(one.usage, 8192000U);
  EXPECT_EQ(one.cache, 4096U);
  EXPECT_EQ(one.mapped_cache, 2048U);
  EXPECT_EQ(one.swap, 12U);

  mount(kV2);
  make("/sys/fs/cgroup/b", "");
  tree.put("/sys/fs/cgroup/b/memory.current", "5000\n");
  tree.put("/sys/fs/cgroup/b/memory.swap.current", "0\n");
  tree.put("/sys/fs/cgroup/b/memory.stat", "anon 4\nfile 300\nfile_mapped 20\n");
  CgroupMemory two = Cgroup::find(tree.files(), "/b").value().memory(tree.files());
  EXPECT_EQ(two.usage, 5000U);
  EXPECT_EQ(two.cache, 300U);
  EXPECT_EQ(two.mapped_cache, 20U);
  EXPECT_EQ(two.swap, 0U);
}

} // namespace
} // namespace hotset
