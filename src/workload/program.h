// SPDX-License-Identifier: Apache-2.0
// A workload as a program of its own, as a user starts it: a target that shares nothing with who measures it but the
// files that both map. A forked child (workload/process.h) shares the memory of its parent, too.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "workload/pattern.h"

namespace hotset {

// The arguments of `hotset` that run this workload: all but the program's name.
std::vector<std::string> workload_arguments(const WorkloadSpec& spec);

class WorkloadProgram {
 public:
  // Runs `hotset` at this path and returns when the workload is ready. What it says of its failures goes to standard
  // error.
  static Result<WorkloadProgram> start(const std::string& hotset, const WorkloadSpec& spec);
  WorkloadProgram(WorkloadProgram&& other) noexcept;
  WorkloadProgram(const WorkloadProgram&) = delete;
  WorkloadProgram& operator=(const WorkloadProgram&) = delete;
  WorkloadProgram& operator=(WorkloadProgram&&) = delete;
  ~WorkloadProgram(); // killed and reaped

  [[nodiscard]] pid_t pid() const { return pid_; }
  // "pid=… pages=… …", what the workload says of itself.
  [[nodiscard]] const std::string& ready() const { return ready_; }

 private:
  WorkloadProgram(pid_t pid, Fd from) : pid_(pid), from_(std::move(from)) {}
  Result<> hear_ready();
  int reap();
  std::string end(bool closed);

  pid_t pid_ = -1;
  Fd from_; // its standard output, open for as long as it lives
  std::string ready_;
};

} // namespace hotset
