// SPDX-License-Identifier: Apache-2.0
// The faults of one process, window after window, as a recorder wants them: each window ends with the kernel's own
// sample, so that its rhythm follows the process, or at a deadline when the process is quiet.
#pragma once

#include <algorithm>
#include <cstdint>

#include "fault/collector.h"

namespace hotset {

// Why a window ended.
enum class WindowEnd { sample, deadline, interrupt };

struct TargetWindow {
  Nanoseconds begin{}; // the end of the window before
  Nanoseconds end{};
  std::uint64_t faults = 0;      // exactly those between begin and end, whatever samples came or were lost
  std::uint64_t emissions = 0;   // samples that arrived
  std::uint64_t peak_faults = 0; // the most faults within the window that one of them carried; at most `faults`
  WindowEnd ended_by = WindowEnd::deadline;
};

// Builds the windows from samples and totals. Pure: the caller brings both. The windows lie end to end, so their faults
// add up to the last total.
class WindowBuilder {
 public:
  explicit WindowBuilder(Nanoseconds begin) { window_.begin = begin; }

  // Takes a sample of the process; true when it is the one that ends the window: the first at or after `earliest`. The
  // caller then closes at the sample's time and total.
  bool add(const FaultSample& sample, Nanoseconds earliest);
  // The window up to `end`, by when the process had `total` faults; the next one begins there.
  TargetWindow close(Nanoseconds end, std::uint64_t total, WindowEnd why);

 private:
  TargetWindow window_;
  std::uint64_t begin_total_ = 0;
};

class TargetFaults {
 public:
  // Attaches; the first window begins now. The filter in `options` is replaced by this process.
  static Result<TargetFaults> start(const ProcessId& process, FaultOptions options);

  // Waits until the first sample at or after `earliest` arrives, or until `deadline` or an interrupt (stamps of Clock).
  Result<TargetWindow> next_window(Nanoseconds deadline, Nanoseconds earliest);
  // End of the last window, at first the time of start().
  [[nodiscard]] Nanoseconds begin() const { return begin_; }

  [[nodiscard]] const Hook& hook() const { return collector_.hook(); }
  [[nodiscard]] const std::vector<HookRefusal>& refusals() const { return collector_.refusals(); }
  [[nodiscard]] std::string_view transport() const { return collector_.transport(); }
  Result<FaultLosses> losses() const { return collector_.losses(); }

 private:
  TargetFaults(FaultCollector collector, const ProcessId& process, Nanoseconds begin)
      : collector_(std::move(collector)), process_(process), begin_(begin), builder_(begin) {}

  FaultCollector collector_;
  ProcessId process_;
  Nanoseconds begin_;
  WindowBuilder builder_;
  std::vector<FaultSample> waiting_; // arrived together with the one that ended the last window
};

} // namespace hotset
