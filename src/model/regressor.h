// SPDX-License-Identifier: Apache-2.0
// The learned part of a model: a scaler and a booster that belong together, fitted to some of the samples.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "dataset/samples.h"
#include "dataset/scaler.h"
#include "model/lightgbm.h"
#include "model/parameters.h"

namespace hotset {

struct Regressor {
  MinMaxScaler scaler;
  Booster booster;

  // Fits the scaler and the trees to the samples `rows`, at least one.
  static Result<Regressor> fit(const Samples& samples, std::span<const std::size_t> rows, ColumnNames names,
                               const Parameters& parameters, const Booster::Progress& progress = {});
  // Bytes per sample of `rows`, clipped as clip_prediction does.
  [[nodiscard]] Result<std::vector<double>> predict(const Samples& samples, std::span<const std::size_t> rows) const;
};

// A working set is not negative, and that of the present is not above what is resident. What is resident in the future
// is not known, so there `rss_bytes` is no bound.
double clip_prediction(double bytes, double rss_bytes, std::size_t horizon);

} // namespace hotset
