// SPDX-License-Identifier: Apache-2.0
#include "workload/pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "base/units.h"
#include "unit/fake_tree.h"
#include "workload/truth.h"

namespace hotset {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

const Pattern& pattern(std::string_view name) {
  return **find_pattern(name);
}

// A machine that has two GiB to give.
class SpecCheck : public ::testing::Test {
 protected:
  SpecCheck() { tree_.put("/proc/meminfo", "MemTotal:       8388608 kB\nMemAvailable:    2097152 kB\n"); }
  Result<> check(const WorkloadSpec& spec) { return check_spec(spec, tree_.files()); }

  FakeTree tree_;
  WorkloadSpec spec_ = default_spec(pattern("uniform"));
};

TEST(Patterns, have_names_of_their_own_and_defaults_that_pass_the_check) {
  std::set<std::string_view> names;
  for (const Pattern& row : patterns()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_TRUE(check_spec(default_spec(row), Files())) << row.name;
  }
}

TEST(Patterns, an_unknown_name_is_refused_with_those_there_are) {
  Result<const Pattern*> found = find_pattern("sequental");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::usage);
  EXPECT_THAT(found.error().remedy, ::testing::HasSubstr("sequential"));
}

TEST(Patterns, take_their_own_options_and_the_common_ones_but_no_other_patterns) {
  EXPECT_TRUE(takes(pattern("zipf"), "--skew"));
  EXPECT_FALSE(takes(pattern("uniform"), "--skew"));
  EXPECT_FALSE(takes(pattern("zipf"), "--elements"));
  for (const Pattern& row : patterns())
    for (std::string_view common : {"--rss", "--hot", "--rate", "--seed", "--seconds", "--scattered", "--write"})
      EXPECT_TRUE(takes(row, common)) << row.name << common;
}

TEST(Patterns, of_the_allocators_memory_take_no_options_of_mappings) {
  for (std::string_view option : {"--huge", "--no-huge", "--shared", "--private"}) {
    EXPECT_FALSE(takes(pattern("array"), option));
    EXPECT_TRUE(takes(pattern("ramp"), option));
  }
  EXPECT_TRUE(takes(pattern("file"), "--private"));
  EXPECT_FALSE(takes(pattern("file"), "--huge"));
}

TEST(RegionPages, round_up_and_allow_for_an_array_that_starts_anywhere_in_a_page) {
  WorkloadSpec spec = default_spec(pattern("uniform"));
  spec.rss_bytes = page_bytes() + 1;
  EXPECT_EQ(region_pages(spec), 2U);
  spec.pattern = &pattern("array");
  spec.rss_bytes = 512;
  EXPECT_EQ(region_pages(spec), 2U);
}

TEST_F(SpecCheck, refuses_shares_rates_and_skews_without_meaning) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (double hot : {0.0, -0.1, 1.01, nan, infinity}) {
    WorkloadSpec spec = spec_;
    spec.hot = hot;
    EXPECT_EQ(check(spec).error().code, ErrorCode::usage) << hot;
  }
  for (double rate : {-1.0, nan, infinity}) {
    WorkloadSpec spec = spec_;
    spec.rate = rate;
    EXPECT_EQ(check(spec).error().code, ErrorCode::usage) << rate;
  }
  for (double skew : {0.0, -1.0, nan, 21.0}) {
    WorkloadSpec spec = spec_;
    spec.skew = skew;
    EXPECT_EQ(check(spec).error().code, ErrorCode::usage) << skew;
  }
}

TEST_F(SpecCheck, refuses_more_memory_than_is_available_and_says_how_much_there_is) {
  spec_.rss_bytes = 3 * kGiB;
  Result<> checked = check(spec_);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, ErrorCode::usage);
  EXPECT_THAT(to_sentence(checked.error()), ::testing::HasSubstr("2.00 GiB are available"));
}

TEST_F(SpecCheck, counts_the_record_and_what_children_copy) {
  spec_.rss_bytes = 2 * kGiB; // fits to the byte, but the record does not
  EXPECT_FALSE(check(spec_));
  WorkloadSpec fork = default_spec(pattern("fork"));
  fork.rss_bytes = kGiB;
  fork.hot = 1;
  fork.children = 2;
  EXPECT_FALSE(check(fork));
  fork.write = false;
  EXPECT_TRUE(check(fork));
}

TEST_F(SpecCheck, refuses_what_no_record_can_hold_even_where_memory_is_unknown) {
  tree_.remove("/proc/meminfo");
  spec_.rss_bytes = kTruthMaxPages * page_bytes() + 1;
  EXPECT_EQ(check(spec_).error().code, ErrorCode::usage);
  spec_.rss_bytes = kTruthMaxPages * page_bytes();
  EXPECT_TRUE(check(spec_));
}

} // namespace
} // namespace hotset
