// SPDX-License-Identifier: Apache-2.0
// What the rounds of a benchmark come down to: a median, and the quartiles for its spread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace hotset {

// The value below which `share` of them lie, the nearest one; of an empty list: a bug.
inline double quantile_of(std::vector<double> values, double share) {
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
}

struct Quartiles {
  double low, median, high;

  [[nodiscard]] double spread() const { return high - low; }
};

inline Quartiles quartiles_of(const std::vector<double>& values) {
  return {quantile_of(values, 0.25), quantile_of(values, 0.5), quantile_of(values, 0.75)};
}

} // namespace hotset
