// SPDX-License-Identifier: Apache-2.0
#include "base/units.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cmath>

namespace hotset {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr std::array kTimeUnits{Unit{"ns", 1e-9}, Unit{"us", 1e-6}, Unit{"ms", 1e-3}, Unit{"s", 1},
                                Unit{"m", 60},    Unit{"h", 3600},  Unit{"", 1}};
constexpr std::array kByteUnits{Unit{"", 1},       Unit{"B", 1},        Unit{"K", 0x1p10}, Unit{"KiB", 0x1p10},
                                Unit{"M", 0x1p20}, Unit{"MiB", 0x1p20}, Unit{"G", 0x1p30}, Unit{"GiB", 0x1p30},
                                Unit{"T", 0x1p40}, Unit{"TiB", 0x1p40}};
constexpr double kYearSeconds = 366.0 * 86400;

std::string_view number_part(std::string_view text) {
  std::size_t end = text.find_first_not_of("0123456789.");
  return text.substr(0, end);
}

template <std::size_t N>
std::optional<double> with_unit(std::string_view text, const std::array<Unit, N>& units) {
  std::string_view number = number_part(text);
  std::optional<double> value = parse_finite(number);
  if (!value) return std::nullopt;
  for (const Unit& unit : units)
    if (text.substr(number.size()) == unit.name) return *value * unit.factor;
  return std::nullopt;
}

// The length of the UTF-8 sequence at the start of `text`, 0 when it is none (overlong forms and surrogates included).
std::size_t utf8_length(std::string_view text) {
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char lead = byte(0);
  std::size_t length = lead < 0x80                   ? 1
                       : lead >= 0xC2 && lead < 0xE0 ? 2
                       : (lead & 0xF0) == 0xE0       ? 3
                       : lead >= 0xF0 && lead < 0xF5 ? 4
                                                     : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  if (lead == 0xE0 && byte(1) < 0xA0) return 0;
  if (lead == 0xED && byte(1) >= 0xA0) return 0;
  if (lead == 0xF0 && byte(1) < 0x90) return 0;
  if (lead == 0xF4 && byte(1) >= 0x90) return 0;
  return length;
}

} // namespace

std::uint64_t page_bytes() {
  static const auto kBytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return kBytes;
}

std::optional<std::uint64_t> parse_u64(std::string_view text) {
  if (text.empty()) return std::nullopt; // its data() may be null, which takes no arithmetic
  std::uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> parse_finite(std::string_view text) {
  if (text.empty()) return std::nullopt;
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

Result<Nanoseconds> parse_duration(std::string_view text) {
  std::optional<double> seconds = with_unit(text, kTimeUnits);
  if (!seconds || *seconds < 1e-9 || *seconds > kYearSeconds)
    return fail(ErrorCode::usage, "read the duration", fmt::format("'{}'", printable(text)),
                "it is not a time above zero with a unit", "write it like 100ms, 1s or 5m");
  return from_seconds(*seconds);
}

Result<std::uint64_t> parse_bytes(std::string_view text) {
  std::optional<double> bytes = with_unit(text, kByteUnits);
  if (!bytes || *bytes > 0x1p62)
    return fail(ErrorCode::usage, "read the size", fmt::format("'{}'", printable(text)), "it is not a number of bytes",
                "write it like 64MiB, 1G or 4096");
  return static_cast<std::uint64_t>(*bytes);
}

Result<std::uint64_t> parse_count(std::string_view text) {
  if (text.starts_with("2^")) {
    std::optional<std::uint64_t> exponent = parse_u64(text.substr(2));
    if (exponent && *exponent < 64) return std::uint64_t{1} << *exponent;
  } else if (std::optional<std::uint64_t> value = parse_u64(text)) {
    return *value;
  }
  return fail(ErrorCode::usage, "read the number", fmt::format("'{}'", printable(text)), "it is not a whole number",
              "write it like 1048576 or 2^20");
}

Result<double> parse_share(std::string_view text) {
  std::optional<double> percent = text.ends_with('%') ? parse_finite(text.substr(0, text.size() - 1)) : std::nullopt;
  if (!percent || *percent <= 0 || *percent > 100)
    return fail(ErrorCode::usage, "read the share", fmt::format("'{}'", printable(text)),
                "it is no percentage above 0 and at most 100", "write it like 2%");
  return *percent / 100;
}

std::string counted(std::uint64_t count, std::string_view noun, std::string_view ending) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : ending);
}

std::string human_bytes(std::uint64_t bytes) {
  constexpr std::array kNames{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 999.95 && unit + 1 < kNames.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : 1, kNames[unit]);
}

std::string human_duration(Nanoseconds time) {
  double seconds = to_seconds(time);
  // Rounded before it is divided: nothing is 60 seconds beside the minutes.
  if (auto whole = std::chrono::round<std::chrono::seconds>(time).count(); whole >= 120)
    return fmt::format("{} min {} s", whole / 60, whole % 60);
  if (seconds >= 1) return fmt::format("{:.2f} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.1f} µs", seconds * 1e6);
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    std::size_t length = utf8_length(text);
    auto lead = static_cast<unsigned char>(text[0]);
    bool control =
        lead < 0x20 || lead == 0x7F || (length == 2 && lead == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0);
    if (length == 0 || control) {
      out += fmt::format("\\x{:02x}", lead);
      text.remove_prefix(1);
    } else {
      out += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  return out;
}

} // namespace hotset
