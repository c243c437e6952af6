// SPDX-License-Identifier: Apache-2.0
#include "present/window.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "golden.h"

namespace hotset {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr Nanoseconds kWall = std::chrono::hours(24 * 365 * 56);

WindowLabel label() {
  return {.name = "cache", .map = 42, .clock = "jiffies", .subject = {}, .pid = {}, .fed = {}};
}

CounterView counter(std::string name, std::vector<std::optional<std::uint64_t>> series, std::uint64_t running) {
  CounterView view{.name = std::move(name), .sum = 0, .rate = {}, .series = std::move(series), .running = running};
  std::uint64_t known = 0;
  for (const std::optional<std::uint64_t>& value : view.series) {
    view.sum += value.value_or(0);
    known += value ? 1U : 0U;
  }
  if (known > 0) view.rate = static_cast<double>(view.sum) / static_cast<double>(known);
  view.total = view.sum + running;
  return view;
}

// Ten seconds asked for, of which the window knows six.
WindowView view() {
  constexpr std::optional<std::uint64_t> kUnknown;
  return {.requested = 10,
          .known = 6,
          .age = std::chrono::milliseconds(6420),
          .running = std::chrono::milliseconds(420),
          .counters = {counter("lookups", {kUnknown, kUnknown, kUnknown, kUnknown, 100, 0, 8'000, 12'345, 9'000, 9'100},
                               4'000),
                       counter("hits_no_policy", {kUnknown, kUnknown, kUnknown, kUnknown, 0, 0, 0, 1, 2, 3}, 0),
                       counter("fills", {kUnknown, kUnknown, kUnknown, kUnknown, 0, 0, 0, 0, 0, 0}, 0)},
          .ratios = {{"hit_rate", 0.9321}, {"fills/misses", std::nullopt}}};
}

// A window in its first second.
WindowView just_started() {
  return {.requested = 3,
          .known = 0,
          .age = std::chrono::milliseconds(20),
          .running = std::chrono::milliseconds(20),
          .counters = {counter("lookups", {{}, {}, {}}, 7)},
          .ratios = {}};
}

std::string text(const WindowLabel& label, const WindowView& view, const WindowLook& look) {
  return fmt::format("{}\n", fmt::join(window_text(label, view, look), "\n"));
}

TEST(WindowText, shows_each_counter_over_the_span_and_the_running_second_apart) {
  expect_golden("window.txt", text(label(), view(), {}));
}

TEST(WindowText, on_a_terminal_has_the_series_as_blocks) {
  expect_golden("window_terminal.txt",
                text(label(), view(), {.blocks = Blocks::unicode, .columns = 100, .sparkline = true}));
  expect_golden("window_plain.txt", text(label(), view(), {.columns = 100, .sparkline = true}));
}

TEST(WindowText, leaves_the_blocks_out_where_they_do_not_fit) {
  EXPECT_EQ(text(label(), view(), {.columns = 60, .sparkline = true}), text(label(), view(), {.columns = 60}));
}

TEST(WindowText, fits_the_terminal) {
  for (std::size_t columns = 84; columns < 100; ++columns)
    for (const std::string& line : window_text(label(), view(), {.columns = columns, .sparkline = true}))
      EXPECT_TRUE(line.size() <= columns || line.starts_with("cache")) << line;
}

TEST(WindowText, has_a_line_for_each_second_when_asked) {
  expect_golden("window_series.txt", text(label(), view(), {.series = true}));
}

TEST(WindowText, in_the_first_second_says_that_nothing_is_known_yet) {
  expect_golden("window_first_second.txt", text(label(), just_started(), {.series = true}));
}

TEST(WindowText, of_an_old_window_does_not_blame_its_start) {
  WindowView old = view();
  old.age = std::chrono::hours(3);
  EXPECT_THAT(window_text(label(), old, {}).front(), HasSubstr("6 of the last 10 s"));
  EXPECT_THAT(window_text(label(), old, {}).front(), Not(HasSubstr("started")));
}

TEST(WindowText, says_whose_it_is) {
  WindowLabel process = label();
  process.subject = "4711 (redis-server)";
  EXPECT_THAT(window_text(process, view(), {}).front(), HasSubstr("cache of 4711 (redis-server): "));
}

TEST(WindowText, says_when_nothing_counts_in_it_any_more) {
  WindowLabel kept = label();
  kept.fed = true;
  EXPECT_EQ(text(kept, view(), {}), text(label(), view(), {}));
  kept.fed = false;
  EXPECT_EQ(window_text(kept, view(), {}).back(), "nothing counts in it any more: no program that uses it is loaded");
  EXPECT_EQ(nlohmann::json::parse(window_json(kept, view(), kWall, false))["fed"], false);
}

TEST(WindowText, on_a_terminal_differs_in_colours_alone) {
  std::string coloured = text(label(), view(), {.style = Style(true), .series = true});
  for (std::size_t at = coloured.find('\x1b'); at != std::string::npos; at = coloured.find('\x1b'))
    coloured.erase(at, coloured.find('m', at) - at + 1);
  EXPECT_EQ(coloured, text(label(), view(), {.series = true}));
}

TEST(WindowJson, is_the_documented_schema) {
  nlohmann::ordered_json with = nlohmann::ordered_json::parse(window_json(label(), view(), kWall, true));
  expect_golden("window.json", with.dump(2) + "\n");
  nlohmann::ordered_json without = nlohmann::ordered_json::parse(window_json(label(), view(), kWall, false));
  for (nlohmann::ordered_json& counter : with["counters"])
    counter.erase("series");
  EXPECT_EQ(with, without);
}

TEST(WindowJson, has_null_for_what_is_unknown) {
  nlohmann::json json = nlohmann::json::parse(window_json(label(), just_started(), kWall, true));
  const nlohmann::json& counter = json["counters"][0];
  EXPECT_TRUE(counter["sum"].is_null());
  EXPECT_TRUE(counter["rate_per_s"].is_null());
  EXPECT_TRUE(counter["last_second"].is_null());
  EXPECT_EQ(counter["running"], 7);
  EXPECT_TRUE(counter["series"][0].is_null());
}

TEST(WindowJson, survives_bytes_that_are_not_utf8) {
  WindowLabel odd = label();
  odd.subject = "\xff\xfe";
  EXPECT_TRUE(nlohmann::json::accept(window_json(odd, view(), kWall, false)));
}

std::vector<WindowListing> listings() {
  WindowLabel second{.name = "much_too_long_a_name", .map = 12345, .clock = "", .subject = {}, .pid = {}, .fed = {}};
  return {{.label = label(), .map_name = "cache", .counters = {"lookups", "hits"}, .windows = 1, .bytes = 14'560},
          {.label = second, .map_name = "much_too_long_a", .counters = {"events"}, .windows = 0, .bytes = 1 << 20}};
}

TEST(WindowList, has_a_line_for_each_map) {
  expect_golden("windows.txt", fmt::format("{}\n", fmt::join(window_list_text(listings(), Style(false)), "\n")));
}

TEST(WindowList, is_the_documented_schema) {
  std::string lines;
  for (const WindowListing& listing : listings())
    lines += nlohmann::ordered_json::parse(window_listing_json(listing)).dump(2) + "\n";
  expect_golden("windows.json", lines);
}

} // namespace
} // namespace hotset
