// SPDX-License-Identifier: Apache-2.0
// Quantities as people type and read them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace hotset {

// The size of a base page of this machine, in bytes.
std::uint64_t page_bytes();

// A whole number in base 10, all of the text, no sign and no blanks; nothing otherwise, overflow included.
std::optional<std::uint64_t> parse_u64(std::string_view text);
// A finite number, all of the text, no blanks.
std::optional<double> parse_finite(std::string_view text);

// "100ms", "1s", "2.5m", "3h", "250us", "7ns"; a bare number is in seconds. Above 0 and at most a year.
Result<Nanoseconds> parse_duration(std::string_view text);
// "64MiB", "1G", "4096", "512K": powers of two, with or without "iB" or "B". At most 2^62.
Result<std::uint64_t> parse_bytes(std::string_view text);
// "1048576" or "2^20".
Result<std::uint64_t> parse_count(std::string_view text);

// "2%": 0.02. Above 0 % and at most 100 %; the sign must be there, for a bare number could mean either.
Result<double> parse_share(std::string_view text);

// "1 rule", "3 rules"; "0 matches" with the ending "es".
std::string counted(std::uint64_t count, std::string_view noun, std::string_view ending = "s");
// "1.5 MiB": at most four significant digits, binary units.
std::string human_bytes(std::uint64_t bytes);
// "1.25 s", "3.1 ms".
std::string human_duration(Nanoseconds time);

// Text of unknown origin (a command name, a path) made fit for a terminal and for JSON: control characters and bytes
// that are not UTF-8 become \xNN.
std::string printable(std::string_view text);

} // namespace hotset
