// SPDX-License-Identifier: Apache-2.0
// Records one target into one data set: a row a window, each on disk before the next begins.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/file.h"
#include "base/result.h"
#include "estimate/observer.h"
#include "identity/target.h"

namespace hotset {

struct RecordOptions {
  std::string out;
  bool overwrite = false;
  ObserverOptions observer;
  std::optional<Nanoseconds> duration;      // since the first window
  std::optional<std::uint64_t> max_samples; // rows
  std::string group;                        // DatasetHeader::group
  std::string version;                      // of this program
};

// Why a recording came to its end.
enum class RecordEnd { complete, interrupted, target_ended };

struct RecordSummary {
  std::string path;
  std::uint64_t rows = 0;
  std::uint64_t emitted = 0;        // windows that a kernel sample ended
  std::uint64_t faults = 0;         // within the windows
  std::uint64_t faults_between = 0; // while labels were taken: in no row
  double seconds = 0;               // of all windows together
  double elapsed_s = 0;
  double own_cpu_s = 0;
  std::uint64_t label_low_bytes = 0, label_high_bytes = 0;
  std::string hook, hook_semantics, transport;
  FaultLosses losses;
  RecordEnd end = RecordEnd::complete;
};

// Called after each row, for progress.
using RecordWatcher = std::function<void(const RecordSummary& so_far, const Row& row)>;

// Records until the duration or the number of samples is reached, the target ends, or an interrupt. The target's end is
// no error once at least one row is written: it is in the summary.
Result<RecordSummary> record(const Files& files, Clock& clock, Target& target, const RecordOptions& options,
                             const RecordWatcher& watch);

} // namespace hotset
