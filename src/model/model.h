// SPDX-License-Identifier: Apache-2.0
// A trained model on disk and in use: LightGBM's own text model, and beside it a JSON sidecar that says what its inputs
// are (features, scaler), how it was trained, and how far to trust it (residuals for the interval).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "dataset/features.h"
#include "dataset/scaler.h"
#include "model/lightgbm.h"

namespace hotset {

// FILE.json beside the model FILE (schema hotset.model/1, docs/model.md).
struct ModelInfo {
  std::string preset;                // "paper", "full"
  std::vector<std::string> features; // names of rows of features(), in order
  std::string schema_hash;           // over the features' names and units: a model of other features is refused
  MinMaxScaler scaler;
  std::string label;                          // what it learned to predict: "reference"
  std::string hook;                           // hook of the training data; another one at prediction is a flag
  double window_low_s = 0, window_high_s = 0; // 1st and 99th percentile of the training windows' dt
  double window_median_s = 0;
  // Conformal half-width of the interval in bytes, calibrated over held-out data sets (groups), not rows; none when
  // there are too few groups for the confidence.
  std::optional<double> interval_bytes;
  double confidence = 0.95;
  std::uint64_t train_rows = 0, valid_rows = 0, test_rows = 0;
  std::uint64_t outliers_removed = 0;
  std::vector<std::string> datasets;
  std::string lightgbm_version, hotset_version, trained_at;
  std::string parameters; // as given to LightGBM
};

// One prediction in bytes: clipped to [0, rss] when the resident size is known.
struct Prediction {
  double bytes = 0;
  std::optional<double> low_bytes, high_bytes; // none: the model has no calibrated interval
};

class Model {
 public:
  // Errors: not_found, bad_data (corrupt model, sidecar missing or of another schema version, features this program
  // does not have), unsupported (built without LightGBM).
  static Result<Model> load(const std::string& path);
  // Writes FILE and FILE.json, each whole or not at all.
  Result<> save(const std::string& path) const;

  [[nodiscard]] const ModelInfo& info() const { return info_; }
  // Predicts the newest window of `history`. A few microseconds: LightGBM's single-row fast path. Not thread-safe.
  Result<Prediction> predict(const History& history, std::optional<std::uint64_t> rss_bytes);

  Model(Booster booster, ModelInfo info, std::vector<const Feature*> chosen);

 private:
  Booster booster_;
  ModelInfo info_;
  std::vector<const Feature*> chosen_;
};

} // namespace hotset
