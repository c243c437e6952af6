// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/units.h"
#include "present/window.h"

namespace hotset {
namespace {

constexpr std::string_view kUnknown = "?";
constexpr std::size_t kLeastName = 8, kGap = 2;
// One row per column of numbers: its heading, and what stands in it.
struct Column {
  std::string_view heading;
  std::string (*text)(const CounterView&);
};

std::string or_unknown(const std::optional<std::uint64_t>& value) {
  return value ? fmt::format("{}", *value) : std::string(kUnknown);
}

// Three digits where there are few, and no more than whole numbers where there are many.
std::string rate_text(const CounterView& counter) {
  if (!counter.rate) return std::string(kUnknown);
  double rate = *counter.rate;
  return fmt::format("{:.{}f}/s", rate, rate < 9.995 ? 2 : rate < 99.95 ? 1 : 0);
}

constexpr std::array kColumns{
    Column{"SUM", [](const CounterView& counter) { return counter.rate ? fmt::format("{}", counter.sum) : "?"; }},
    Column{"RATE", rate_text},
    Column{"LAST SECOND", [](const CounterView& counter) { return or_unknown(counter.last_second()); }},
    Column{"RUNNING", [](const CounterView& counter) { return fmt::format("{}", counter.running); }},
    Column{"SINCE START", [](const CounterView& counter) { return fmt::format("{}", counter.total); }},
};

std::string title(const WindowLabel& label, const WindowView& view) {
  std::string whose = label.subject.empty() ? "" : fmt::format(" of {}", label.subject);
  std::string span = view.known == view.requested ? fmt::format("the last {} s", view.requested)
                                                  : fmt::format("{} of the last {} s", view.known, view.requested);
  std::string text = fmt::format("{}{}: {}; the running second is {} old", printable(label.name), whose, span,
                                 human_duration(view.running));
  if (view.known == view.requested) return text;
  bool young = view.age < std::chrono::seconds(view.requested);
  return text + (young ? fmt::format("; the window started {} ago", human_duration(view.age)) : "; it knows no more");
}

std::size_t name_width(const WindowView& view) {
  std::size_t width = kLeastName;
  for (const CounterView& counter : view.counters)
    width = std::max(width, counter.name.size());
  return width;
}

std::size_t column_width(const Column& column, const WindowView& view) {
  std::size_t width = column.heading.size();
  for (const CounterView& counter : view.counters)
    width = std::max(width, column.text(counter).size());
  return width + kGap;
}

void append_table(std::vector<std::string>& lines, const WindowView& view, const WindowLook& look) {
  std::size_t used = name_width(view);
  std::string heading = pad_right("COUNTER", used);
  std::vector<std::string> rows;
  for (const CounterView& counter : view.counters)
    rows.push_back(pad_right(printable(counter.name), used));
  for (const Column& column : kColumns) {
    std::size_t width = column_width(column, view);
    used += width;
    heading += pad_left(column.heading, width);
    for (std::size_t i = 0; i < rows.size(); ++i)
      rows[i] += pad_left(column.text(view.counters[i]), width);
  }
  std::size_t room = look.columns > used + kGap ? look.columns - used - kGap : 0;
  constexpr std::size_t kLeastSparkline = 8;
  bool sparkline_fits = look.sparkline && room >= kLeastSparkline;
  if (sparkline_fits) {
    std::string_view words = "OLDEST TO NEWEST";
    heading += std::string(kGap, ' ') + std::string(words.substr(0, std::min(room, words.size())));
    for (std::size_t i = 0; i < rows.size(); ++i)
      rows[i] += std::string(kGap, ' ') + look.style.cyan(sparkline(view.counters[i].series, room, look.blocks));
  }
  lines.push_back(look.style.dim(heading));
  lines.insert(lines.end(), rows.begin(), rows.end());
}

void append_ratios(std::vector<std::string>& lines, const WindowView& view) {
  for (const RatioView& ratio : view.ratios)
    lines.push_back(ratio.value
                        ? fmt::format("{}: {:.2f} %", printable(ratio.name), *ratio.value * 100)
                        : fmt::format("{}: {} (nothing that it could be a share of)", printable(ratio.name), kUnknown));
}

// A line for each second, oldest first, and the running one last.
void append_series(std::vector<std::string>& lines, const WindowView& view, const Style& style) {
  constexpr std::size_t kAgeColumns = 8;
  std::string heading = pad_left("SECOND", kAgeColumns);
  std::vector<std::string> rows;
  for (std::uint64_t back = view.requested; back > 0; --back)
    rows.push_back(pad_left(fmt::format("-{} s", back), kAgeColumns));
  rows.push_back(pad_left("running", kAgeColumns));
  for (const CounterView& counter : view.counters) {
    std::vector<std::string> cells;
    for (const std::optional<std::uint64_t>& value : counter.series)
      cells.push_back(or_unknown(value));
    cells.push_back(fmt::format("{}", counter.running));
    std::size_t width = counter.name.size();
    for (const std::string& cell : cells)
      width = std::max(width, cell.size());
    heading += pad_left(printable(counter.name), width + kGap);
    for (std::size_t i = 0; i < rows.size(); ++i)
      rows[i] += pad_left(cells[i], width + kGap);
  }
  lines.push_back(style.dim(heading));
  lines.insert(lines.end(), rows.begin(), rows.end());
}

} // namespace

std::vector<std::string> window_text(const WindowLabel& label, const WindowView& view, const WindowLook& look) {
  std::vector<std::string> lines{look.style.bold(title(label, view))};
  append_table(lines, view, look);
  append_ratios(lines, view);
  if (!label.fed.value_or(true))
    lines.push_back(look.style.yellow("nothing counts in it any more: no program that uses it is loaded"));
  if (look.series) append_series(lines, view, look.style);
  return lines;
}

std::vector<std::string> window_list_text(std::span<const WindowListing> windows, const Style& style) {
  std::vector<std::string> lines{style.dim(
      fmt::format("{:>6}  {:<15}  {:>7}  {:>10}  {:<8}  COUNTERS", "MAP", "NAME", "WINDOWS", "MEMORY", "CLOCK"))};
  for (const WindowListing& window : windows)
    lines.push_back(fmt::format("{:>6}  {}  {:>7}  {:>10}  {:<8}  {}", window.label.map,
                                pad_right(printable(window.map_name), 15), window.windows, human_bytes(window.bytes),
                                window.label.clock.empty() ? kUnknown : window.label.clock,
                                printable(fmt::format("{}", fmt::join(window.counters, ", ")))));
  return lines;
}

} // namespace hotset
