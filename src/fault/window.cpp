// SPDX-License-Identifier: Apache-2.0
#include "fault/window.h"

#include <algorithm>
#include <utility>

namespace hotset {
namespace {

FaultLosses operator-(const FaultLosses& later, const FaultLosses& earlier) {
  return {.buffer_full = later.buffer_full - earlier.buffer_full,
          .untracked = later.untracked - earlier.untracked,
          .missed = later.missed - earlier.missed,
          .below_min_value = later.below_min_value - earlier.below_min_value};
}

FaultTotals by_process(const std::vector<FaultCollector::Count>& counts) {
  FaultTotals totals;
  totals.reserve(counts.size());
  for (const FaultCollector::Count& count : counts)
    totals.emplace(count.process, count.total);
  return totals;
}

} // namespace

std::vector<ProcessFaults> fault_differences(const FaultTotals& before, const std::vector<FaultCollector::Count>& now) {
  std::vector<ProcessFaults> processes;
  for (const FaultCollector::Count& count : now) {
    auto earlier = before.find(count.process);
    std::uint64_t base = earlier == before.end() ? 0 : earlier->second;
    if (count.total > base) processes.push_back({count.process, count.comm, count.total - base});
  }
  std::ranges::sort(processes, [](const ProcessFaults& a, const ProcessFaults& b) {
    return a.faults != b.faults ? a.faults > b.faults : a.process.pid < b.process.pid;
  });
  return processes;
}

Result<FaultWindow> FaultWindow::start(FaultOptions options, Clock& clock) {
  options.pace = Nanoseconds::zero();
  options.min_value = 1;
  HOTSET_TRY(FaultCollector collector, FaultCollector::attach(options));
  return FaultWindow(std::move(collector), clock);
}

Result<FaultWindowCounts> FaultWindow::next(Nanoseconds deadline) {
  FaultWindowCounts window;
  window.begin = begin_;
  window.interrupted = !clock_->sleep_until(deadline);
  window.end = clock_->now();
  // The ended first: their counts are final, while one that ends only now stays in the map for the next window.
  std::vector<FaultCollector::Count> counts;
  HOTSET_CHECK(
      collector_.reap([&](const FaultSample& ended) { counts.push_back({ended.process, ended.comm, ended.total}); }));
  HOTSET_TRY(std::vector<FaultCollector::Count> living, collector_.totals());
  counts.insert(counts.end(), living.begin(), living.end());
  window.processes = fault_differences(before_, counts);
  HOTSET_TRY(FaultLosses losses, collector_.losses());
  window.losses = losses - std::exchange(losses_before_, losses);
  before_ = by_process(living);
  begin_ = window.end;
  return window;
}

} // namespace hotset
