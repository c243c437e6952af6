// SPDX-License-Identifier: Apache-2.0
#include "present/estimate_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/units.h"

namespace hotset {
namespace {

constexpr std::string_view kUnknown = "?";

std::string bytes_or_unknown(const std::optional<std::uint64_t>& bytes) {
  return bytes ? human_bytes(*bytes) : std::string(kUnknown);
}

std::string seconds_or_unknown(const std::optional<double>& seconds) {
  return seconds ? human_duration(from_seconds(*seconds)) : std::string(kUnknown);
}

std::string interval(const Estimate& e) {
  if (!e.wss) return std::string(kUnknown);
  // Bounds that meet but need not hold are no exact answer: the reference method's meet where all that is resident is
  // referenced.
  if (e.wss->low_bytes == e.wss->high_bytes && e.wss->confidence == 1.0) return "exact";
  return fmt::format("{} – {}", human_bytes(e.wss->low_bytes), human_bytes(e.wss->high_bytes));
}

std::string confidence(const Estimate& e) {
  if (!e.wss || !e.wss->confidence) return std::string(kUnknown);
  return fmt::format("{:.0f} %", *e.wss->confidence * 100);
}

enum class Shown { always, with_faults, without_faults };

struct Column {
  std::string_view name;
  std::size_t width;
  int rank; // 0 is always shown, the highest goes first
  Shown shown;
  std::string (*cell)(const Estimate&);
};

constexpr std::array kColumns{
    Column{"TIME UTC", 8, 0, Shown::always, [](const Estimate& e) { return utc_text(e.wall).substr(11, 8); }},
    Column{"WINDOW", 9, 0, Shown::always, [](const Estimate& e) { return seconds_or_unknown(e.effective_s); }},
    Column{"WSS", 9, 0, Shown::without_faults,
           [](const Estimate& e) { return e.wss ? human_bytes(e.wss->bytes) : std::string(kUnknown); }},
    Column{"LOW – HIGH", 21, 0, Shown::without_faults, interval},
    Column{"CONF", 5, 3, Shown::without_faults, confidence},
    Column{"FAULTS", 12, 0, Shown::with_faults,
           [](const Estimate& e) { return e.faults ? fmt::format("{}", e.faults->count) : std::string(kUnknown); }},
    Column{"RSS", 9, 0, Shown::always, [](const Estimate& e) { return bytes_or_unknown(e.rss_bytes); }},
    Column{"PSS", 9, 2, Shown::without_faults, [](const Estimate& e) { return bytes_or_unknown(e.pss_bytes); }},
    Column{"SWAP", 9, 4, Shown::without_faults, [](const Estimate& e) { return bytes_or_unknown(e.swap_bytes); }},
    Column{"CPU", 9, 1, Shown::always, [](const Estimate& e) { return seconds_or_unknown(e.cost.cpu_s); }},
    Column{"STALL", 9, 5, Shown::always, [](const Estimate& e) { return seconds_or_unknown(e.cost.target_stall_s); }},
};

std::vector<const Column*> columns_within(std::size_t width, bool faults) {
  for (int most = 5;; --most) {
    std::vector<const Column*> shown;
    std::size_t used = 0;
    for (const Column& column : kColumns) {
      bool fits_kind = column.shown == Shown::always || (column.shown == Shown::with_faults) == faults;
      if (!fits_kind || column.rank > most) continue;
      used += column.width + (shown.empty() ? 0 : 1);
      shown.push_back(&column);
    }
    if (used <= width || most == 0) return shown;
  }
}

} // namespace

std::string EstimateTable::header() const {
  std::string line;
  for (const Column* column : columns_within(width_, faults_))
    line += (line.empty() ? "" : " ") + pad_left(column->name, column->width);
  return style_.dim(line);
}

std::string EstimateTable::row(const Estimate& estimate) {
  ++rows_;
  for (const Flag& flag : estimate.flags) {
    auto note = std::ranges::find(notes_, flag.code, [](const Note& n) { return n.flag.code; });
    if (note == notes_.end()) note = notes_.insert(note, {flag});
    note->varies = note->varies || note->flag.text != flag.text;
    note->flag = flag;
    ++note->rows;
  }
  std::string line;
  for (const Column* column : columns_within(width_, faults_)) {
    std::string cell = pad_left(column->cell(estimate), column->width);
    if (!line.empty()) line += ' ';
    line += column->name == "WSS" ? style_.bold(cell) : cell;
  }
  return line;
}

std::vector<std::string> EstimateTable::notes() const {
  std::vector<std::string> lines;
  for (const Note& note : notes_) {
    std::string text = printable(note.flag.text);
    if (note.rows < rows_ || note.varies)
      text += fmt::format(" ({} of {} lines{})", note.rows, rows_, note.varies ? "; this is the last of them" : "");
    std::string code = note.flag.code + ": ";
    lines.push_back(style_.yellow(code) + wrap_text(text, code.size(), width_));
  }
  return lines;
}

} // namespace hotset
