// SPDX-License-Identifier: Apache-2.0
#include "base/units.h"

#include <gtest/gtest.h>

namespace hotset {
namespace {

using namespace std::chrono_literals;

TEST(Duration, is_read_with_its_unit) {
  EXPECT_EQ(parse_duration("100ms").value(), 100ms);
  EXPECT_EQ(parse_duration("1.5s").value(), 1500ms);
  EXPECT_EQ(parse_duration("2").value(), 2s);
  EXPECT_EQ(parse_duration("250us").value(), 250us);
  EXPECT_EQ(parse_duration("5m").value(), 5min);
}

TEST(Duration, refuses_what_is_not_a_time_above_zero) {
  for (const char* text : {"", "0", "0s", "-1", "nan", "inf", "1x", "ms", "1 s", "1e9s", "99999999999h", "1..2"})
    EXPECT_FALSE(parse_duration(text)) << text;
}

TEST(ByteSize, is_read_in_powers_of_two) {
  EXPECT_EQ(parse_bytes("64MiB").value(), 64u << 20);
  EXPECT_EQ(parse_bytes("1G").value(), 1u << 30);
  EXPECT_EQ(parse_bytes("4096").value(), 4096u);
  EXPECT_FALSE(parse_bytes("-1"));
  EXPECT_FALSE(parse_bytes("99999999T"));
}

TEST(Count, is_read_as_a_number_or_a_power_of_two) {
  EXPECT_EQ(parse_count("2^22").value(), 1u << 22);
  EXPECT_EQ(parse_count("128").value(), 128u);
  for (const char* text : {"2^64", "2^", "1.5", "-3", "0x10", "18446744073709551616"})
    EXPECT_FALSE(parse_count(text)) << text;
}

TEST(Numbers, an_empty_text_is_none_even_one_that_points_nowhere) {
  EXPECT_FALSE(parse_u64(std::string_view()));
  EXPECT_FALSE(parse_finite(std::string_view()));
}

TEST(HumanBytes, keeps_three_digits_and_never_cuts_to_whole_megabytes) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(1023), "1023 B");
  EXPECT_EQ(human_bytes(1536 * 1024), "1.50 MiB");
  EXPECT_EQ(human_bytes(std::uint64_t{5} << 31), "10.0 GiB");
}

TEST(HumanDuration, has_no_minute_of_sixty_seconds) {
  EXPECT_EQ(human_duration(66min - 1ms), "66 min 0 s");
  EXPECT_EQ(human_duration(66min), "66 min 0 s");
  EXPECT_EQ(human_duration(2min - 1ms), "2 min 0 s");
  EXPECT_EQ(human_duration(125s), "2 min 5 s");
  EXPECT_EQ(human_duration(90s), "90.00 s");
}

TEST(Printable, keeps_utf8_and_escapes_the_rest) {
  EXPECT_EQ(printable("redis-server"), "redis-server");
  EXPECT_EQ(printable("a b)(c"), "a b)(c");
  EXPECT_EQ(printable("café"), "café");
  EXPECT_EQ(printable("a\nb\x1b[1m"), "a\\x0ab\\x1b[1m");
  EXPECT_EQ(printable("\xff\xc0\x80"), "\\xff\\xc0\\x80");
  EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82"); // cut in the middle of a character, as comm is
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b"); // a control character of two bytes
}

TEST(Units, one_of_a_thing_is_no_plural) {
  EXPECT_EQ(counted(0, "rule"), "0 rules");
  EXPECT_EQ(counted(1, "rule"), "1 rule");
  EXPECT_EQ(counted(2, "match", "es"), "2 matches");
}

TEST(Units, shares_are_percentages_and_nothing_else) {
  EXPECT_DOUBLE_EQ(*parse_share("2%"), 0.02);
  EXPECT_DOUBLE_EQ(*parse_share("100%"), 1);
  for (const char* wrong : {"", "%", "0", "-1%", "101%", "1.5", "0.02", "nan", "2 %", "2%%", "x"})
    EXPECT_FALSE(parse_share(wrong)) << wrong;
}

} // namespace
} // namespace hotset
