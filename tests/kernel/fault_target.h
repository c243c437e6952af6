// SPDX-License-Identifier: Apache-2.0
// A process that faults when told to, for tests of the collector: started, it blocks; run() lets its threads touch and
// drop their memory, and blocks it again, so that what it did can be compared with the kernel's own counters in peace.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>

#include "base/fd.h"
#include "identity/process.h"

namespace hotset {

struct FaultLoad {
  unsigned threads = 1;             // run at the same time
  unsigned waves = 1;               // so often, one after the other, with new threads
  std::uint64_t faults = 1'000'000; // of all threads together, about
  double seconds = 2;               // at most, for slow machines
};

class FaultTarget {
 public:
  // `comm`: its name, empty: the test's own. `pid`: to be used again, 0: any (Linux 5.5, as root).
  static FaultTarget start(const FaultLoad& load, const std::string& comm = "", pid_t pid = 0);
  FaultTarget(FaultTarget&& other) noexcept
      : pid_(std::exchange(other.pid_, 0)),
        commands_(std::move(other.commands_)),
        answers_(std::move(other.answers_)) {}
  FaultTarget& operator=(FaultTarget&& other) noexcept {
    std::swap(pid_, other.pid_);
    std::swap(commands_, other.commands_);
    std::swap(answers_, other.answers_);
    return *this;
  }
  ~FaultTarget() { end(); }

  [[nodiscard]] bool valid() const { return pid_ > 0; }
  [[nodiscard]] ProcessId id() const;
  // Runs the load once and waits until it is done.
  void run();
  // Starts the load; wait() waits until it is done.
  void begin();
  void wait();
  // Whether wait() would return at once.
  [[nodiscard]] bool is_done() const;
  // Minor and major faults by /proc/PID/stat.
  [[nodiscard]] std::uint64_t stat_faults() const;
  // Ends and reaps it.
  void end();

 private:
  FaultTarget() = default;

  pid_t pid_ = 0; // 0: none
  Fd commands_, answers_;
};

} // namespace hotset
