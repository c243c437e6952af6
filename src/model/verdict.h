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
struct FaultVerdict {
  std::size_t horizon = 0;
  std::string group;
  std::size_t datasets = 0;
  std::size_t won = 0; // data sets in which the model beat both baselines that need nothing
  // Means over the data sets: of the model, of the better baseline that needs nothing, of the last label, and of the
  // model that knows nothing of page faults, if there is one.
  double model_mae_bytes = 0, unmeasured_mae_bytes = 0, last_label_mae_bytes = 0;
  std::optional<double> without_faults_mae_bytes = std::nullopt;
  std::optional<bool> model_tells = std::nullopt;      // better than what can be said without looking at the target
  std::optional<bool> faults_tell = std::nullopt;      // and page faults are what it is better by
  std::optional<bool> beats_last_label = std::nullopt; // better than repeating the last measurement
};

inline constexpr std::size_t kFewestForVerdict = 3;
// "Better" is an error of at most this part of the other's, in at least this share of the data sets: noise won't do.
inline constexpr double kClearlyLess = 0.75;
inline constexpr double kMostDatasets = 2.0 / 3.0;

// From samples that were judged by models that had not seen their data set.
FaultVerdict decide(const Samples& samples, std::span<const Judged> left_out, std::string group);

// In one sentence, for people.
std::string verdict_text(const FaultVerdict& verdict);

} // namespace hotset
