// SPDX-License-Identifier: Apache-2.0
// Text for people at a terminal: emphasis and width. Programs that read our output never see an escape sequence.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hotset {

bool is_terminal(int fd);
// Columns of the terminal behind `fd`; `otherwise` when it is none or does not say.
std::size_t terminal_columns(int fd, std::size_t otherwise = 100);
// Its lines, likewise.
std::size_t terminal_rows(int fd, std::size_t otherwise = 24);

class Style {
 public:
  // Colours on a terminal, unless NO_COLOR is set and not empty (no-color.org) or TERM is dumb.
  static Style of(int fd);
  // The same rule on given facts; null: the variable is not set.
  static Style choose(bool terminal, const char* no_color, const char* term);
  explicit Style(bool colours) : colours_(colours) {}

  [[nodiscard]] bool colours() const { return colours_; }
  [[nodiscard]] std::string bold(std::string_view text) const { return wrap("1", text); }
  [[nodiscard]] std::string dim(std::string_view text) const { return wrap("2", text); }
  [[nodiscard]] std::string red(std::string_view text) const { return wrap("31", text); }
  [[nodiscard]] std::string green(std::string_view text) const { return wrap("32", text); }
  [[nodiscard]] std::string yellow(std::string_view text) const { return wrap("33", text); }
  [[nodiscard]] std::string cyan(std::string_view text) const { return wrap("36", text); }

 private:
  [[nodiscard]] std::string wrap(std::string_view code, std::string_view text) const;

  bool colours_;
};

// Lines that `text`, which has no line feed, takes on a terminal of `columns`; escape sequences of Style take no room.
std::size_t terminal_lines(std::string_view text, std::size_t columns);
// `text` filled up with blanks to `columns`; counts characters of UTF-8, not bytes. Pad first, colour then.
std::string pad_right(std::string_view text, std::size_t columns);
std::string pad_left(std::string_view text, std::size_t columns);
// Breaks `text` at blanks into lines of at most `columns`, each after the first indented by `indent` blanks (and the
// first is taken to start there already). A word that is longer stays whole.
std::string wrap_text(std::string_view text, std::size_t indent, std::size_t columns);

} // namespace hotset
