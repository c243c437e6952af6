// SPDX-License-Identifier: Apache-2.0
#include "guard/counters.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace hotset {
namespace {

GuardCounts counts(std::uint64_t no_policy, std::uint64_t allow, std::uint64_t deny, std::uint64_t walks) {
  GuardCounts counts;
  counts.of = {no_policy + allow + deny + walks, no_policy, allow, deny, walks};
  return counts;
}

TEST(GuardCounts, have_a_hit_rate_only_where_something_was_looked_up) {
  EXPECT_FALSE(GuardCounts().hit_rate());
  EXPECT_DOUBLE_EQ(*counts(1, 1, 1, 1).hit_rate(), 0.75);
}

TEST(GuardCounts, add_up_to_the_look_ups) {
  EXPECT_TRUE(counts(1, 2, 3, 4).adds_up());
  GuardCounts wrong = counts(1, 2, 3, 4);
  ++wrong.of[0];
  EXPECT_FALSE(wrong.adds_up());
}

// The program declares them in a macro, from which C++ cannot take them.
TEST(GuardCounts, have_the_names_and_the_order_of_the_programs_window) {
  std::ifstream file(HOTSET_SOURCE_DIR "/bpf/guard_window.bpf.h");
  std::stringstream text;
  text << file.rdbuf();
  std::string source = text.str();
  std::size_t at = source.find("WINDOW(policy,");
  ASSERT_NE(at, std::string::npos);
  for (const GuardCounterRow& row : kGuardCounters) {
    std::size_t found = source.find("\n\t" + std::string(row.name), at);
    std::size_t indented = source.find(" " + std::string(row.name), at);
    ASSERT_NE(std::min(found, indented), std::string::npos) << row.name;
    at = std::min(found, indented) + row.name.size();
  }
}

} // namespace
} // namespace hotset
