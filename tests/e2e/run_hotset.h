// SPDX-License-Identifier: Apache-2.0
// Runs the built hotset as a user would: arguments in; exit code, output and errors out.
//
// Nothing here sleeps for correctness: to act in the middle of a run, wait for what it prints.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"

namespace hotset {

// Every member has a default, so that a test names only those it means.
struct RunOptions {
  std::vector<std::string> wrapper{};     // put in front: {"setpriv", "--reuid=65534", …}
  std::vector<std::string> environment{}; // "NAME=value", added to ours
  std::string input{};                    // what it reads from standard input, then the end
  bool close_input = false;               // standard input is closed instead
  bool keep_input_open = false;           // no end comes after `input` while it runs
  bool close_output = false;              // standard output is closed
  std::string output_path{};        // standard output goes to this file ("/dev/full") instead of to RunResult::out
  std::chrono::seconds timeout{60}; // then SIGKILL and timed_out
};

struct RunResult {
  int exit_code = -1; // -1 when a signal ended it
  int signal = 0;
  bool timed_out = false;
  std::string out, err;

  // It ended because of something that this machine has not, or we may not (missing.h): a reason to skip.
  [[nodiscard]] bool lacks_something() const;

  // One parsed object a line of `out`; a line that is no JSON fails the test.
  [[nodiscard]] std::vector<nlohmann::json> json_lines() const;
};

// A hotset that runs. Destroyed while it runs: killed and reaped.
class RunningHotset {
 public:
  explicit RunningHotset(const std::vector<std::string>& arguments, RunOptions options = {});
  RunningHotset(const RunningHotset&) = delete;
  RunningHotset& operator=(const RunningHotset&) = delete;
  ~RunningHotset();

  [[nodiscard]] pid_t pid() const { return pid_; }
  // True once standard output (or standard error) holds `text`; false when it ended or the time was over before.
  bool wait_for_output(std::string_view text) { return wait_for(result_.out, text); }
  bool wait_for_errors(std::string_view text) { return wait_for(result_.err, text); }
  void send(int signal) const { ::kill(pid_, signal); }
  // Waits until it has read all of its input.
  void wait_for_input_to_be_read() const;
  // Waits for its end.
  RunResult finish();

 private:
  bool wait_for(const std::string& stream, std::string_view text);
  // Takes in what there is to read; false at the end of both streams or when the time is over.
  bool pump();
  void reap();

  pid_t pid_ = -1;
  Fd in_; // with keep_input_open: where its input is written
  Fd out_, err_;
  std::chrono::steady_clock::time_point deadline_;
  RunResult result_;
};

RunResult run_hotset(const std::vector<std::string>& arguments, RunOptions options = {});

// Another program for hotset to look at, standard output read by wait_for_line(). Killed and reaped when destroyed.
class Program {
 public:
  explicit Program(const std::vector<std::string>& command);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();

  [[nodiscard]] pid_t pid() const { return pid_; }
  // The next line it prints, without the line feed; empty at the end.
  std::string wait_for_line();
  void send(int signal) const { ::kill(pid_, signal); }

 private:
  pid_t pid_ = -1;
  Fd out_;
};

// True when a program of this name can be found in PATH.
bool is_installed(std::string_view program);

} // namespace hotset
