// SPDX-License-Identifier: Apache-2.0
#include "present/style.h"

#include <gtest/gtest.h>

namespace hotset {
namespace {

TEST(Style, colours_only_a_capable_terminal_that_did_not_refuse) {
  EXPECT_TRUE(Style::choose(true, nullptr, "xterm").colours());
  EXPECT_TRUE(Style::choose(true, "", "xterm").colours());
  EXPECT_FALSE(Style::choose(false, nullptr, "xterm").colours());
  EXPECT_FALSE(Style::choose(true, "1", "xterm").colours());
  EXPECT_FALSE(Style::choose(true, nullptr, "dumb").colours());
  EXPECT_FALSE(Style::choose(true, nullptr, nullptr).colours());
}

TEST(Style, without_colours_leaves_text_as_it_is) {
  EXPECT_EQ(Style(false).red("x"), "x");
  EXPECT_EQ(Style(true).red("x"), "\x1b[31mx\x1b[0m");
}

TEST(Padding, counts_characters_and_not_bytes) {
  EXPECT_EQ(pad_right("µs", 4), "µs  ");
  EXPECT_EQ(pad_left("7", 3), "  7");
  EXPECT_EQ(pad_left("long", 2), "long");
}

TEST(TerminalLines, counts_what_is_seen) {
  EXPECT_EQ(terminal_lines("", 80), 1U);
  EXPECT_EQ(terminal_lines("12345678", 8), 1U);
  EXPECT_EQ(terminal_lines("123456789", 8), 2U);
  EXPECT_EQ(terminal_lines("▁▂▃▄▅▆▇█", 8), 1U) << "characters, not bytes";
  EXPECT_EQ(terminal_lines(Style(true).bold("12345678"), 8), 1U);
  EXPECT_EQ(terminal_lines(Style(true).bold("1234") + Style(true).red("56789"), 8), 2U);
}

TEST(WrapText, breaks_at_blanks_and_indents_what_follows) {
  EXPECT_EQ(wrap_text("aaa bbb ccc", 2, 9), "aaa bbb\n  ccc");
  EXPECT_EQ(wrap_text("a verylongword b", 0, 6), "a\nverylongword\nb");
  EXPECT_EQ(wrap_text("", 2, 9), "");
}

} // namespace
} // namespace hotset
