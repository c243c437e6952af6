// SPDX-License-Identifier: Apache-2.0
#include "window/view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "base/units.h"

namespace hotset {
namespace {

std::unexpected<Error> bad_ratio(std::string_view text, std::string cause, std::string remedy) {
  return fail(ErrorCode::usage, "read the ratio", fmt::format("'{}'", printable(text)), std::move(cause),
              std::move(remedy));
}

// "a+b" as the numbers of those counters.
Result<std::vector<std::size_t>> parse_sum(std::string_view sum, std::string_view whole,
                                           std::span<const std::string> counters) {
  std::vector<std::size_t> indices;
  for (;;) {
    std::string_view name = sum.substr(0, sum.find('+'));
    auto found = std::ranges::find(counters, name);
    if (found == counters.end())
      return bad_ratio(whole, fmt::format("the window has no counter '{}'", printable(name)),
                       fmt::format("its counters are {}", fmt::join(counters, ", ")));
    indices.push_back(static_cast<std::size_t>(std::distance(counters.begin(), found)));
    if (name.size() == sum.size()) return indices;
    sum.remove_prefix(name.size() + 1);
  }
}

// Seconds before the first have no number: they are unknown as well.
std::vector<std::optional<std::uint64_t>> series_of(const WindowHistory& history, std::size_t counter,
                                                    std::uint64_t seconds) {
  std::vector<std::optional<std::uint64_t>> series;
  series.reserve(seconds);
  for (std::uint64_t back = seconds; back > 0; --back)
    series.push_back(back > history.running() ? std::nullopt : history.count(history.running() - back, counter));
  return series;
}

} // namespace

Result<WindowRatio> parse_ratio(std::string_view text, std::span<const std::string> counters) {
  std::size_t equals = text.find('=');
  std::string_view terms = equals == std::string_view::npos ? text : text.substr(equals + 1);
  std::size_t slash = terms.find('/');
  if (slash == std::string_view::npos || equals == 0)
    return bad_ratio(text, "it is not one sum of counters over another",
                     "write it like hits/lookups or rate=hits+near_hits/lookups");
  WindowRatio ratio{.name = std::string(text.substr(0, equals)), .numerator = {}, .denominator = {}};
  HOTSET_TRY(ratio.numerator, parse_sum(terms.substr(0, slash), text, counters));
  HOTSET_TRY(ratio.denominator, parse_sum(terms.substr(slash + 1), text, counters));
  return ratio;
}

WindowView view_window(const WindowHistory& history, std::span<const std::string> names, std::uint64_t seconds,
                       std::span<const WindowRatio> ratios) {
  WindowSpan span = history.last(seconds);
  WindowView view{.requested = span.requested,
                  .known = span.known,
                  .age = history.taken() - history.begin_of(1),
                  .running = history.taken() - history.begin_of(history.running()),
                  .counters = {},
                  .ratios = {}};
  for (std::size_t i = 0; i < names.size(); ++i)
    view.counters.push_back({.name = names[i],
                             .sum = span.sums[i],
                             .rate = span.rate(i),
                             .series = series_of(history, i, seconds),
                             .running = history.count(history.running(), i).value_or(0),
                             .total = history.total(i)});
  for (const WindowRatio& ratio : ratios)
    view.ratios.push_back({ratio.name, span.ratio(ratio.numerator, ratio.denominator)});
  return view;
}

} // namespace hotset
