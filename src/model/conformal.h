// SPDX-License-Identifier: Apache-2.0
// How far off a prediction may be, as an interval that holds for a target nobody has seen.
//
// The rows of one recording resemble each other, so their residuals, however many, are one experience. What is
// exchangeable is the data sets. Hierarchical conformal prediction (Lee, Barber, Willett: "Distribution-free inference
// with hierarchical data", 2023) gives each of K data sets the weight 1/(K+1), spread evenly over its rows, and the
// remaining 1/(K+1) to infinity: for the target that is unlike all of them. The (1-α)-quantile of that mixture covers a
// window of a new data set with probability at least 1-α. With K < 1/α - 1 data sets it is infinite: no number of rows
// makes up for too few data sets, and no interval is claimed.
//
// The guarantee is for residuals of a model that has not seen the data sets. Here they come from models that each left
// one fold of the data sets out, while the model in use has seen all of its training rows; so it holds approximately
// (in tests/unit/conformal_test.cpp, by simulation), and only for targets of the kind that the data sets are.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace hotset {

// The half-width of the interval, from the absolute residuals of each data set (empty ones don't count); none when the
// data sets are too few for `confidence` (above 0, below 1).
std::optional<double> conformal_half_width(std::span<const std::vector<double>> residuals, double confidence);

// The fewest data sets with which conformal_half_width can give an interval: 19 for 0.95.
std::size_t datasets_needed(double confidence);

} // namespace hotset
