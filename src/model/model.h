// SPDX-License-Identifier: Apache-2.0
// A trained model on disk and in use: LightGBM's own text model, and beside it a JSON sidecar that says what its inputs
// are (features, scaler), how it was trained, and how far to trust it (the interval).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "dataset/features.h"
#include "dataset/scaler.h"
#include "model/lightgbm.h"
#include "model/parameters.h"

namespace hotset {

inline constexpr std::string_view kModelSchema = "hotset.model/1";

// A data set that a model was trained from.
struct TrainedOn {
  std::string path;
  std::string recording; // recording_id()
  std::string group;
  std::uint64_t rows = 0;
};

// FILE.json beside the model FILE (schema hotset.model/1, docs/model.md).
struct ModelInfo {
  std::string preset;                         // "paper", "full"
  std::vector<std::string> features;          // names of rows of features(), in order
  std::string schema_hash;                    // feature_hash(): a model of other features is refused
  MinMaxScaler scaler;                        // one pair of bounds per feature
  std::string label;                          // what it learned to predict: "reference"
  std::string hook;                           // hook of the training data; another one at prediction is a flag
  std::string hook_semantics;                 // what that hook counts
  double window_low_s = 0, window_high_s = 0; // 1st and 99th percentile of the training windows' dt
  double window_median_s = 0;
  std::uint64_t horizon = 0; // windows ahead that it tells; 0 is the window itself
  // Conformal half-width of the interval in bytes, calibrated over left-out data sets, not rows (model/conformal.h);
  // none when there are too few data sets for the confidence.
  std::optional<double> interval_bytes;
  double confidence = 0.95;
  std::string split; // "row", "dataset"
  std::uint64_t train_rows = 0, valid_rows = 0, test_rows = 0;
  std::uint64_t outliers_removed = 0;
  double training_mean_bytes = 0; // of the labels
  std::vector<TrainedOn> datasets;
  std::string lightgbm_version, hotset_version, trained_at;
  Parameters parameters;
};

// One prediction in bytes, 0 ≤ low ≤ bytes ≤ high, and high ≤ RSS where that bounds it.
struct Prediction {
  double bytes = 0;
  std::optional<double> low_bytes, high_bytes; // none: the model has no calibrated interval
};

class Model {
 public:
  // `booster` takes what `info` names. bad_data when the two don't fit, or the features are not this program's.
  static Result<Model> make(Booster booster, ModelInfo info);
  // Errors: not_found, bad_data (damaged or cut model, sidecar missing, malformed or of another schema version,
  // features that this program does not have), unsupported (built without LightGBM).
  static Result<Model> load(const std::string& path);
  // Writes FILE and FILE.json, each whole or not at all; a pair that does not belong together is refused by load.
  [[nodiscard]] Result<> save(const std::string& path) const;

  [[nodiscard]] const ModelInfo& info() const { return info_; }
  [[nodiscard]] const std::vector<const Feature*>& features() const { return chosen_; }
  [[nodiscard]] const Booster& booster() const { return booster_; }

  // The interval is calibrated after the model is made, from models that left data sets out.
  void set_interval(std::optional<double> half_width_bytes) { info_.interval_bytes = half_width_bytes; }

  // Predicts from the newest window of `history`, which is not empty. By LightGBM's single-row fast path: 5 to 7 µs
  // one after the other (./run bench predict), about 0.1 ms where the caches have been used for other things since (the
  // record's cost.prediction_s). A model of the present is clipped to [0, rss] when the resident size is known. Not
  // thread-safe.
  Result<Prediction> predict(const History& history, std::optional<std::uint64_t> rss_bytes);

 private:
  Model(Booster booster, ModelInfo info, std::vector<const Feature*> chosen);

  Booster booster_;
  ModelInfo info_;
  std::vector<const Feature*> chosen_;
};

// Where the sidecar of a model is.
std::string sidecar_path(const std::string& model_path);

} // namespace hotset
