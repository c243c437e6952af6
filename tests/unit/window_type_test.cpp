// SPDX-License-Identifier: Apache-2.0
// Type information as clang makes it of bpf/window.bpf.h, and what is not quite that.
#include "window/type.h"

#include <bpf/btf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

namespace hotset {
namespace {

using ::testing::ElementsAre;

// Builds the types of one window, a struct at a time; the defaults are what WINDOW() declares.
class Types {
 public:
  Types() : btf_(btf__new_empty(), btf__free), word_(btf__add_int(btf_.get(), "unsigned long long", 8, 0)) {
    word_ = btf__add_typedef(btf_.get(), "__u64", word_);
  }
  [[nodiscard]] const btf& get() const { return *btf_; }
  int structure(const char* name, unsigned size) { return btf__add_struct(btf_.get(), name, size); }
  void member(const char* name, int type, unsigned byte) { btf__add_field(btf_.get(), name, type, byte * 8, 0); }
  int words(const char* name, const std::vector<const char*>& names) {
    int type = structure(name, static_cast<unsigned>(names.size() * 8));
    for (unsigned i = 0; i < names.size(); ++i)
      member(names[i], word_, i * 8);
    return type;
  }
  int array(int type, unsigned count) { return btf__add_array(btf_.get(), word_, type, count); }
  [[nodiscard]] int word() const { return word_; }

  struct Window {
    const char* name = "cache_window";
    const char* header = "window_header";
    const char* tag = "abs_bucket";
    std::vector<const char*> counters{"lookups", "hits"};
    unsigned slots = WINDOW_SLOTS;
    unsigned size = 0; // 0: the right one
  };
  std::uint32_t window(const Window& what) {
    auto counted = static_cast<unsigned>(what.counters.size());
    int header = structure(what.header, sizeof(window_header));
    int totals = words("cache_counters", what.counters);
    int slot = structure("cache_slot", (1 + counted) * 8);
    member(what.tag, word_, 0);
    member("start", totals, 8);
    int slots = array(slot, what.slots);
    unsigned right = static_cast<unsigned>(WINDOW_WORDS(counted)) * 8;
    int window = structure(what.name, what.size == 0 ? right : what.size);
    member("header", header, 0);
    member("total", totals, sizeof(window_header));
    member("slots", slots, static_cast<unsigned>(sizeof(window_header)) + counted * 8);
    return static_cast<std::uint32_t>(window);
  }

 private:
  std::unique_ptr<btf, decltype(&btf__free)> btf_;
  int word_;
};

std::optional<WindowType> type_of(const Types::Window& what) {
  Types types;
  std::uint32_t value = types.window(what);
  return window_type(types.get(), value);
}

TEST(WindowType, has_the_names_that_were_declared) {
  std::optional<WindowType> type = type_of({});
  ASSERT_TRUE(type);
  EXPECT_EQ(type->name, "cache");
  EXPECT_EQ(type->layout, WINDOW_STARTS);
  EXPECT_THAT(type->counters, ElementsAre("lookups", "hits"));
}

TEST(WindowType, of_the_published_layout_is_told_by_its_slot) {
  Types types;
  int slot = types.words(
      "cache_slot", {"abs_bucket", "lookups", "hits_no_policy", "hits_allow", "hits_deny", "misses_walk", "fills"});
  std::optional<WindowType> type = window_type(types.get(), static_cast<std::uint32_t>(slot));
  ASSERT_TRUE(type);
  EXPECT_EQ(type->name, "cache");
  EXPECT_EQ(type->layout, WINDOW_PUBLISHED);
  EXPECT_THAT(type->counters,
              ElementsAre("lookups", "hits_no_policy", "hits_allow", "hits_deny", "misses_walk", "fills"));
}

TEST(WindowType, is_not_a_window_by_its_name_alone) {
  EXPECT_FALSE(type_of({.slots = 299}));
  EXPECT_FALSE(type_of({.header = "header"}));
  EXPECT_FALSE(type_of({.tag = "bucket"}));
  EXPECT_FALSE(type_of({.size = 64}));
  EXPECT_FALSE(type_of({.counters = {}}));
  EXPECT_FALSE(type_of({.counters = std::vector<const char*>(WINDOW_MAX_COUNTERS + 1, "c")}));
}

TEST(WindowType, is_not_a_window_by_its_shape_alone) {
  EXPECT_FALSE(type_of({.name = "_window"}));
  EXPECT_FALSE(type_of({.name = "cache"}));
  Types types;
  int six = types.words("cache_slot", {"abs_bucket", "a", "b", "c", "d", "e"});
  EXPECT_FALSE(window_type(types.get(), static_cast<std::uint32_t>(six)));
  int seven = types.words("cache_slot", {"first", "a", "b", "c", "d", "e", "f"});
  EXPECT_FALSE(window_type(types.get(), static_cast<std::uint32_t>(seven)));
}

TEST(WindowType, of_a_type_that_is_not_there_is_none) {
  Types types;
  EXPECT_FALSE(window_type(types.get(), 0));
  EXPECT_FALSE(window_type(types.get(), 4711));
  EXPECT_FALSE(window_type(types.get(), static_cast<std::uint32_t>(types.word())));
}

} // namespace
} // namespace hotset
