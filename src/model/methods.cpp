// SPDX-License-Identifier: Apache-2.0
#include "model/methods.h"

#include <array>

namespace hotset {
namespace {

constexpr std::array kMethods{
    Method{"model", "model", false, [](const Sample&, const Judged& judged) { return judged.model; }},
    Method{"rss", "WSS = RSS", false, [](const Sample& sample, const Judged&) { return sample.rss_bytes; }},
    Method{"training_mean", "training mean", false,
           [](const Sample&, const Judged& judged) { return judged.training_mean; }},
    Method{"last_label", "last label", true,
           [](const Sample& sample, const Judged&) { return sample.last_label_bytes; }},
};

} // namespace

std::span<const Method> methods() {
  return kMethods;
}

std::vector<Metrics> score(const Samples& samples, std::span<const Judged> judged) {
  std::vector<Metrics> scores;
  for (const Method& method : kMethods) {
    std::vector<Outcome> outcomes;
    for (const Judged& one : judged) {
      const Sample& sample = samples.items[one.sample];
      outcomes.push_back({method.predict(sample, one), sample.label_bytes, sample.rss_bytes});
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
