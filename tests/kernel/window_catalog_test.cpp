// SPDX-License-Identifier: Apache-2.0
// Windows of a program that knows nothing of hotset window, found and named by their maps alone.
#include "window/catalog.h"

#include <bpf/bpf.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "app/window_reading.h"
#include "kernel/loader.h"
#include "kernel/object_info.h"
#include "kernel/pins.h"
#include "kernel/private_mount.h"
#include "window/start.h"
#include "window_test.skel.h"

namespace hotset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::uint32_t id_of(int fd) {
  Result<bpf_map_info> info = map_info(fd);
  return info ? info->id : 0;
}

// Its maps alone, without a program that the verifier would have to look at.
Skeleton<window_test_bpf> loaded_maps() {
  Skeleton<window_test_bpf> object = open_skeleton<window_test_bpf>("the window test").value();
  choose_programs(*object->obj, {});
  Result<> loaded = load_skeleton(*object->skeleton, "the window test");
  EXPECT_TRUE(loaded) << to_sentence(loaded.error());
  return object;
}

class WindowCatalog : public testing::Test {
 protected:
  static Result<WindowMap> open(int fd) { return open_window(Files(), std::to_string(id_of(fd))); }
  static Result<WindowMap> open(const bpf_map* map) { return open(bpf_map__fd(map)); }

  Skeleton<window_test_bpf> object_ = loaded_maps();
};

TEST_F(WindowCatalog, knows_a_window_by_the_number_of_its_map) {
  WindowMap map = open(object_->maps.seven).value();
  EXPECT_EQ(map.name, "seven");
  EXPECT_EQ(map.type.layout, WINDOW_STARTS);
  EXPECT_THAT(map.type.counters, ElementsAre("first", "second", "third", "fourth", "fifth", "sixth", "seventh"));
  EXPECT_TRUE(map.per_cpu());
  EXPECT_FALSE(map.keyed());
  EXPECT_EQ(open(object_->maps.twelve)->type.counters.size(), 12U);
}

TEST_F(WindowCatalog, finds_the_clock_of_the_published_layout_in_the_map_beside_it) {
  WindowMap map = open(object_->maps.cache).value();
  EXPECT_EQ(map.type.layout, WINDOW_PUBLISHED);
  EXPECT_EQ(id_of(map.meta.get()), id_of(bpf_map__fd(object_->maps.cache_meta)));
  ASSERT_TRUE(start_window({.window = map.fd.get(), .meta = map.meta.get()}, WINDOW_BOOTTIME));
  std::vector<WindowReading> readings =
      read_windows(Files(), map, {.seconds = 5, .ratios = {"hits_allow/lookups"}}).value();
  ASSERT_EQ(readings.size(), 1U);
  EXPECT_EQ(readings[0].label.clock, "boottime");
  EXPECT_EQ(readings[0].view.counters[5].name, "fills");
}

TEST_F(WindowCatalog, reads_each_window_of_a_map_with_several) {
  WindowMap map = open(object_->maps.targets).value();
  EXPECT_TRUE(map.keyed());
  EXPECT_FALSE(map.per_cpu());
  ASSERT_TRUE(start_window({.window = map.fd.get()}));
  std::vector<WindowReading> readings = read_windows(Files(), map, {}).value();
  ASSERT_EQ(readings.size(), 3U);
  EXPECT_EQ(readings[2].label.subject, "number 2");
  WindowListing listing = list_window(map);
  EXPECT_EQ(listing.windows, 3U);
  EXPECT_EQ(listing.bytes, 3 * WINDOW_WORDS(7) * 8);
  EXPECT_EQ(listing.label.clock, "jiffies");
}

TEST_F(WindowCatalog, lists_what_is_loaded_and_leaves_out_what_is_no_window) {
  std::vector<std::uint32_t> ids;
  std::vector<WindowMap> maps = loaded_windows().value();
  std::ranges::transform(maps, std::back_inserter(ids), &WindowMap::id);
  for (const bpf_map* window : {object_->maps.seven, object_->maps.twelve, object_->maps.targets, object_->maps.cache})
    EXPECT_TRUE(std::ranges::count(ids, id_of(bpf_map__fd(window))) == 1) << bpf_map__name(window);
  for (const bpf_map* other : {object_->maps.bss, object_->maps.cache_meta})
    EXPECT_EQ(std::ranges::count(ids, id_of(bpf_map__fd(other))), 0) << bpf_map__name(other);
}

TEST_F(WindowCatalog, says_of_a_window_that_nobody_started_that_it_was_not_started) {
  WindowMap map = open(object_->maps.seven).value();
  Result<std::vector<WindowReading>> readings = read_windows(Files(), map, {});
  ASSERT_FALSE(readings);
  EXPECT_EQ(readings.error().code, ErrorCode::bad_data);
  EXPECT_THAT(to_sentence(readings.error()), HasSubstr("has not been started"));
  EXPECT_EQ(list_window(map).label.clock, "");
}

