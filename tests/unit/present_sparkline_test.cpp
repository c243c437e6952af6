// SPDX-License-Identifier: Apache-2.0
#include "present/sparkline.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace hotset {
namespace {

using Values = std::vector<std::optional<std::uint64_t>>;

TEST(Sparkline, reaches_from_zero_to_the_greatest_value) {
  EXPECT_EQ(sparkline(Values{0, 1, 2, 3, 4, 5, 6, 7, 8}, 80, Blocks::unicode), "·▁▂▃▄▅▆▇█");
  EXPECT_EQ(sparkline(Values{0, 1, 2, 3, 4, 5, 6, 7, 8}, 80, Blocks::plain), ".12345678");
}

TEST(Sparkline, shows_one_event_beside_millions) {
  EXPECT_EQ(sparkline(Values{0, 1, 5'000'000}, 80, Blocks::plain), ".18");
}

TEST(Sparkline, leaves_a_gap_where_nothing_is_known) {
  EXPECT_EQ(sparkline(Values{std::nullopt, std::nullopt, 0, 4}, 80, Blocks::plain), "  .8");
  EXPECT_EQ(sparkline(Values{std::nullopt}, 80, Blocks::unicode), " ");
}

TEST(Sparkline, keeps_the_peak_of_what_shares_a_character) {
  EXPECT_EQ(sparkline(Values{0, 8, 0, 0, 4, 0}, 3, Blocks::plain), "8.4");
  EXPECT_EQ(sparkline(Values{std::nullopt, 8, 0, std::nullopt, 4, 0}, 2, Blocks::plain), "84");
}

TEST(Sparkline, takes_the_greatest_counts_and_none) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(sparkline(Values{kMost, kMost / 2, 0}, 80, Blocks::plain), "84.");
  EXPECT_EQ(sparkline(Values{0, 0}, 80, Blocks::plain), "..");
  EXPECT_EQ(sparkline({}, 80, Blocks::plain), "");
  EXPECT_EQ(sparkline(Values{1}, 0, Blocks::plain), "");
}

TEST(Sparkline, takes_blocks_only_where_the_locale_is_utf8) {
  EXPECT_EQ(choose_blocks(nullptr, nullptr, "en_GB.UTF-8"), Blocks::unicode);
  EXPECT_EQ(choose_blocks("", "C.utf8", "C"), Blocks::unicode);
  EXPECT_EQ(choose_blocks("C", "en_GB.UTF-8", "en_GB.UTF-8"), Blocks::plain) << "LC_ALL comes first";
  EXPECT_EQ(choose_blocks(nullptr, nullptr, "de_DE.ISO-8859-1"), Blocks::plain);
  EXPECT_EQ(choose_blocks(nullptr, nullptr, nullptr), Blocks::plain);
}

} // namespace
} // namespace hotset
