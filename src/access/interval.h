// SPDX-License-Identifier: Apache-2.0
// Confidence intervals for a total of which a random part was looked at.
//
// The population is X pages in units of unequal size x_i; a unit holds y_i ≤ x_i touched pages, T = Σ y_i is wanted.
// Units are drawn one after the other without replacement, each with probability x_i / (what is left of X).
//
// Before draw j the expected ratio of the unit to come is μ_j(T) = (T − found so far) / (left of X), whatever came
// before. A gambler who bets a fraction λ_j, chosen from the past, on the ratio being above μ_j(T) has capital
// Π (1 + λ_j (r_j − μ_j(T))), which for the true T is a martingale: it reaches 2/α with probability at most α/2
// (Ville). So the T at which it does are ruled out from below; the mirrored game rules out from above. It holds for any
// bounded ratios and any number of draws, uses the variance, and closes to a point as the population runs out.
// Source: Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting" (2024), sections 4 and 5;
// for unequal probabilities, Shekhar, Xu, Lipton, Liang and Ramdas, "Risk-limiting financial audits via weighted
// sampling without replacement" (2023).
#pragma once

#include <cstdint>
#include <span>

namespace hotset {

// One drawn unit. `low` and `high` differ when some of its pages could not be told: low counts them as untouched, high
// as touched.
struct Draw {
  std::uint32_t size = 0; // x: pages of the unit that are in the population; at least 1
  std::uint32_t low = 0;  // y at least; ≤ high
  std::uint32_t high = 0; // y at most; ≤ size
};

// What earlier windows showed about the ratios. It only tunes the bets: the interval holds whatever is put here.
struct RatioHistory {
  double variance = 0.25;
  double weight = 1; // in draws
};

struct Interval {
  double low = 0, high = 0;
};

// The interval for T of the draws, in their order, at `confidence` (0.95) in all. Within the hard bounds: what was
// found, and that plus all that was not looked at. Without draws it is [0, population].
Interval betting_interval(std::span<const Draw> draws, std::uint64_t population, double confidence,
                          const RatioHistory& history);

// The same for units of one page, which makes the count hypergeometric: exact, by inverting its two tails.
Interval hypergeometric_interval(std::uint64_t population, std::uint64_t drawn, std::uint64_t hits, double confidence);

// The unbiased point estimate of T for draws of this kind: the mean over j of (found before j) + (left before j) · r_j.
// Source: Des Raj, "Some estimators in sampling with varying probabilities without replacement" (1956). `middle` of
// low and high counts for pages that could not be told.
double drawn_total(std::span<const Draw> draws, std::uint64_t population);

// Variance of the ratios of the draws about their mean: for the next window's history.
double ratio_variance(std::span<const Draw> draws);

} // namespace hotset
