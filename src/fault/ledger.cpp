// SPDX-License-Identifier: Apache-2.0
#include "fault/ledger.h"

#include <cstring>

namespace hotset {

ProcessId process_of(const fault_key& key) {
  return {static_cast<pid_t>(key.tgid), key.start_ticks};
}

std::string comm_of(const char (&comm)[FAULT_COMM_BYTES]) {
  return std::string(comm, ::strnlen(comm, sizeof(comm)));
}

std::optional<FaultSample> SampleLedger::store(const fault_sample& sample) {
  FaultSample difference{.process = process_of(sample.process),
                         .comm = comm_of(sample.comm),
                         .begin = Nanoseconds(sample.since_ns),
                         .time = Nanoseconds(sample.time_ns),
                         .faults = sample.total,
                         .total = sample.total};
  auto stored = stored_.find(difference.process);
  if (stored != stored_.end()) {
    if (sample.total <= stored->second.total) return std::nullopt;
    difference.begin = stored->second.time;
    difference.faults = sample.total - stored->second.total;
  }
  if (difference.faults < min_value_) {
    ++below_min_value_;
    return std::nullopt;
  }
  stored_[difference.process] = {difference.total, difference.time};
  return difference;
}

} // namespace hotset
