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

// Mean absolute errors within one data set, in the order of predictors().
std::vector<double> mean_errors(const Samples& samples, std::span<const Judged> judged) {
  std::vector<double> errors;
  for (const Metrics& scored : score(samples, judged))
    errors.push_back(scored.bytes->mean);
  return errors;
}

std::string bytes_text(double bytes) {
  return human_bytes(static_cast<std::uint64_t>(std::llround(bytes)));
}

} // namespace

Verdict decide(const Samples& samples, std::span<const Judged> left_out, std::string group) {
  std::map<std::size_t, std::vector<Judged>> by_dataset;
  for (const Judged& one : left_out)
    by_dataset[samples.items[one.sample].dataset].push_back(one);
  Verdict verdict{.horizon = samples.horizon, .group = std::move(group), .datasets = by_dataset.size()};
  std::vector<double> sums(predictors().size(), 0);
  for (const auto& [dataset, judged] : by_dataset) {
    const std::vector<double> errors = mean_errors(samples, judged);
    for (std::size_t i = 0; i < errors.size(); ++i)
      sums[i] += errors[i] / static_cast<double>(by_dataset.size());
    bool won = true;
    for (std::size_t i = 1; i < errors.size(); ++i)
      won = won && (predictors()[i].measures || errors[0] < errors[i]);
    if (won) ++verdict.won;
  }
  verdict.model_mae_bytes = sums[0];
  verdict.unmeasured_mae_bytes = HUGE_VAL;
  for (std::size_t i = 1; i < sums.size(); ++i) {
    if (predictors()[i].measures)
      verdict.last_label_mae_bytes = sums[i];
    else
      verdict.unmeasured_mae_bytes = std::min(verdict.unmeasured_mae_bytes, sums[i]);
  }
  if (verdict.datasets < kFewestForVerdict) return verdict;
  const double share = static_cast<double>(verdict.won) / static_cast<double>(verdict.datasets);
  verdict.faults_tell = verdict.model_mae_bytes < kClearlyLess * verdict.unmeasured_mae_bytes && share >= kMostDatasets;
  verdict.beats_last_label = verdict.model_mae_bytes < kClearlyLess * verdict.last_label_mae_bytes;
  return verdict;
}

std::string verdict_text(const Verdict& verdict) {
  const std::string ahead = verdict.horizon == 0 ? std::string() : fmt::format(" {} windows ahead", verdict.horizon);
  if (!verdict.faults_tell)
    return fmt::format("{}{}: undecided, {} data sets are too few (at least {})", printable(verdict.group), ahead,
                       verdict.datasets, kFewestForVerdict);
  return fmt::format(
      "{}{}: page faults {} the working set of a target not seen before: the mean error is {}, against {} for the best "
      "guess without measuring, better in {} of {} data sets; repeating the last measurement is off by {}, which is {}",
      printable(verdict.group), ahead, *verdict.faults_tell ? "tell" : "do not tell",
      bytes_text(verdict.model_mae_bytes), bytes_text(verdict.unmeasured_mae_bytes), verdict.won, verdict.datasets,
      bytes_text(verdict.last_label_mae_bytes),
      *verdict.beats_last_label                                               ? "worse"
      : verdict.last_label_mae_bytes < kClearlyLess * verdict.model_mae_bytes ? "better, but needs one each window"
                                                                              : "about the same");
}

} // namespace hotset
