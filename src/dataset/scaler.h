// SPDX-License-Identifier: Apache-2.0
// Min-max normalisation: each feature to [0, 1] over the training rows, as published. The bounds are stored with the
// model, so that a live window is scaled as the training windows were. Values beyond the bounds leave [0, 1]; they are
// not cut, so that their order is kept.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dataset/matrix.h"

namespace hotset {

struct MinMaxScaler {
  std::vector<double> low, high; // per feature; finite, low ≤ high

  // Bounds over these rows of the matrix; at least one row.
  static MinMaxScaler fit(const Matrix& matrix, std::span<const std::size_t> rows);
  // In place. A feature that was constant in training becomes 0: it says nothing, whatever it does later.
  void apply(std::span<double> row) const;
};

} // namespace hotset
