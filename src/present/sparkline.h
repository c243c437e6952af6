// SPDX-License-Identifier: Apache-2.0
// A series as one line of blocks, to be seen at a glance: ▁▂▄█. Zero is a dot, what is not known a gap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace hotset {

enum class Blocks {
  unicode, // ▁ to █; a dot for zero
  plain,   // 1 to 8; a full stop for zero: for locales that are not UTF-8
};

// What the locale of the terminal can show, by the variables that decide it (POSIX: the first that is set and not
// empty); null: not set.
Blocks choose_blocks(const char* lc_all, const char* lc_ctype, const char* lang);
// By our own environment.
Blocks terminal_blocks();

// `values` oldest first, scaled from 0 to the greatest. At most `columns` characters: where there are more values, each
// character shows the greatest of those it stands for, so that no peak is lost.
std::string sparkline(std::span<const std::optional<std::uint64_t>> values, std::size_t columns, Blocks blocks);

} // namespace hotset
