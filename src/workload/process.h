// SPDX-License-Identifier: Apache-2.0
// A workload in a forked child of this process: for tests and benchmarks, which need a target with a known answer and
// no second program. It shares its memory with this process (workload/program.h does not).
#pragma once

#include <sys/types.h>

#include "base/fd.h"
#include "base/file.h"
#include "base/result.h"
#include "workload/run.h"

namespace hotset {

class WorkloadProcess {
 public:
  // Returns when the workload is ready, or with the error that it ended with. Call it while no other thread of this
  // process does anything: the child goes on without exec.
  static Result<WorkloadProcess> start(const WorkloadSpec& spec, const Files& files = Files());
  WorkloadProcess(WorkloadProcess&& other) noexcept;
  WorkloadProcess(const WorkloadProcess&) = delete;
  WorkloadProcess& operator=(const WorkloadProcess&) = delete;
  WorkloadProcess& operator=(WorkloadProcess&&) = delete;
  ~WorkloadProcess(); // killed and reaped, with its children

  [[nodiscard]] const WorkloadReady& ready() const { return ready_; }
  [[nodiscard]] pid_t pid() const { return ready_.pid; }
  // Asks it to end and waits for its summary.
  Result<WorkloadSummary> stop();

 private:
  WorkloadProcess(pid_t pid, Fd from) : pid_(pid), from_(std::move(from)) {}
  Result<> hear_ready();

  pid_t pid_ = -1;
  Fd from_;
  WorkloadReady ready_;
};

} // namespace hotset
