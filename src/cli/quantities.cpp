// SPDX-License-Identifier: Apache-2.0
#include "cli/quantities.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "base/units.h"
#include "window/history.h"

namespace hotset {
namespace {

constexpr Nanoseconds kLongestWindow = std::chrono::hours(24);

} // namespace

CLI::Validator at_least_one() {
  return {[](const std::string& text) {
            Result<std::uint64_t> count = parse_count(text);
            if (count && *count > 0) return std::string();
            return fmt::format("'{}' is not a whole number of at least 1", printable(text));
          },
          ""};
}

Result<Nanoseconds> parse_window(std::string_view text) {
  HOTSET_TRY(const Nanoseconds window, parse_duration(text));
  if (window > kLongestWindow)
    return fail(ErrorCode::usage, "take a window of", fmt::format("'{}'", printable(text)), "a day is the most",
                "give SECONDS, or a time like 100ms, 5m or 24h");
  return window;
}

Result<Nanoseconds> parse_interval(std::string_view text) {
  HOTSET_TRY(const Nanoseconds interval, parse_duration(text));
  if (interval < std::chrono::milliseconds(1) || interval > std::chrono::hours(24))
    return fail(ErrorCode::usage, "repeat it every", fmt::format("'{}'", printable(text)),
                "a millisecond is the least and a day the most", "give a time from 1ms to 24h");
  return interval;
}

Result<std::uint64_t> parse_look_back(std::string_view text) {
  HOTSET_TRY(const Nanoseconds span, parse_duration(text));
  const auto seconds = static_cast<std::uint64_t>(std::chrono::ceil<std::chrono::seconds>(span).count());
  if (seconds > kWindowSeconds + 1)
    return fail(ErrorCode::usage, "look back", human_duration(span), "a window knows the last five minutes",
                "give --last a time of 5m at the most");
  const std::uint64_t taken = std::min(seconds, kWindowSeconds);
  if (span % std::chrono::seconds(1) != Nanoseconds::zero())
    spdlog::info("--last {} is taken as {}: a window counts by whole seconds", text, counted(taken, "second"));
  return taken;
}

} // namespace hotset
