// SPDX-License-Identifier: Apache-2.0
#include "kernel/time_namespace.h"

#include <gtest/gtest.h>

#include "fake_tree.h"

namespace hotset {
namespace {

TEST(TimeOffset, is_that_of_the_clock_asked_for) {
  constexpr std::string_view kShifted = "monotonic           7         8\nboottime       86400         5\n";
  EXPECT_EQ(parse_time_offset(kShifted, "boottime"), Nanoseconds(86'400'000'000'005));
  EXPECT_EQ(parse_time_offset(kShifted, "monotonic"), Nanoseconds(7'000'000'008));
  EXPECT_EQ(parse_time_offset("monotonic 0 0\nboottime -1 500000000\n", "boottime"), Nanoseconds(-500'000'000));
}

TEST(TimeOffset, is_zero_without_one) {
  EXPECT_EQ(parse_time_offset("", "boottime"), Nanoseconds::zero());
  EXPECT_EQ(parse_time_offset("boottime x", "boottime"), Nanoseconds::zero());
  EXPECT_EQ(parse_time_offset("boottime 1 -1", "boottime"), Nanoseconds::zero());
  // More than the kernel allows, or 64 bits of ns hold.
  EXPECT_EQ(parse_time_offset("boottime 555555555555 0", "boottime"), Nanoseconds::zero());
}

TEST(TimeOffset, is_zero_where_the_kernel_has_no_time_namespaces) {
  FakeTree tree;
  EXPECT_EQ(time_offset(tree.files(), "boottime"), Nanoseconds::zero());
}

} // namespace
} // namespace hotset
