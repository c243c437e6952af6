// SPDX-License-Identifier: Apache-2.0
// Coverage, unbiasedness and width of the intervals, by simulation against populations whose total is known.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "access/interval.h"

namespace hotset {
namespace {

constexpr int kRepeats = 10'000;

struct Population {
  std::string name;
  std::vector<Draw> units;
  std::size_t drawn = 0;
  bool normal_is_valid = false; // enough draws of enough spread for the normal interval to hold

  [[nodiscard]] double pages() const {
    double sum = 0;
    for (const Draw& unit : units)
      sum += unit.size;
    return sum;
  }
  [[nodiscard]] double total() const {
    double sum = 0;
    for (const Draw& unit : units)
      sum += unit.low;
    return sum;
  }
};

enum class Shape { mixed, even, all_or_nothing };

Population population(std::string name, Shape shape, double share, unsigned block, std::size_t units, std::size_t drawn,
                      bool normal_is_valid = false) {
  std::mt19937_64 random(units * 31 + drawn);
  std::uniform_real_distribution<double> uniform;
  Population result{std::move(name), {}, drawn, normal_is_valid};
  for (std::size_t i = 0; i < units; ++i) {
    auto size = static_cast<std::uint32_t>(1 + random() % block);
    double ratio = share;
    if (shape == Shape::mixed) ratio = uniform(random) < share ? uniform(random) : uniform(random) * share;
    if (shape == Shape::all_or_nothing) ratio = uniform(random) < share;
    auto touched = static_cast<std::uint32_t>(std::binomial_distribution<int>(static_cast<int>(size), ratio)(random));
    result.units.push_back({size, touched, touched});
  }
  return result;
}

// Successive draws with probability proportional to size, without replacement: the definition, one draw at a time.
std::vector<Draw> draw(const Population& from, const std::vector<std::uint32_t>& owner, std::mt19937_64& random) {
  std::vector<Draw> drawn;
  std::vector<bool> taken(from.units.size());
  std::size_t count = std::min(from.drawn, from.units.size());
  while (drawn.size() < count) {
    std::uint32_t unit = owner[random() % owner.size()];
    if (taken[unit]) continue;
    taken[unit] = true;
    drawn.push_back(from.units[unit]);
  }
  return drawn;
}

struct Outcome {
  double coverage = 0, normal_coverage = 0;
  double width_ratio = 0;    // mean width to the mean width of the normal interval
  double bias_in_errors = 0; // mean error in standard errors of that mean
};

Outcome simulate(const Population& from, const RatioHistory& history) {
  std::vector<std::uint32_t> owner;
  for (std::uint32_t i = 0; i < from.units.size(); ++i)
    owner.insert(owner.end(), from.units[i].size, i);
  std::mt19937_64 random(7);
  const double pages = from.pages(), total = from.total();
  double covered = 0, normal_covered = 0, width = 0, normal_width = 0, sum = 0, squares = 0;
  for (int i = 0; i < kRepeats; ++i) {
    std::vector<Draw> drawn = draw(from, owner, random);
    Interval interval = betting_interval(drawn, static_cast<std::uint64_t>(pages), 0.95, history);
    double estimate = drawn_total(drawn, static_cast<std::uint64_t>(pages));
    double half = 1.96 * pages * std::sqrt(ratio_variance(drawn) / static_cast<double>(drawn.size()));
    covered += interval.low <= total && total <= interval.high;
    normal_covered += std::abs(estimate - total) <= half;
    width += interval.high - interval.low;
    normal_width += 2 * half;
    sum += estimate - total;
    squares += (estimate - total) * (estimate - total);
  }
  double error = std::sqrt(squares) / kRepeats;
  return {covered / kRepeats, normal_covered / kRepeats, normal_width > 0 ? width / normal_width : 0,
          error > 0 ? sum / kRepeats / error : 0};
}

std::vector<Population> populations();

// Simulated once, claimed about several times.
const std::vector<std::pair<Population, Outcome>>& outcomes() {
  static const auto all = [] {
    std::vector<std::pair<Population, Outcome>> list;
    for (const Population& from : populations())
      list.emplace_back(from, simulate(from, {}));
    return list;
  }();
  return all;
}

std::vector<Population> populations() {
  return {
      population("mixed, 64 of 3500", Shape::mixed, 0.3, 64, 3500, 64, true),
      population("mixed, 32 of 3500", Shape::mixed, 0.3, 64, 3500, 32, true),
      population("mixed, 256 of 3500", Shape::mixed, 0.3, 64, 3500, 256, true),
      population("all or nothing, half", Shape::all_or_nothing, 0.5, 64, 3500, 64, true),
      population("all or nothing, tenth", Shape::all_or_nothing, 0.1, 64, 3500, 128, true),
      population("all or nothing, thousandth", Shape::all_or_nothing, 0.001, 64, 3500, 64),
      population("even, tiny share", Shape::even, 0.002, 64, 3500, 64),
      population("even, nearly all", Shape::even, 0.98, 64, 3500, 32),
      population("few units", Shape::mixed, 0.5, 64, 24, 16),
      population("very few units", Shape::all_or_nothing, 0.5, 512, 5, 3),
      population("two draws", Shape::mixed, 0.3, 64, 1000, 2),
  };
}

TEST(BettingInterval, holds_the_truth_at_least_94_percent_of_the_time) {
  for (const auto& [from, outcome] : outcomes())
    EXPECT_GE(outcome.coverage, 0.94) << from.name;
}

TEST(BettingInterval, holds_whatever_history_it_is_tuned_with) {
  Population from = population("all or nothing", Shape::all_or_nothing, 0.05, 64, 2000, 48);
  for (RatioHistory wrong : {RatioHistory{0.0001, 32}, RatioHistory{0.25, 32}, RatioHistory{0.01, 1000}})
    EXPECT_GE(simulate(from, wrong).coverage, 0.94) << wrong.variance;
}

TEST(BettingInterval, is_at_most_half_wider_than_the_normal_interval_where_that_is_valid) {
  for (const auto& [from, outcome] : outcomes()) {
    if (!from.normal_is_valid) continue;
    EXPECT_GE(outcome.normal_coverage, 0.91) << from.name << ": the comparison needs a normal interval that works";
    EXPECT_LE(outcome.width_ratio, 1.5) << from.name;
  }
}

TEST(DrawnTotal, is_unbiased) {
  for (const auto& [from, outcome] : outcomes())
    EXPECT_LT(std::abs(outcome.bias_in_errors), 4.0) << from.name;
}

TEST(BettingInterval, is_a_point_when_every_unit_was_drawn) {
  Population from = population("all", Shape::mixed, 0.4, 64, 40, 40);
  Interval interval = betting_interval(from.units, static_cast<std::uint64_t>(from.pages()), 0.95, {});
  EXPECT_DOUBLE_EQ(interval.low, from.total());
  EXPECT_DOUBLE_EQ(interval.high, from.total());
}

TEST(BettingInterval, without_draws_says_all_or_nothing) {
  Interval interval = betting_interval({}, 1000, 0.95, {});
  EXPECT_EQ(interval.low, 0);
  EXPECT_EQ(interval.high, 1000);
}

TEST(BettingInterval, pages_that_could_not_be_told_widen_it_on_both_sides) {
  std::vector<Draw> told, untold;
  for (int i = 0; i < 50; ++i) {
    told.push_back({64, 20, 20});
    untold.push_back({64, 10, 30});
  }
  Interval narrow = betting_interval(told, 64'000, 0.95, {}), wide = betting_interval(untold, 64'000, 0.95, {});
  EXPECT_LT(wide.low, narrow.low - 5000);
  EXPECT_GT(wide.high, narrow.high + 5000);
}

// The tail probabilities are added up exactly, so coverage needs no simulation: for each total, sum the probability of
// the hit counts whose interval holds it.
TEST(HypergeometricInterval, covers_every_total_at_95_percent) {
  const std::uint64_t population = 60, drawn = 20;
  std::vector<Interval> intervals;
  for (std::uint64_t hits = 0; hits <= drawn; ++hits)
    intervals.push_back(hypergeometric_interval(population, drawn, hits, 0.95));
  auto choose = [](double n, double k) {
    return k < 0 || k > n ? 0.0 : std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1));
  };
  for (std::uint64_t total = 0; total <= population; ++total) {
    double covered = 0;
    for (std::uint64_t hits = 0; hits <= drawn; ++hits) {
      double t = static_cast<double>(total), h = static_cast<double>(hits);
      double p = choose(t, h) * choose(60 - t, 20 - h) / choose(60, 20);
      if (intervals[hits].low <= t && t <= intervals[hits].high) covered += p;
    }
    EXPECT_GE(covered, 0.95 - 1e-9) << total;
  }
}

TEST(HypergeometricInterval, ends_are_what_the_sample_leaves_possible) {
  Interval none = hypergeometric_interval(100'000, 385, 0, 0.95);
  EXPECT_EQ(none.low, 0);
  EXPECT_NEAR(none.high, 100'000 * 3.689 / 385, 30);
  Interval all = hypergeometric_interval(500, 500, 123, 0.95);
  EXPECT_EQ(all.low, 123);
  EXPECT_EQ(all.high, 123);
}

} // namespace
} // namespace hotset
