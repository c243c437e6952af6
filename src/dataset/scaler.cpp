// SPDX-License-Identifier: Apache-2.0
#include "dataset/scaler.h"

#include <algorithm>

namespace hotset {

MinMaxScaler MinMaxScaler::fit(const Matrix& matrix, std::span<const std::size_t> rows) {
  const std::span<const double> first = matrix.row(rows.front());
  MinMaxScaler scaler{{first.begin(), first.end()}, {first.begin(), first.end()}};
  for (std::size_t index : rows) {
    const std::span<const double> row = matrix.row(index);
    for (std::size_t i = 0; i < row.size(); ++i) {
      scaler.low[i] = std::min(scaler.low[i], row[i]);
      scaler.high[i] = std::max(scaler.high[i], row[i]);
    }
  }
  return scaler;
}

void MinMaxScaler::apply(std::span<double> row) const {
  for (std::size_t i = 0; i < row.size(); ++i) {
    const double width = high[i] - low[i];
    row[i] = width > 0 ? (row[i] - low[i]) / width : 0;
  }
}

} // namespace hotset
