// SPDX-License-Identifier: Apache-2.0
// What is shown of a window at one moment: per counter the sum, the rate and the series over a span of whole seconds,
// and apart from them the running second, which is not over and would read as a drop. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "window/history.h"

namespace hotset {

// Some counters over others: a hit rate for one.
struct WindowRatio {
  std::string name; // as it was asked for: "hits/lookups", or what stands before '='
  std::vector<std::size_t> numerator, denominator;
};

// "hits/lookups", "hit_rate=hits_allow+hits_deny/lookups", of the counters with those names. Errors: usage.
Result<WindowRatio> parse_ratio(std::string_view text, std::span<const std::string> counters);

struct CounterView {
  std::string name;
  std::uint64_t sum = 0;                            // over the known seconds of the span
  std::optional<double> rate;                       // per second of them; nothing when none is known
  std::vector<std::optional<std::uint64_t>> series; // a value per second of the span, oldest first; nothing: unknown
  std::uint64_t running = 0;                        // in the running second so far
  std::uint64_t total = 0;                          // since the start

  // Of the last whole second; nothing when it is unknown.
  [[nodiscard]] std::optional<std::uint64_t> last_second() const {
    return series.empty() ? std::nullopt : series.back();
  }
};

struct RatioView {
  std::string name;
  std::optional<double> value; // over the known seconds; nothing when that would divide by 0
};

struct WindowView {
  std::uint64_t requested = 0; // span in whole seconds before the running one
  std::uint64_t known = 0;     // of which so many are known
  Nanoseconds age{};           // of the window
  Nanoseconds running{};       // age of the running second
  std::vector<CounterView> counters;
  std::vector<RatioView> ratios;
};

// Of the last `seconds`. `names`: of the counters, in order.
WindowView view_window(const WindowHistory& history, std::span<const std::string> names, std::uint64_t seconds,
                       std::span<const WindowRatio> ratios);

} // namespace hotset
