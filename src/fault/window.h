// SPDX-License-Identifier: Apache-2.0
// The faults of all matching processes over windows of a given length: what `hotset measure --method faults` shows. The
// kernel only counts and emits nothing, so the buffer costs nothing.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "fault/collector.h"
#include "fault/ledger.h"

namespace hotset {

struct ProcessFaults {
  ProcessId process;
  std::string comm; // fit to compare, not to print: printable()
  std::uint64_t faults = 0;
};

struct FaultWindowCounts {
  Nanoseconds begin{}, end{};
  std::vector<ProcessFaults> processes; // those with at least one fault, the most first; ended ones included
  FaultLosses losses;                   // within this window
  bool interrupted = false;             // by Ctrl-C, before its time
};

using FaultTotals = std::unordered_map<ProcessId, std::uint64_t, ProcessIdHash>;

// What was added to each process since `before`, sorted by faults, then by pid; unchanged ones are left out.
std::vector<ProcessFaults> fault_differences(const FaultTotals& before, const std::vector<FaultCollector::Count>& now);

class FaultWindow {
 public:
  // Attaches; the first window begins now. Pace and min_value of the options play no part.
  static Result<FaultWindow> start(FaultOptions options, Clock& clock);

  // Sleeps until `deadline` and returns what was counted since the window before. Processes that ended are then
  // forgotten; more than max_processes in one window show in losses.untracked.
  Result<FaultWindowCounts> next(Nanoseconds deadline);

  [[nodiscard]] const Hook& hook() const { return collector_.hook(); }

 private:
  FaultWindow(FaultCollector collector, Clock& clock)
      : collector_(std::move(collector)), clock_(&clock), begin_(clock.now()) {}

  FaultCollector collector_;
  Clock* clock_;
  Nanoseconds begin_;
  FaultTotals before_;
  FaultLosses losses_before_;
};

} // namespace hotset
