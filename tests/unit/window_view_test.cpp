// SPDX-License-Identifier: Apache-2.0
#include "window_simulated.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "window/view.h"

namespace hotset {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<std::string> kNames{"lookups", "hits"};

// Two seconds with bumps, a quiet one, and half of the running one: 10 and 5, 20 and 15, none, 7 and 7.
SimulatedWindow three_and_a_half_seconds() {
  SimulatedWindow window(WINDOW_STARTS, WINDOW_BOOTTIME, 2, 2);
  window.bump(0, 0, 10);
  window.bump(1, 1, 5);
  window.advance(seconds(1));
  window.bump(1, 0, 20);
  window.bump(0, 1, 15);
  window.advance(seconds(2));
  window.bump(0, 0, 7);
  window.bump(0, 1, 7);
  window.advance(milliseconds(500));
  return window;
}

TEST(WindowView, keeps_the_running_second_apart) {
  SimulatedWindow window = three_and_a_half_seconds();
  WindowView view = view_window(window.read(), kNames, 3, {});
  EXPECT_EQ(view.requested, 3U);
  EXPECT_EQ(view.known, 3U);
  EXPECT_EQ(view.age, milliseconds(3500));
  EXPECT_EQ(view.running, milliseconds(500));
  ASSERT_EQ(view.counters.size(), 2U);
  const CounterView& lookups = view.counters[0];
  EXPECT_EQ(lookups.name, "lookups");
  EXPECT_EQ(lookups.sum, 30U);
  EXPECT_DOUBLE_EQ(lookups.rate.value(), 10.0);
  EXPECT_EQ(lookups.last_second(), 0U) << "quiet is known to be 0";
  EXPECT_EQ(lookups.running, 7U);
  EXPECT_EQ(lookups.total, 37U);
  EXPECT_THAT(lookups.series, ElementsAre(10, 20, 0));
}

TEST(WindowView, of_a_longer_span_says_what_is_unknown) {
  SimulatedWindow window = three_and_a_half_seconds();
  WindowView view = view_window(window.read(), kNames, 5, {});
  EXPECT_EQ(view.requested, 5U);
  EXPECT_EQ(view.known, 3U);
  EXPECT_DOUBLE_EQ(view.counters[0].rate.value(), 10.0) << "over the seconds that are known";
  EXPECT_THAT(view.counters[0].series, ElementsAre(std::nullopt, std::nullopt, 10, 20, 0));
}

TEST(WindowView, in_the_first_second_knows_no_rate) {
  SimulatedWindow window(WINDOW_STARTS, WINDOW_BOOTTIME, 1, 2);
  window.bump(0, 0);
  WindowView view = view_window(window.read(), kNames, 2, {});
  EXPECT_EQ(view.known, 0U);
  EXPECT_FALSE(view.counters[0].rate);
  EXPECT_FALSE(view.counters[0].last_second());
  EXPECT_EQ(view.counters[0].running, 1U);
}

TEST(WindowView, looks_back_no_further_than_the_window) {
  SimulatedWindow window(WINDOW_STARTS, WINDOW_BOOTTIME, 1, 2);
  for (int second = 0; second < 400; ++second) {
    window.bump(0, 0);
    window.advance(seconds(1));
  }
  WindowView view = view_window(window.read(), kNames, kWindowSeconds, {});
  EXPECT_GE(view.known, kWindowSeconds - 1) << "one less while a second begins";
  EXPECT_EQ(view.counters[0].sum, view.known);
  EXPECT_EQ(view.counters[0].total, 400U);
}

TEST(WindowRatio, is_of_the_known_seconds) {
  SimulatedWindow window = three_and_a_half_seconds();
  std::vector<WindowRatio> ratios{parse_ratio("hits/lookups", kNames).value()};
  WindowView view = view_window(window.read(), kNames, 3, ratios);
  ASSERT_EQ(view.ratios.size(), 1U);
  EXPECT_EQ(view.ratios[0].name, "hits/lookups");
  EXPECT_DOUBLE_EQ(view.ratios[0].value.value(), 20.0 / 30.0);
  EXPECT_FALSE(view_window(window.read(), kNames, 1, ratios).ratios[0].value) << "no lookups in that second";
}

TEST(WindowRatio, may_add_counters_up_and_have_a_name) {
  const std::vector<std::string> names{"lookups", "hits_allow", "hits_deny"};
  WindowRatio ratio = parse_ratio("hit_rate=hits_allow+hits_deny/lookups", names).value();
  EXPECT_EQ(ratio.name, "hit_rate");
  EXPECT_THAT(ratio.numerator, ElementsAre(1U, 2U));
  EXPECT_THAT(ratio.denominator, ElementsAre(0U));
}

TEST(WindowRatio, of_what_the_window_does_not_count_names_what_it_does) {
  Result<WindowRatio> ratio = parse_ratio("misses/lookups", kNames);
  ASSERT_FALSE(ratio);
  EXPECT_EQ(ratio.error().code, ErrorCode::usage);
  EXPECT_THAT(to_sentence(ratio.error()), HasSubstr("no counter 'misses'; its counters are lookups, hits"));
}

TEST(WindowRatio, is_one_sum_over_another) {
  for (const char* text : {"", "hits", "/", "hits/", "/lookups", "=hits/lookups", "hits+/lookups", "hits/lookups/hits",
                           "hits /lookups", "x="}) {
    Result<WindowRatio> ratio = parse_ratio(text, kNames);
    ASSERT_FALSE(ratio) << text;
    EXPECT_EQ(ratio.error().code, ErrorCode::usage) << text;
  }
}

} // namespace
} // namespace hotset
