// SPDX-License-Identifier: Apache-2.0
// What the user wants measured: a pid, a command name, or a command that we start.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "identity/process.h"

namespace hotset {

// Exactly one of the three is set; the command line checks that.
struct TargetSpec {
  std::optional<pid_t> pid;
  std::string comm;
  std::vector<std::string> command; // program and arguments, looked up in PATH, no shell
};

// A program that we started. It waits before exec until release(), so that collection is on from its first fault.
// Destroyed: SIGTERM, a second of grace, SIGKILL, reaped: nothing is left running.
class Child {
 public:
  // Errors: not_found or permission when the program can't be run. Its output goes where ours goes; stdout of the child
  // is sent to our stderr, so that our own output stays readable by programs.
  static Result<Child> start(const std::vector<std::string>& command);
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child();

  [[nodiscard]] pid_t pid() const { return pid_; }
  // Lets it exec; an exec that fails is reported here.
  Result<> release();
  // The wait status if it has ended, without waiting.
  std::optional<int> ended();

 private:
  Child() = default;

  pid_t pid_ = -1;
  Fd gate_;    // one byte opens it
  Fd failure_; // carries errno of a failed exec; closed by a successful one
  std::optional<int> status_;
};

struct Target {
  Process process;
  std::optional<Child> child; // set when we started it
};

// Finds or starts the target. A comm that several processes bear is an error that lists their pids. A started child is
// still at its gate: call child->release() when ready, after which `process.comm` is refreshed by the caller if needed.
Result<Target> resolve_target(const Files& files, const TargetSpec& spec);

// "4711 (redis-server)", fit for a terminal.
std::string describe(const Process& process);

} // namespace hotset
