// SPDX-License-Identifier: Apache-2.0
// The commands: one table, one row each; help, dispatch, man-page check and shell completion derive from it.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "identity/target.h"

namespace hotset {

// Runs a command after its options were read. The value is the exit code of a run without an error (0, or a documented
// one such as doctor's 5).
using Action = std::function<Result<int>()>;

// What stands behind a bare "--" on the command line, the same for all commands.
using Tail = std::vector<std::string>;

struct Command {
  std::string_view name;
  std::string_view summary;
  // Declares the options on `app` and returns what to do; the options live in the action's capture.
  Action (*declare)(CLI::App& app, const Tail& tail);
};

std::span<const Command> commands();

// Declares each as a subcommand of `app`, of which one must be given; the action is that one's.
Action declare_all(CLI::App& app, std::span<const Command> commands, const Tail& tail);

// One file per command.
Action declare_doctor(CLI::App& app, const Tail& tail);
Action declare_measure(CLI::App& app, const Tail& tail);
Action declare_record(CLI::App& app, const Tail& tail);
Action declare_train(CLI::App& app, const Tail& tail);
Action declare_evaluate(CLI::App& app, const Tail& tail);
Action declare_estimate(CLI::App& app, const Tail& tail);
Action declare_selftest(CLI::App& app, const Tail& tail);
Action declare_window(CLI::App& app, const Tail& tail);
Action declare_workload(CLI::App& app, const Tail& tail);
Action declare_policy(CLI::App& app, const Tail& tail);

// Parses, runs, prints the error if there is one; the process's exit code.
int run(int argc, char** argv);

// A number that can be a pid; usage error otherwise.
Result<pid_t> parse_pid(std::string_view text);

// TARGET as every command takes it: positional pid, --comm NAME, or the tail. Lives in the action's capture.
struct TargetOptions {
  std::string pid_text;
  std::string comm;

  void declare(CLI::App& app);
  // Exactly one of the three must be given; usage error otherwise.
  Result<TargetSpec> spec(const Tail& tail) const;
};

} // namespace hotset
