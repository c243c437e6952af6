// SPDX-License-Identifier: Apache-2.0
// Observes one process window by window: what the recorder writes down and what the live estimate predicts from.
//
// Training and prediction must see the same thing, so both take their windows from here. A window ends with the first
// sample that the kernel emits in its second half, or when `interval` has passed; its faults are the difference of two
// exact readings of the kernel's count at its edges. With a label, the reference measurement covers the same window:
// reset, window, read. The time between (the read and the next reset) belongs to no window.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "access/reference.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/result.h"
#include "dataset/dataset.h"
#include "fault/target_faults.h"
#include "identity/process.h"
#include "workload/truth.h"

namespace hotset {

struct ObserverOptions {
  Nanoseconds interval = std::chrono::milliseconds(100); // the longest a window lasts
  std::string hook;                                      // force this page-fault hook; empty: the first that works
  bool perf_buffer = false;
  std::uint64_t min_value = 1;
};

struct Observation {
  Row row;                                 // label_bytes is 0 without a label
  std::optional<ReferenceReading> reading; // the label's, when it was asked for
  bool emitted = false;                    // a kernel sample ended the window, not the deadline
};

class Observer {
 public:
  // Attaches the collector to the process. `files` and `clock` outlive the observer.
  static Result<Observer> start(const Files& files, Clock& clock, const Process& process,
                                const ObserverOptions& options);

  // One window from now on. With `label`, the reference measurement of the same window. ErrorCode::gone when the
  // process ended in it. nullopt when an interrupt ended the wait.
  Result<std::optional<Observation>> next(bool label);

  [[nodiscard]] const Hook& hook() const { return faults_->hook(); }
  [[nodiscard]] std::string_view transport() const { return faults_->transport(); }
  [[nodiscard]] bool has_truth() const { return truth_.has_value(); }
  // Faults that fell into no window, because a label was being taken.
  [[nodiscard]] std::uint64_t faults_between() const { return faults_between_; }
  Result<FaultLosses> losses() const { return faults_->losses(); }

 private:
  Observer() = default;
  Result<> begin_label();
  void look_for_truth();
  Result<double> target_cpu_s() const;
  Result<std::uint64_t> resident_bytes() const;
  Error gone() const;

  const Files* files_ = nullptr;
  Clock* clock_ = nullptr;
  Process process_;
  Nanoseconds interval_{};
  Nanoseconds begin_{}; // of the observation
  std::uint64_t faults_between_ = 0;
  std::unique_ptr<TargetFaults> faults_;
  std::optional<Reference> reference_; // opened with the first label
  std::optional<TruthReader> truth_;   // where the target publishes one
  clockid_t cpu_clock_{};
  double cpu_s_ = 0; // of the target, where the last window ended
  Fd statm_;
};

} // namespace hotset
