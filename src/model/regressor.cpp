// SPDX-License-Identifier: Apache-2.0
#include "model/regressor.h"

#include <algorithm>

namespace hotset {
namespace {

Matrix scaled_rows(const Samples& samples, std::span<const std::size_t> rows, const MinMaxScaler& scaler) {
  Matrix scaled(samples.features.columns());
  for (std::size_t row : rows)
    scaled.append(samples.features.row(row));
  for (std::size_t i = 0; i < scaled.rows(); ++i)
    scaler.apply(scaled.row(i));
  return scaled;
}

} // namespace

Result<Regressor> Regressor::fit(const Samples& samples, std::span<const std::size_t> rows, ColumnNames names,
                                 const Parameters& parameters, const Booster::Progress& progress) {
  MinMaxScaler scaler = MinMaxScaler::fit(samples.features, rows);
  std::vector<double> labels;
  for (std::size_t row : rows)
    labels.push_back(samples.items[row].label_bytes);
  HOTSET_TRY(Booster booster,
             Booster::train(scaled_rows(samples, rows, scaler), labels, names, lightgbm_text(parameters),
                            static_cast<std::size_t>(parameters.rounds), progress));
  return Regressor{std::move(scaler), std::move(booster)};
}

Result<std::vector<double>> Regressor::predict(const Samples& samples, std::span<const std::size_t> rows) const {
  HOTSET_TRY(std::vector<double> values, booster.predict(scaled_rows(samples, rows, scaler)));
  for (std::size_t i = 0; i < rows.size(); ++i)
    values[i] = clip_prediction(values[i], samples.items[rows[i]].rss_bytes, samples.horizon);
  return values;
}

double clip_prediction(double bytes, double rss_bytes, std::size_t horizon) {
  const double positive = std::max(bytes, 0.0);
  return horizon == 0 ? std::min(positive, rss_bytes) : positive;
}

} // namespace hotset
