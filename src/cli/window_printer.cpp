// SPDX-License-Identifier: Apache-2.0
#include "cli/window_printer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string>
#include <vector>

namespace hotset {
namespace {

// Takes the lines above the cursor away.
std::string back_over(std::size_t lines) {
  return lines == 0 ? "" : fmt::format("\x1b[{}F\x1b[J", lines);
}

bool can_move(int fd) {
  const char* term = std::getenv("TERM");
  return is_terminal(fd) && term != nullptr && std::string_view(term) != "dumb";
}

} // namespace

WindowPrinter::WindowPrinter(Output& output, Format format)
    : output_(&output),
      format_(format),
      terminal_(is_terminal(output.fd())),
      in_place_(format.repeated && !format.json && can_move(output.fd())) {
  output.watch_reader();
}

Result<> WindowPrinter::print(std::span<const WindowReading> readings, Nanoseconds wall) {
  if (!format_.json) return print_text(readings);
  for (const WindowReading& reading : readings)
    HOTSET_CHECK(output_->line(window_json(reading.label, reading.view, wall, format_.series)));
  return {};
}

// One write for all of it, so that nothing flickers. What is higher than the terminal cannot be gone back over: its
// readings follow each other.
Result<> WindowPrinter::print_text(std::span<const WindowReading> readings) {
  WindowLook look{.style = Style::of(output_->fd()),
                  .blocks = terminal_blocks(),
                  .columns = terminal_columns(output_->fd()),
                  .sparkline = terminal_,
                  .series = format_.series};
  std::vector<std::string> lines;
  for (const WindowReading& reading : readings) {
    if (!lines.empty()) lines.emplace_back();
    std::ranges::move(window_text(reading.label, reading.view, look), std::back_inserter(lines));
  }
  if (readings.empty()) lines.emplace_back("the map has no window in it yet");
  std::size_t height = 0;
  for (const std::string& line : lines)
    height += terminal_lines(line, look.columns);
  bool fits = std::max(height, lines_) < terminal_rows(output_->fd());
  std::string text = in_place_ && fits ? back_over(lines_) : lines_ > 0 ? "\n" : "";
  lines_ = height;
  return output_->line(text + fmt::format("{}", fmt::join(lines, "\n")));
}

} // namespace hotset
