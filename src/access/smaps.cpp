// SPDX-License-Identifier: Apache-2.0
// Adds up /proc/PID/smaps and smaps_rollup.
//
// The text is a header line per mapping ("55d0c0a0-55d0c0b1 r--p … /path") and below it lines of "Key: N kB". A header
// starts with a lower-case hexadecimal address, a key with a capital letter; so a path that looks like a key (it may
// hold blanks and colons; line feeds are escaped) is never taken for one.
#include <array>
#include <limits>
#include <optional>

#include "access/reference.h"
#include "base/units.h"

namespace hotset {
namespace {

constexpr std::uint64_t kKibi = 1024;

struct Field {
  std::string_view key;
  std::uint64_t MemoryTotals::* total;
  bool required; // printed by every kernel that has the file
};

constexpr std::array kFields{
    Field{"Rss", &MemoryTotals::rss, true},
    Field{"Pss", &MemoryTotals::pss, true},
    Field{"Referenced", &MemoryTotals::referenced, true},
    Field{"Swap", &MemoryTotals::swap, true},
    Field{"AnonHugePages", &MemoryTotals::huge, false},
    Field{"ShmemPmdMapped", &MemoryTotals::huge, false},
    Field{"FilePmdMapped", &MemoryTotals::huge, false},
    Field{"Shared_Hugetlb", &MemoryTotals::hugetlb, false},
    Field{"Private_Hugetlb", &MemoryTotals::hugetlb, false},
};

bool is_header(std::string_view line) {
  return !line.empty() && ((line[0] >= '0' && line[0] <= '9') || (line[0] >= 'a' && line[0] <= 'f'));
}

// "   1234 kB" in bytes.
std::optional<std::uint64_t> parse_kib(std::string_view text) {
  constexpr std::string_view kUnit = " kB";
  if (!text.ends_with(kUnit)) return std::nullopt;
  text.remove_suffix(kUnit.size()); // first: its blank may be the only one
  std::size_t start = text.find_first_not_of(" \t");
  if (start == std::string_view::npos) return std::nullopt;
  text.remove_prefix(start);
  std::optional<std::uint64_t> kib = parse_u64(text);
  if (!kib || *kib > std::numeric_limits<std::uint64_t>::max() / kKibi) return std::nullopt;
  return *kib * kKibi;
}

std::unexpected<Error> malformed(std::string_view what, std::string_view line = {}) {
  std::string cause(what);
  if (!line.empty()) cause += " ('" + printable(line.substr(0, 80)) + "')";
  return fail(ErrorCode::bad_data, "read", "the smaps of a process", std::move(cause));
}

} // namespace

Result<MemoryTotals> parse_smaps(std::string_view text) {
  MemoryTotals totals;
  std::size_t mappings = 0;
  std::array<std::size_t, kFields.size()> seen{};
  while (!text.empty()) {
    std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return malformed("the text is cut off", text);
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (is_header(line)) {
      ++mappings;
      continue;
    }
    std::string_view key = line.substr(0, line.find(':'));
    for (std::size_t i = 0; i < kFields.size(); ++i) {
      if (kFields[i].key != key || key.size() == line.size()) continue;
      std::optional<std::uint64_t> bytes = parse_kib(line.substr(key.size() + 1));
      if (!bytes || __builtin_add_overflow(totals.*kFields[i].total, *bytes, &(totals.*kFields[i].total)))
        return malformed("that is no number of kB", line);
      ++seen[i];
    }
  }
  if (mappings == 0) return malformed("it holds no mapping");
  for (std::size_t i = 0; i < kFields.size(); ++i)
    if (kFields[i].required && seen[i] != mappings)
      return malformed(std::string("a mapping has no ") + std::string(kFields[i].key));
  return totals;
}

} // namespace hotset
