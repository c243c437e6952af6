// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace hotset {

// The p-quantile (0 ≤ p ≤ 1) of ascending values, between neighbours by linear interpolation (Hyndman and Fan's type 7,
// the default of R and NumPy). At least one value.
double quantile(std::span<const double> ascending, double p);

} // namespace hotset
