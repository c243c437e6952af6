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
//
// It leads a process group of its own. So Ctrl-C reaches us alone: we finish the window, print it, and end the program
// with all that it started. A terminal as its standard input becomes /dev/null, for a background group that reads a
// terminal is stopped. Destroyed: SIGTERM to the group, a second of grace, SIGKILL, reaped. Killed with us when we are
// killed (PR_SET_PDEATHSIG, which follows the thread that started it). What leaves the group (setsid, a daemon) is on
// its own.
class Child {
 public:
  // Errors: not_found or permission when the program can't be run. What it prints goes to our stderr, its stdout too,
  // so that our own output stays readable by programs.
  static Result<Child> start(const std::vector<std::string>& command);
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child();

  [[nodiscard]] pid_t pid() const { return pid_; }
  // Lets it exec; an exec that fails is reported here.
  Result<> release();
  // The wait status if it has ended, without waiting. Its pid stays taken (a zombie) until the Child is destroyed.
  std::optional<int> ended();

 private:
  Child() = default;

  pid_t pid_ = -1;
  std::string name_; // for errors
  Fd gate_;          // one byte opens it
  Fd failure_;       // carries errno of a failed exec; closed by a successful one
  std::optional<int> status_;
};

struct Target {
  Process process;
  std::optional<Child> child; // set when we started it
};

// Finds or starts the target. A comm that several processes bear is an error that lists their pids. A started child is
// still at its gate: call child->release() when ready. `process.comm` is already the name it will have.
Result<Target> resolve_target(const Files& files, const TargetSpec& spec);

// "4711 (redis-server)", fit for a terminal.
std::string describe(const Process& process);

} // namespace hotset
