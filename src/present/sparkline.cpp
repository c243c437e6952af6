// SPDX-License-Identifier: Apache-2.0
#include "present/sparkline.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <string_view>

namespace hotset {
namespace {

// The lowest stands for zero and nothing else: one event must be seen.
constexpr std::array<std::string_view, 9> kUnicode{"·", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 9> kPlain{".", "1", "2", "3", "4", "5", "6", "7", "8"};
constexpr std::size_t kLevels = kUnicode.size() - 1;
constexpr std::string_view kUnknown = " ";

using Value = std::optional<std::uint64_t>;

Value greatest(std::span<const Value> values) {
  Value most;
  for (const Value& value : values)
    if (value && (!most || *value > *most)) most = value;
  return most;
}

// 0 for zero, else 1 to kLevels. In floating point, for values × levels may not fit into 64 bits.
std::size_t level_of(std::uint64_t value, std::uint64_t most) {
  if (value == 0) return 0;
  double share = static_cast<double>(value) / static_cast<double>(most);
  auto level = static_cast<std::size_t>(share * static_cast<double>(kLevels) + 0.5);
  return std::clamp<std::size_t>(level, 1, kLevels);
}

} // namespace

Blocks choose_blocks(const char* lc_all, const char* lc_ctype, const char* lang) {
  for (const char* variable : {lc_all, lc_ctype, lang}) {
    if (variable == nullptr || *variable == '\0') continue;
    std::string name(variable);
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return name.find("utf-8") != std::string::npos || name.find("utf8") != std::string::npos ? Blocks::unicode
                                                                                             : Blocks::plain;
  }
  return Blocks::plain;
}

Blocks terminal_blocks() {
  return choose_blocks(std::getenv("LC_ALL"), std::getenv("LC_CTYPE"), std::getenv("LANG"));
}

std::string sparkline(std::span<const Value> values, std::size_t columns, Blocks blocks) {
  std::size_t cells = std::min(columns, values.size());
  const auto& levels = blocks == Blocks::unicode ? kUnicode : kPlain;
  std::uint64_t most = greatest(values).value_or(0);
  std::string line;
  for (std::size_t cell = 0; cell < cells; ++cell) {
    std::size_t begin = cell * values.size() / cells, end = (cell + 1) * values.size() / cells;
    Value value = greatest(values.subspan(begin, end - begin));
    line += value ? levels[level_of(*value, most)] : kUnknown;
  }
  return line;
}

} // namespace hotset
