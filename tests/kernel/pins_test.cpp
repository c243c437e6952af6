// SPDX-License-Identifier: Apache-2.0
// Pins in a BPF file system of the test's own, which nobody else sees.
#include "kernel/pins.h"

#include <bpf/bpf.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/object_info.h"
#include "kernel/private_mount.h"

namespace hotset {
namespace {

using ::testing::HasSubstr;

class Pins : public testing::Test {
 protected:
  void SetUp() override {
    Result<Fd> mount = private_mount("bpf");
    if (!mount) GTEST_SKIP() << to_sentence(mount.error());
    mount_ = *std::move(mount);
    root_ = fmt::format("/proc/self/fd/{}", mount_.get());
    map_ = Fd(bpf_map_create(BPF_MAP_TYPE_ARRAY, "plain", 4, 8, 1, nullptr));
    ASSERT_TRUE(map_);
  }

  Fd mount_, map_;
  std::string root_;
};

template <class T>
void expect_blamed_on_the_dot(const Result<T>& result) {
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::usage) << to_sentence(result.error());
  EXPECT_THAT(result.error().cause, HasSubstr("no name with a dot, such as 'a.b'"));
  EXPECT_EQ(result.error().remedy, "choose a name without one");
}

TEST_F(Pins, open_what_was_pinned_until_it_is_unpinned) {
  EXPECT_EQ(make_pin_folder(root_ + "/folder/").value(), true);
  EXPECT_EQ(make_pin_folder(root_ + "/folder").value(), false) << "it exists already";
  const std::string path = root_ + "/folder/map";
  ASSERT_TRUE(pin(map_.get(), path));
  EXPECT_TRUE(in_bpf_file_system(path).value());
  Result<Fd> opened = open_pin(path);
  ASSERT_TRUE(opened) << to_sentence(opened.error());
  EXPECT_EQ(map_info(opened->get())->id, map_info(map_.get())->id);
  unpin(root_ + "/folder");
  EXPECT_EQ(open_pin(path).error().code, ErrorCode::not_found);
  EXPECT_EQ(in_bpf_file_system(path).error().code, ErrorCode::not_found);
}

TEST_F(Pins, are_refused_for_the_dot_in_a_name_and_not_for_a_privilege) {
  expect_blamed_on_the_dot(check_pin_name(root_ + "/a.b"));
  expect_blamed_on_the_dot(check_pin_name(root_ + "/a.b/map"));
  expect_blamed_on_the_dot(make_pin_folder(root_ + "/a.b"));
  expect_blamed_on_the_dot(make_pin_folder(root_ + "/a.b/folder"));
  expect_blamed_on_the_dot(pin(map_.get(), root_ + "/a.b"));
  expect_blamed_on_the_dot(open_pin(root_ + "/a.b"));
  expect_blamed_on_the_dot(in_bpf_file_system(root_ + "/a.b"));
  EXPECT_TRUE(check_pin_name(root_ + "/./folder/../map"));
}

TEST_F(Pins, lie_in_a_bpf_file_system_alone) {
  EXPECT_FALSE(in_bpf_file_system("/proc/self").value());
  Result<bool> made = make_pin_folder("/tmp/folder.of.pins");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::usage);
  EXPECT_THAT(made.error().cause, HasSubstr("/tmp lies in no BPF file system"));
  EXPECT_TRUE(check_pin_name("/tmp/folder.of.pins")) << "elsewhere a dot is just a letter";
}

} // namespace
} // namespace hotset
