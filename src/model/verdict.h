// SPDX-License-Identifier: Apache-2.0
// What left-out data sets say about a method, for one kind of workload.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "model/predictors.h"

namespace hotset {

// Undecided with fewer than kFewestForVerdict data sets.
struct Verdict {
  std::size_t horizon = 0;
  std::string group;
  std::size_t datasets = 0;
  std::size_t won = 0; // data sets in which the model beat both baselines that need no measurement
  // Means over the data sets: of the model, of the better baseline that needs no measurement, of the last label.
  double model_mae_bytes = 0, unmeasured_mae_bytes = 0, last_label_mae_bytes = 0;
  std::optional<bool> faults_tell = std::nullopt;      // better than what can be said without measuring the target
  std::optional<bool> beats_last_label = std::nullopt; // better than repeating the last measurement
};

inline constexpr std::size_t kFewestForVerdict = 3;
// "Better" is an error of at most this part of the other's, in at least this share of the data sets: noise won't do.
inline constexpr double kClearlyLess = 0.75;
inline constexpr double kMostDatasets = 2.0 / 3.0;

// From samples that were judged by models that had not seen their data set.
Verdict decide(const Samples& samples, std::span<const Judged> left_out, std::string group);

// In one sentence, for people.
std::string verdict_text(const Verdict& verdict);

} // namespace hotset
