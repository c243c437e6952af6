// SPDX-License-Identifier: Apache-2.0
#include "dataset/quantile.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace hotset {

double quantile(std::span<const double> ascending, double p) {
  const double place = p * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(place));
  const std::size_t above = std::min(below + 1, ascending.size() - 1);
  return std::lerp(ascending[below], ascending[above], place - std::floor(place));
}

} // namespace hotset