TEST_F(WindowCatalog, takes_a_name_only_where_one_map_has_it) {
  Skeleton<window_test_bpf> another = loaded_maps();
  Result<WindowMap> map = open_window(Files(), "twelve");
  ASSERT_FALSE(map);
  EXPECT_EQ(map.error().code, ErrorCode::usage);
  EXPECT_THAT(map.error().cause, HasSubstr(std::to_string(id_of(bpf_map__fd(another->maps.twelve)))));
  EXPECT_EQ(open_window(Files(), "no_such_window").error().code, ErrorCode::not_found);
}

TEST_F(WindowCatalog, refuses_a_map_that_is_no_window) {
  Result<WindowMap> map = open(object_->maps.bss);
  ASSERT_FALSE(map);
  EXPECT_EQ(map.error().code, ErrorCode::bad_data);
  EXPECT_THAT(to_sentence(map.error()), HasSubstr("not what WINDOW() of bpf/window.bpf.h declares"));
}

TEST_F(WindowCatalog, refuses_a_map_without_type_information_and_says_how_to_have_it) {
  Fd plain(bpf_map_create(BPF_MAP_TYPE_ARRAY, "plain", 4, 8, 1, nullptr));
  ASSERT_TRUE(plain);
  Result<WindowMap> map = open(plain.get());
  ASSERT_FALSE(map);
  EXPECT_EQ(map.error().code, ErrorCode::bad_data);
  EXPECT_THAT(to_sentence(map.error()), HasSubstr("no type information (BTF); compile its program with clang -g"));
}

// Root's right to open what nobody may open.
class WithoutDacOverride {
 public:
  WithoutDacOverride() { set(false); }
  WithoutDacOverride(const WithoutDacOverride&) = delete;
  WithoutDacOverride& operator=(const WithoutDacOverride&) = delete;
  ~WithoutDacOverride() { set(true); }

 private:
  static void set(bool has) {
    __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    std::array<__user_cap_data_struct, 2> sets{};
    ASSERT_EQ(::syscall(SYS_capget, &header, sets.data()), 0);
    constexpr __u32 kBit = 1U << CAP_DAC_OVERRIDE;
    sets[0].effective = has ? sets[0].effective | kBit : sets[0].effective & ~kBit;
    ASSERT_EQ(::syscall(SYS_capset, &header, sets.data()), 0);
  }
};

class PinnedWindows : public WindowCatalog {
 protected:
  void SetUp() override {
    Result<Fd> mount = private_mount("bpf");
    if (!mount) GTEST_SKIP() << to_sentence(mount.error());
    mount_ = *std::move(mount);
    root_ = fmt::format("/proc/self/fd/{}", mount_.get());
    ASSERT_TRUE(pin(bpf_map__fd(object_->maps.seven), root_ + "/seven"));
  }

  Fd mount_;
  std::string root_;
};

TEST_F(PinnedWindows, are_opened_by_their_pin_or_by_the_folder_it_is_alone_in) {
  ASSERT_TRUE(make_pin_folder(root_ + "/folder"));
  ASSERT_TRUE(pin(bpf_map__fd(object_->maps.bss), root_ + "/no_window"));
  for (const std::string& path : {root_ + "/seven", root_ + "/"}) {
    Result<WindowMap> map = open_window(Files(), path);
    ASSERT_TRUE(map) << to_sentence(map.error());
    EXPECT_EQ(map->id, id_of(bpf_map__fd(object_->maps.seven)));
  }
  EXPECT_EQ(open_window(Files(), root_ + "/folder").error().code, ErrorCode::not_found);
}

TEST_F(PinnedWindows, a_pin_that_may_not_be_opened_is_told_and_not_passed_over) {
  ASSERT_TRUE(pin(bpf_map__fd(object_->maps.twelve), root_ + "/twelve"));
  ASSERT_EQ(::chmod((root_ + "/twelve").c_str(), 0), 0);
  Result<WindowMap> map = fail(Error());
  {
    WithoutDacOverride less;
    map = open_window(Files(), root_ + "/");
  }
  ASSERT_FALSE(map);
  EXPECT_EQ(map.error().code, ErrorCode::permission) << to_sentence(map.error());
  EXPECT_THAT(to_sentence(map.error()), HasSubstr("twelve"));
  EXPECT_EQ(map.error().remedy, "run with CAP_DAC_OVERRIDE, which root lacks here");
}

TEST_F(PinnedWindows, a_name_with_a_dot_is_the_command_lines_fault) {
  for (const std::string& path : {root_ + "/my.window", root_ + "/my.folder/window"}) {
    Result<WindowMap> map = open_window(Files(), path);
    ASSERT_FALSE(map);
    EXPECT_EQ(map.error().code, ErrorCode::usage) << to_sentence(map.error());
    EXPECT_THAT(to_sentence(map.error()), HasSubstr("no name with a dot"));
  }
}

} // namespace
} // namespace hotset
