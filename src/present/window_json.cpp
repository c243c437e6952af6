// SPDX-License-Identifier: Apache-2.0
#include "present/json.h"
#include "present/window.h"

namespace hotset {
namespace {

// What was not counted over any known second has no sum: 0 would be a statement.
Json counter_json(const CounterView& counter, bool known, bool with_series) {
  Json json{{"name", printable(counter.name)},     {"sum", known ? Json(counter.sum) : Json(nullptr)},
            {"rate_per_s", or_null(counter.rate)}, {"last_second", or_null(counter.last_second())},
            {"running", counter.running},          {"total", counter.total}};
  if (!with_series) return json;
  Json series = Json::array();
  for (const std::optional<std::uint64_t>& value : counter.series)
    series.push_back(or_null(value));
  json["series"] = std::move(series);
  return json;
}

} // namespace

std::string window_json(const WindowLabel& label, const WindowView& view, Nanoseconds wall, bool series) {
  Json counters = Json::array(), ratios = Json::array();
  for (const CounterView& counter : view.counters)
    counters.push_back(counter_json(counter, view.known > 0, series));
  for (const RatioView& ratio : view.ratios)
    ratios.push_back({{"name", printable(ratio.name)}, {"value", or_null(ratio.value)}});
  return json_line({{"schema", "hotset.window/1"},
                    {"time", utc_text(wall)},
                    {"window", {{"name", printable(label.name)}, {"map", label.map}, {"clock", label.clock}}},
                    {"subject", text_or_null(label.subject)},
                    {"pid", or_null(label.pid)},
                    {"fed", or_null(label.fed)},
                    {"requested_s", view.requested},
                    {"known_s", view.known},
                    {"age_s", to_seconds(view.age)},
                    {"running_s", to_seconds(view.running)},
                    {"counters", std::move(counters)},
                    {"ratios", std::move(ratios)}});
}

std::string window_listing_json(const WindowListing& window) {
  Json counters = Json::array();
  for (const std::string& counter : window.counters)
    counters.push_back(printable(counter));
  return json_line({{"schema", "hotset.windows/1"},
                    {"name", printable(window.label.name)},
                    {"map", window.label.map},
                    {"map_name", printable(window.map_name)},
                    {"clock", text_or_null(window.label.clock)},
                    {"windows", window.windows},
                    {"memory_bytes", window.bytes},
                    {"counters", std::move(counters)}});
}

} // namespace hotset
