// SPDX-License-Identifier: Apache-2.0
// Whether page faults tell the working set of a kind of workload: decided by data sets that were left out, and only by
// a clear margin in most of them, so that noise is not called knowledge.
#include "model/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/units.h"

namespace hotset {
namespace {

// Mean absolute errors within one data set, in the order of predictors(); none for a predictor that is not there.
std::vector<std::optional<double>> mean_errors(const Samples& samples, std::span<const Judged> judged) {
  std::vector<std::optional<double>> errors;
  for (const Metrics& scored : score(samples, judged))
    errors.push_back(scored.bytes ? std::optional(scored.bytes->mean) : std::nullopt);
  return errors;
}

// Means over the data sets, as far as the verdict needs them; the baselines that need nothing as one, their better.
struct Sums {
  double model = 0, unmeasured = 0, last_label = 0;
  std::optional<double> without_faults = std::nullopt;
};

Sums average(const std::vector<std::vector<std::optional<double>>>& errors) {
  Sums sums{.unmeasured = HUGE_VAL};
  for (std::size_t i = 0; i < predictors().size(); ++i) {
    double sum = 0;
    bool there = !errors.empty();
    for (const auto& of_dataset : errors) {
      there = there && of_dataset[i];
      sum += of_dataset[i].value_or(0) / static_cast<double>(errors.size());
    }
    if (!there) continue;
    switch (predictors()[i].takes) {
      case Takes::features:
        sums.model = sum;
        break;
      case Takes::features_no_faults:
        sums.without_faults = sum;
        break;
      case Takes::nothing:
        sums.unmeasured = std::min(sums.unmeasured, sum);
        break;
      case Takes::measurement:
        sums.last_label = sum;
        break;
    }
  }
  return sums;
}

// The model, first in the table, against each baseline that needs nothing.
bool wins(const std::vector<std::optional<double>>& errors) {
  for (std::size_t i = 1; i < errors.size(); ++i)
    if (predictors()[i].takes == Takes::nothing && errors[0] >= errors[i]) return false;
  return true;
}

std::string bytes_text(double bytes) {
  return human_bytes(static_cast<std::uint64_t>(std::llround(bytes)));
}

} // namespace

FaultVerdict decide(const Samples& samples, std::span<const Judged> left_out, std::string group) {
  std::map<std::size_t, std::vector<Judged>> by_dataset;
  for (const Judged& one : left_out)
    by_dataset[samples.items[one.sample].dataset].push_back(one);
  std::vector<std::vector<std::optional<double>>> errors;
  FaultVerdict verdict{.horizon = samples.horizon, .group = std::move(group), .datasets = by_dataset.size()};
  for (const auto& [dataset, judged] : by_dataset) {
    errors.push_back(mean_errors(samples, judged));
    if (wins(errors.back())) ++verdict.won;
  }
  const Sums mean = average(errors);
  verdict.model_mae_bytes = mean.model;
  verdict.unmeasured_mae_bytes = mean.unmeasured;
  verdict.last_label_mae_bytes = mean.last_label;
  verdict.without_faults_mae_bytes = mean.without_faults;
  if (verdict.datasets < kFewestForVerdict) return verdict;
  const double share = static_cast<double>(verdict.won) / static_cast<double>(verdict.datasets);
  verdict.model_tells = mean.model < kClearlyLess * mean.unmeasured && share >= kMostDatasets;
  verdict.faults_tell =
      *verdict.model_tells && (!mean.without_faults || mean.model < kClearlyLess * *mean.without_faults);
  verdict.beats_last_label = mean.model < kClearlyLess * mean.last_label;
  return verdict;
}

std::string verdict_text(const FaultVerdict& verdict) {
  const std::string ahead = verdict.horizon == 0 ? std::string() : fmt::format(" {} windows ahead", verdict.horizon);
  if (!verdict.model_tells || !verdict.faults_tell || !verdict.beats_last_label)
    return fmt::format("{}{}: undecided, {} data sets are too few (at least {})", printable(verdict.group), ahead,
                       verdict.datasets, kFewestForVerdict);
  const char* subject = *verdict.faults_tell   ? "page faults tell"
                        : *verdict.model_tells ? "the model tells, but not from page faults,"
                                               : "page faults do not tell";
  const std::string blind =
      verdict.without_faults_mae_bytes
          ? fmt::format(", {} for the model without them", bytes_text(*verdict.without_faults_mae_bytes))
          : std::string();
  const char* comparison = *verdict.beats_last_label ? "worse"
                           : verdict.last_label_mae_bytes < kClearlyLess * verdict.model_mae_bytes
                               ? "better, but needs one each window"
                               : "about the same";
  return fmt::format(
      "{}{}: {} the working set of a target not seen before: the mean error is {}, against {} for the best guess "
      "without looking (better in {} of {} data sets){}; repeating the last measurement is off by {}, which is {}",
      printable(verdict.group), ahead, subject, bytes_text(verdict.model_mae_bytes),
      bytes_text(verdict.unmeasured_mae_bytes), verdict.won, verdict.datasets, blind,
      bytes_text(verdict.last_label_mae_bytes), comparison);
}

} // namespace hotset
