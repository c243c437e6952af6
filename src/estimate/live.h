// SPDX-License-Identifier: Apache-2.0
// The live estimate: faults from the kernel become features, features become a prediction, a prediction becomes an
// estimate record with its interval and every reason to doubt it.
//
// Pure: it takes observations and returns records, so that tests drive it without a kernel or a process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "dataset/features.h"
#include "estimate/observer.h"
#include "estimate/record.h"
#include "model/model.h"

namespace hotset {

// Why the estimate is not what the model said: it said nothing or less, or more than is resident. A working set of zero
// bytes is then the edge of what can be, and no measurement.
std::optional<Flag> cut_flag(double predicted_bytes, std::uint64_t rss);

class LiveEstimator {
 public:
  // `window` is the longest asked for. `hook` is the one that counts now: another one than the model's data came from
  // is flagged.
  LiveEstimator(Model model, Process target, Nanoseconds window, const Hook& hook)
      : model_(std::move(model)), target_(std::move(target)), window_(window), hook_(&hook) {}

  // Takes a window into the history without predicting from it.
  void skip(const Observation& seen) { history_.push(seen.row); }
  // Takes a window in and predicts its working set. `losses` are those since the collector attached, `cost` is ours
  // since the estimate before.
  Result<Estimate> estimate(const Observation& seen, const FaultLosses& losses, Nanoseconds wall, const Cost& cost);

 private:
  [[nodiscard]] std::vector<Flag> reasons_for_doubt(const Row& row, const Prediction& prediction,
                                                    std::uint64_t lost) const;

  Model model_;
  Process target_;
  Nanoseconds window_;
  const Hook* hook_;
  History history_;
  std::uint64_t lost_before_ = 0; // faults, by the estimate before
};

} // namespace hotset
