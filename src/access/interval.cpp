// SPDX-License-Identifier: Apache-2.0
#include "access/interval.h"

#include <algorithm>
#include <cmath>

namespace hotset {
namespace {

constexpr double kBoldest = 0.85; // share of the capital that one draw may lose
constexpr int kBisections = 40;
constexpr double kLeastVariance = 1e-4; // bets stay finite when all ratios so far were equal

// One side of the game: the smallest total that the draws don't rule out from below, where `y` counts a draw's touched
// pages. The mirrored side is the same game on the untouched pages.
template <class Count>
double lower_bound(std::span<const Draw> draws, double population, double error, const RatioHistory& history,
                   Count&& y) {
  const double target = 1 / error;
  const double n = static_cast<double>(draws.size());
  const double boldness = std::sqrt(2 * std::log(target) / n);
  double found = 0, looked_at = 0;
  for (const Draw& draw : draws) {
    found += y(draw);
    looked_at += draw.size;
  }

  // Capital at its highest over the draws, if the total were `total`. Decreasing in `total`.
  auto ruled_out = [&](double total) {
    double capital = 1, before = 0, left = population;
    double weight = history.weight, mean = 0, squares = history.weight * history.variance, seen = 0;
    for (const Draw& draw : draws) {
      double expected = (total - before) / left;
      double ratio = y(draw) / draw.size;
      double bet = boldness / std::sqrt(std::max(squares / weight, kLeastVariance));
      // A total this small is impossible: the pages found already exceed it.
      if (expected < 0) return true;
      if (expected > 0) bet = std::min(bet, kBoldest / expected);
      capital *= 1 + bet * (ratio - expected);
      if (capital >= target) return true;
      before += y(draw);
      left -= draw.size;
      ++seen;
      double step = ratio - mean;
      mean += step / seen;
      squares += step * (ratio - mean);
      ++weight;
    }
    return false;
  };

  double low = found, high = found + population - looked_at;
  if (low == high || !ruled_out(low)) return low;
  for (int i = 0; i < kBisections && high - low > 0.25; ++i) {
    double middle = (low + high) / 2;
    (ruled_out(middle) ? low : high) = middle;
  }
  return low;
}

} // namespace

Interval betting_interval(std::span<const Draw> draws, std::uint64_t population, double confidence,
                          const RatioHistory& history) {
  const double all = static_cast<double>(population);
  if (draws.empty()) return {0, all};
  const double error = (1 - confidence) / 2;
  double low = lower_bound(draws, all, error, history, [](const Draw& draw) { return double{1} * draw.low; });
  double cold = lower_bound(draws, all, error, history, [](const Draw& d) { return double{1} * (d.size - d.high); });
  return {std::min(low, all - cold), std::max(low, all - cold)};
}

Interval hypergeometric_interval(std::uint64_t population, std::uint64_t drawn, std::uint64_t hits, double confidence) {
  const double error = (1 - confidence) / 2;
  auto log_choose = [](double n, double k) { return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1); };
  // P(at least h of the drawn are among `total` marked ones).
  auto at_least = [&](double total, std::uint64_t h) {
    double n = static_cast<double>(population), m = static_cast<double>(drawn);
    double last = std::min(m, total);
    double first = std::max(static_cast<double>(h), m - (n - total));
    if (first > last) return 0.0;
    double term = std::exp(log_choose(total, first) + log_choose(n - total, m - first) - log_choose(n, m));
    double sum = 0;
    for (double k = first; k <= last && term > 0; ++k) {
      sum += term;
      term *= (total - k) * (m - k) / ((k + 1) * (n - total - m + k + 1));
    }
    return std::min(1.0, sum);
  };
  if (drawn == 0) return {0, static_cast<double>(population)};
  // Smallest total that makes so many hits not too unlikely.
  auto smallest = [&](std::uint64_t h) {
    std::uint64_t low = h, high = population - (drawn - h);
    if (h == 0) return std::uint64_t{0};
    while (low < high) {
      std::uint64_t middle = low + (high - low) / 2;
      if (at_least(static_cast<double>(middle), h) > error)
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  };
  // The upper bound is the lower bound of the misses, mirrored.
  return {static_cast<double>(smallest(hits)), static_cast<double>(population - smallest(drawn - hits))};
}

double drawn_total(std::span<const Draw> draws, std::uint64_t population) {
  if (draws.empty()) return 0;
  double sum = 0, before = 0, left = static_cast<double>(population);
  for (const Draw& draw : draws) {
    double y = (static_cast<double>(draw.low) + draw.high) / 2;
    sum += before + left * y / draw.size;
    before += y;
    left -= draw.size;
  }
  return sum / static_cast<double>(draws.size());
}

double ratio_variance(std::span<const Draw> draws) {
  if (draws.size() < 2) return 0.25;
  double mean = 0, squares = 0, seen = 0;
  for (const Draw& draw : draws) {
    double ratio = (static_cast<double>(draw.low) + draw.high) / 2 / draw.size;
    double step = ratio - mean;
    mean += step / ++seen;
    squares += step * (ratio - mean);
  }
  return squares / (seen - 1);
}

} // namespace hotset
