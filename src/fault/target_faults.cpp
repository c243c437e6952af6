// SPDX-License-Identifier: Apache-2.0
#include "fault/target_faults.h"

#include <iterator>
#include <utility>

#include "base/interrupt.h"

namespace hotset {

bool WindowBuilder::add(const FaultSample& sample, Nanoseconds earliest) {
  ++window_.emissions;
  // The sample may have begun in the window before: only the part in this one counts.
  std::uint64_t inside = sample.total > begin_total_ ? sample.total - begin_total_ : 0;
  window_.peak_faults = std::max(window_.peak_faults, std::min(sample.faults, inside));
  return sample.time >= earliest && sample.time > window_.begin;
}

TargetWindow WindowBuilder::close(Nanoseconds end, std::uint64_t total, WindowEnd why) {
  TargetWindow closed = window_;
  closed.end = end;
  closed.faults = total > begin_total_ ? total - begin_total_ : 0;
  closed.ended_by = why;
  begin_total_ = std::max(begin_total_, total);
  window_ = TargetWindow{};
  window_.begin = end;
  return closed;
}

Result<TargetFaults> TargetFaults::start(const ProcessId& process, FaultOptions options) {
  options.filter = {.kind = FaultFilter::Kind::pid, .process = process, .comm = {}};
  HOTSET_TRY(FaultCollector collector, FaultCollector::attach(options));
  return TargetFaults(std::move(collector), process, SystemClock().now());
}

Result<TargetWindow> TargetFaults::next_window(Nanoseconds deadline, Nanoseconds earliest) {
  SystemClock clock;
  for (;;) {
    for (auto sample = waiting_.begin(); sample != waiting_.end(); ++sample) {
      if (!builder_.add(*sample, earliest)) continue;
      TargetWindow window = builder_.close(sample->time, sample->total, WindowEnd::sample);
      waiting_.erase(waiting_.begin(), std::next(sample));
      begin_ = window.end;
      return window;
    }
    waiting_.clear();
    Nanoseconds now = clock.now();
    bool interrupted = end_requested();
    if (now >= deadline || interrupted) {
      HOTSET_TRY(std::uint64_t total, collector_.total(process_));
      begin_ = now;
      return builder_.close(now, total, interrupted ? WindowEnd::interrupt : WindowEnd::deadline);
    }
    HOTSET_CHECK(collector_.poll(deadline - now, [&](const FaultSample& sample) { waiting_.push_back(sample); }));
  }
}

} // namespace hotset
