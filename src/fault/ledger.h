// SPDX-License-Identifier: Apache-2.0
// What user space has stored of each process, so that a sample's total becomes the faults since the sample before. This
// is the "clear the counter once the sample is stored" of the published method, without a write to the kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

#include "bpf/fault.h"
#include "fault/collector.h"

namespace hotset {

struct ProcessIdHash {
  std::size_t operator()(const ProcessId& id) const {
    return std::hash<std::uint64_t>()(id.start_ticks * 0x9E3779B97F4A7C15U ^ static_cast<std::uint64_t>(id.pid));
  }
};

ProcessId process_of(const fault_key& key);
// Up to its NUL, or all of it.
std::string comm_of(const char (&comm)[FAULT_COMM_BYTES]);

class SampleLedger {
 public:
  explicit SampleLedger(std::uint64_t min_value) : min_value_(min_value) {}

  // The faults since the last stored sample of the process, and stores this one. Nothing when there are fewer than
  // min_value; the sample is then not stored, so that its faults come with the next. Nothing either when a later sample
  // was stored already, as can happen between the CPUs of a perf buffer: its faults came with that one.
  std::optional<FaultSample> store(const fault_sample& sample);
  // The process ended: its pid and start time won't come again.
  void forget(const ProcessId& process) { stored_.erase(process); }

  [[nodiscard]] std::uint64_t below_min_value() const { return below_min_value_; }
  // Bounded by the processes in the kernel's map, as long as each one that ended is forgotten.
  [[nodiscard]] std::size_t processes() const { return stored_.size(); }

 private:
  struct Stored {
    std::uint64_t total = 0;
    Nanoseconds time{};
  };

  std::uint64_t min_value_;
  std::uint64_t below_min_value_ = 0;
  std::unordered_map<ProcessId, Stored, ProcessIdHash> stored_;
};

} // namespace hotset
