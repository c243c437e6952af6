// SPDX-License-Identifier: Apache-2.0
// Counts the page faults of processes in the kernel and hands samples to user space.
//
// The published pipeline: per process, the faults since the last emission (`freq`) reach a threshold, one sample is
// sent through a ring buffer, and the count is cleared once user space has stored it. Clearing by writing zero would
// lose the faults between emission and clearing. So the kernel's count only grows, a sample carries it, and clearing
// means to remember the stored count and subtract: nothing is lost or counted twice, and a dropped sample's faults come
// with the next. The threshold adapts in the kernel (bpf/fault.h, tested in C++) so that samples of one process come
// about every `pace`, in a storm and in calm.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "identity/process.h"
#include "kernel/hooks.h"

namespace hotset {

struct FaultFilter {
  enum class Kind { none, pid, comm } kind = Kind::none;
  ProcessId process; // Kind::pid: the whole process, all threads
  std::string comm;  // Kind::comm: of the process (its main thread), cut at 15 bytes as the kernel does
};

struct FaultOptions {
  FaultFilter filter;
  std::string hook;         // name of a row of page_fault_hooks() to force, empty: the first that works
  bool perf_buffer = false; // use the perf buffer even where the kernel has the BPF ring buffer
  Nanoseconds pace = std::chrono::milliseconds(100); // to aim for between two samples of one process; 0: no samples
  // Samples with fewer faults are dropped and counted in FaultLosses::below_min_value; being dropped they are not
  // stored, so their faults come with the next sample.
  std::uint64_t min_value = 1;
  // Memory in the kernel: about 144 bytes a process, allocated up front, and the buffer (of each CPU, for the perf
  // buffer). Both are far above need by default; tests make them small.
  std::uint32_t max_processes = 16384;
  std::uint32_t buffer_bytes = 256 * 1024; // rounded up to a power of two of pages
};

// One emission: the process took `faults` faults between `begin` and `time`. Stamps are Clock::now().
struct FaultSample {
  ProcessId process;
  std::string comm;    // of its main thread, any bytes
  Nanoseconds begin{}; // the previous sample's time; at first the attach time, or the process's start if later
  Nanoseconds time{};
  std::uint64_t faults = 0; // since the sample before
  std::uint64_t total = 0;  // since the collector attached
};

// All that did not become a sample, each with its reason, since attach. Faults are never lost but in `untracked` and
// `missed`.
struct FaultLosses {
  std::uint64_t buffer_full = 0;     // samples dropped for want of room; their faults come with the next sample
  std::uint64_t untracked = 0;       // faults of processes that found the count map full
  std::uint64_t missed = 0;          // times the kernel skipped the program (recursion); where it tells
  std::uint64_t below_min_value = 0; // samples dropped by min_value
};

class FaultCollector {
 public:
  // Loads and attaches the first candidate that works. The refusals of those before it are in refusals(). When none
  // works: unsupported or permission, with each candidate's cause.
  static Result<FaultCollector> attach(const FaultOptions& options);
  FaultCollector(FaultCollector&&) noexcept;
  FaultCollector& operator=(FaultCollector&&) noexcept;
  ~FaultCollector(); // detaches; nothing stays in the kernel

  [[nodiscard]] const Hook& hook() const;
  [[nodiscard]] const std::vector<HookRefusal>& refusals() const;
  // "ring buffer" or "perf buffer"
  [[nodiscard]] std::string_view transport() const;

  // Hands each sample to `consume`: those that have arrived, else waits for the first at most `timeout`. Returns early
  // on an interrupt. Once a second it also reaps (see below).
  Result<> poll(Nanoseconds timeout, const std::function<void(const FaultSample&)>& consume);
  // Faults of a process since attach, read from the kernel now: exact, whatever was emitted or dropped. 0 when it took
  // none yet.
  Result<std::uint64_t> total(const ProcessId& process);
  // All processes that have a count.
  struct Count {
    ProcessId process;
    std::string comm;
    std::uint64_t total = 0;
  };
  Result<std::vector<Count>> totals();
  // Forgets processes that ended, so that the bounded map never fills with the dead; what each took since its last
  // sample is handed over as one more sample, stamped now. For filter pid nothing is forgotten: its one entry stays
  // readable. poll() does this; only who never polls must call it.
  Result<> reap(const std::function<void(const FaultSample&)>& consume);
  Result<FaultLosses> losses() const;

 private:
  struct State;
  explicit FaultCollector(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Tries one candidate by loading and attaching it, then detaches: what doctor shows.
Result<> try_page_fault_hook(const Hook& hook);

} // namespace hotset
