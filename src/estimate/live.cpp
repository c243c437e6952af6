// SPDX-License-Identifier: Apache-2.0
#include "estimate/live.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/units.h"

namespace hotset {
namespace {

std::uint64_t to_bytes(double value, std::uint64_t rss) {
  return static_cast<std::uint64_t>(std::clamp(std::round(value), 0.0, static_cast<double>(rss)));
}

// Without a calibrated interval all that is certain is that a working set lies between nothing and all that is
// resident.
WorkingSet working_set(const Prediction& prediction, const ModelInfo& info, std::uint64_t rss) {
  WorkingSet wss;
  wss.bytes = to_bytes(prediction.bytes, rss);
  if (!prediction.low_bytes || !prediction.high_bytes) return {wss.bytes, 0, rss, 1.0};
  wss.low_bytes = std::min(to_bytes(*prediction.low_bytes, rss), wss.bytes);
  wss.high_bytes = std::max(to_bytes(*prediction.high_bytes, rss), wss.bytes);
  wss.confidence = info.confidence;
  return wss;
}

} // namespace

std::optional<Flag> cut_flag(double predicted_bytes, std::uint64_t rss) {
  double rounded = std::round(predicted_bytes) + 0.0; // never "-0"
  if (rounded > 0 && rounded <= static_cast<double>(rss)) return std::nullopt;
  return Flag{"prediction_cut", fmt::format("the model said {:.0f} bytes, and was cut to what can be: nothing to "
                                            "all resident memory",
                                            rounded)};
}

Result<Estimate> LiveEstimator::estimate(const Observation& seen, const FaultLosses& losses, Nanoseconds wall,
                                         const Cost& cost) {
  const Row& row = seen.row;
  const Nanoseconds before = own_cpu_time();
  history_.push(row);
  HOTSET_TRY(Prediction prediction, model_.predict(history_, row.rss_bytes));
  const Nanoseconds prediction_time = own_cpu_time() - before;

  Estimate estimate;
  estimate.wall = wall;
  estimate.target = target_;
  estimate.requested_s = to_seconds(window_);
  estimate.effective_s = row.dt_s;
  estimate.method = "model";
  estimate.wss = working_set(prediction, model_.info(), row.rss_bytes);
  estimate.rss_bytes = row.rss_bytes;
  estimate.granularity_bytes = page_bytes();
  estimate.coverage = 1.0;
  estimate.faults = {row.faults, std::string(hook_->name), std::string(hook_->semantics)};
  const std::uint64_t lost = losses.untracked + losses.missed;
  estimate.flags = reasons_for_doubt(row, prediction, lost - std::exchange(lost_before_, lost));
  estimate.cost = cost;
  estimate.cost.prediction_s = to_seconds(prediction_time);
  if (seen.reading) {
    estimate.verify = {"reference", row.label_bytes, row.truth_bytes};
    estimate.pss_bytes = seen.reading->totals.pss;
    estimate.swap_bytes = seen.reading->totals.swap;
  } else {
    estimate.flags.push_back({"pss_not_measured", "PSS and swap are read only with --verify"});
    estimate.flags.push_back({"rss_approximate", "the RSS is the kernel's quick count, off by some pages a CPU"});
  }
  HOTSET_CHECK(check_invariants(estimate));
  return estimate;
}

std::vector<Flag> LiveEstimator::reasons_for_doubt(const Row& row, const Prediction& prediction,
                                                   std::uint64_t lost) const {
  const ModelInfo& info = model_.info();
  std::vector<Flag> flags;
  if (std::optional<Flag> thread = thread_flag(target_)) flags.push_back(*thread);
  if (row.faults == 0)
    flags.push_back(
        {"steady_state",
         "no page fault in this window: the model repeats what it learned of quiet windows, whatever is in use"});
  if (info.hook != hook_->name)
    flags.push_back(
        {"hook_differs", fmt::format("the model learned from {}, this counts with {}", info.hook, hook_->name)});
  if (row.dt_s < info.window_low_s * 0.5 || row.dt_s > info.window_high_s * 2)
    flags.push_back(
        {"window_outside_training", fmt::format("a window of {:.4g} s; the model learned from {:.4g} to {:.4g} s",
                                                row.dt_s, info.window_low_s, info.window_high_s)});
  if (info.horizon > 0) flags.push_back({"future", fmt::format("this is about {} windows from now", info.horizon)});
  if (!prediction.low_bytes)
    flags.push_back({"interval_uncalibrated",
                     "too few data sets to calibrate an interval: the bounds are nothing and all resident memory"});
  if (std::optional<Flag> cut = cut_flag(prediction.bytes, row.rss_bytes)) flags.push_back(*std::move(cut));
  if (lost > 0) flags.push_back({"faults_lost", fmt::format("{} faults were not counted", lost)});
  return flags;
}

} // namespace hotset
