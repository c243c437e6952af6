// SPDX-License-Identifier: Apache-2.0
// The model and the baselines that stand beside it in every evaluation. A model that does not beat what costs nothing
// has learned nothing, however small its error is.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "dataset/samples.h"
#include "model/metrics.h"

namespace hotset {

// A sample with what the model said about it, and the mean label of the samples that the model was trained on.
struct Judged {
  std::size_t sample = 0; // index into Samples
  double model = 0;
  double training_mean = 0;
  std::optional<double> without_faults = std::nullopt; // the same method with no feature that comes from page faults
};

// What a predictor takes, beside its training.
enum class Takes {
  features,
  nothing,            // that is not known of any process
  features_no_faults, // tells what part page faults have in the model
  measurement,        // of the target's working set, shortly before
};

struct Predictor {
  std::string_view name;    // in JSON
  std::string_view heading; // in tables
  Takes takes;
  std::optional<double> (*predict)(const Sample&, const Judged&); // none: there is no such predictor here
};

// The model first.
std::span<const Predictor> predictors();

// One Metrics per method, in the order of the table.
std::vector<Metrics> score(const Samples& samples, std::span<const Judged> judged);

// The labels against the workload's own record, where there is one.
Metrics score_labels(std::span<const Dataset> datasets);

} // namespace hotset
