// SPDX-License-Identifier: Apache-2.0
#include "present/style.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace hotset {
namespace {

std::size_t characters(std::string_view text) {
  std::size_t count = 0;
  for (char byte : text)
    if ((static_cast<unsigned char>(byte) & 0xC0) != 0x80) ++count; // not a continuation byte
  return count;
}

std::string blanks(std::string_view text, std::size_t columns) {
  std::size_t width = characters(text);
  return std::string(columns > width ? columns - width : 0, ' ');
}

} // namespace

bool is_terminal(int fd) {
  return ::isatty(fd) == 1;
}

std::size_t terminal_columns(int fd, std::size_t otherwise) {
  winsize size{};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : otherwise;
}

std::size_t terminal_rows(int fd, std::size_t otherwise) {
  winsize size{};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : otherwise;
}

Style Style::of(int fd) {
  return choose(is_terminal(fd), std::getenv("NO_COLOR"), std::getenv("TERM"));
}

Style Style::choose(bool terminal, const char* no_color, const char* term) {
  bool refused = no_color != nullptr && *no_color != '\0';
  bool able = term != nullptr && std::string_view(term) != "dumb";
  return Style(terminal && able && !refused);
}

std::string Style::wrap(std::string_view code, std::string_view text) const {
  return colours_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

std::size_t terminal_lines(std::string_view text, std::size_t columns) {
  std::size_t width = 0;
  while (!text.empty()) {
    std::size_t escape = text.find('\x1b');
    width += characters(text.substr(0, escape));
    std::size_t end = escape == std::string_view::npos ? escape : text.find('m', escape);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return columns == 0 || width == 0 ? 1 : (width + columns - 1) / columns;
}

std::string pad_right(std::string_view text, std::size_t columns) {
  return std::string(text) + blanks(text, columns);
}

std::string pad_left(std::string_view text, std::size_t columns) {
  return blanks(text, columns) + std::string(text);
}

std::string wrap_text(std::string_view text, std::size_t indent, std::size_t columns) {
  std::string out;
  std::size_t column = indent;
  while (!text.empty()) {
    std::size_t end = text.find(' ');
    std::string_view word = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    std::size_t width = characters(word);
    if (!out.empty() && column + 1 + width > columns) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (!out.empty()) {
      out += ' ';
      ++column;
    }
    out += word;
    column += width;
  }
  return out;
}

} // namespace hotset
