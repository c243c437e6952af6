// SPDX-License-Identifier: Apache-2.0
#include "model/predictors.h"

#include <array>

namespace hotset {
namespace {

using Said = std::optional<double>;

constexpr std::array kPredictors{
    Predictor{"model", "model", Takes::features,
              [](const Sample&, const Judged& judged) { return Said(judged.model); }},
    Predictor{"without_faults", "without faults", Takes::features_no_faults,
              [](const Sample&, const Judged& judged) { return judged.without_faults; }},
    Predictor{"rss", "WSS = RSS", Takes::nothing,
              [](const Sample& sample, const Judged&) { return Said(sample.rss_bytes); }},
    Predictor{"training_mean", "training mean", Takes::nothing,
              [](const Sample&, const Judged& judged) { return Said(judged.training_mean); }},
    Predictor{"last_label", "last label", Takes::measurement,
              [](const Sample& sample, const Judged&) { return Said(sample.last_label_bytes); }},
};

} // namespace

std::span<const Predictor> predictors() {
  return kPredictors;
}

std::vector<Metrics> score(const Samples& samples, std::span<const Judged> judged) {
  std::vector<Metrics> scores;
  for (const Predictor& predictor : kPredictors) {
    std::vector<Outcome> outcomes;
    for (const Judged& one : judged) {
      const Sample& sample = samples.items[one.sample];
      if (const Said said = predictor.predict(sample, one))
        outcomes.push_back({*said, sample.label_bytes, sample.rss_bytes});
    }
    scores.push_back(measure_errors(outcomes));
  }
  return scores;
}

Metrics score_labels(std::span<const Dataset> datasets) {
  std::vector<Outcome> outcomes;
  for (const Dataset& dataset : datasets)
    for (const Row& row : dataset.rows)
      if (row.truth_bytes)
        outcomes.push_back({static_cast<double>(row.label_bytes), static_cast<double>(*row.truth_bytes),
                            static_cast<double>(row.rss_bytes)});
  return measure_errors(outcomes);
}

} // namespace hotset
