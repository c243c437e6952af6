// SPDX-License-Identifier: Apache-2.0
// The table of commands, and the one place where a command line becomes a call and an error becomes text.
#include <fcntl.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <sstream>
#include <utility>

#include "base/interrupt.h"
#include "base/limits.h"
#include "base/units.h"
#include "cli/command.h"
#include "present/output.h"

namespace hotset {
namespace {

constexpr std::array kCommands{
    Command{"doctor", "Say what this kernel and these privileges allow, and what helps", declare_doctor},
    Command{"measure", "Measure the working set of a process, a tree or a cgroup", declare_measure},
    Command{"record", "Record page faults and measured working sets into a data set", declare_record},
    Command{"train", "Train a model of the working set from data sets", declare_train},
    Command{"evaluate", "Judge a model honestly, beside what costs nothing", declare_evaluate},
    Command{"estimate", "Estimate a process's working set live, from page faults and a model", declare_estimate},
    Command{"window", "Show what was counted second by second in the last minutes, page faults for one",
            declare_window},
    Command{"selftest", "Measure known-answer workloads by every method, and compare", declare_selftest},
    Command{"workload", "Run a known-answer memory workload that publishes what it touches", declare_workload},
    Command{"policy", "Say which files may be opened, and by whom", declare_policy},
};

// A standard stream that is closed would be the next file that we open, and results would go into it. What is put in
// its place is open the wrong way round, so that using it fails as using a closed one does.
void fill_closed_streams() {
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd) return;
}

// Everything behind a bare "--" belongs to the target, whatever it looks like: cut it off before CLI11 sees it.
Tail cut_tail(std::vector<std::string>& arguments) {
  auto dashes = std::ranges::find(arguments, "--");
  if (dashes == arguments.end()) return {};
  Tail tail(std::next(dashes), arguments.end());
  arguments.erase(dashes, arguments.end());
  return tail;
}

// Notes and warnings go to stderr, with colour only on a terminal; stdout carries results alone.
void set_up_log() {
  auto log = spdlog::stderr_color_st("hotset");
  log->set_pattern("hotset: %^%v%$");
  spdlog::set_default_logger(log);
}

// Who pressed Ctrl-C knows why it ended.
int report(const Error& error) {
  const bool interrupted = error.code == ErrorCode::interrupted;
  if (interrupted && interrupt_requested()) return interrupt_exit_code();
  spdlog::error("{}", to_sentence(error));
  return static_cast<int>(interrupted ? ErrorCode::internal : error.code);
}

// What CLI11 takes and should not: -1 as the largest number of an unsigned option, and what is too large as the largest
// one; and an empty text, which is a script's variable that was never set, as if the option were not there.
void refuse_wrapped_counts_and_empty_texts(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_type_name().starts_with("UINT"))
      option->check([](const std::string& text) {
        return parse_u64(text) ? std::string() : "'" + printable(text) + "' is not a whole number of at least 0";
      });
    else if (option->get_type_name().starts_with("TEXT"))
      option->check([](const std::string& text) { return text.empty() ? std::string("it is empty") : std::string(); });
  }
  for (CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    refuse_wrapped_counts_and_empty_texts(*sub);
}

// What CLI11 complains about, as an error like any other. Its sentences begin with a capital, or with an option's name.
Error usage_error(const CLI::App& app, const CLI::ParseError& error) {
  std::string understood = "hotset";
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) {
    at = at->get_subcommands().front();
    understood += " " + at->get_name();
  }
  std::string cause = printable(error.what());
  if (!cause.empty() && cause[0] >= 'A' && cause[0] <= 'Z') cause[0] = static_cast<char>(cause[0] - 'A' + 'a');
  // Of a mistyped command it would say that one is required.
  if (const std::vector<std::string> unknown = at->remaining();
      at->get_require_subcommand_min() > 0 && !unknown.empty())
    cause = "there is no command '" + printable(unknown.front()) + "'";
  return {ErrorCode::usage, "read the command line", "", std::move(cause), understood + " --help tells more"};
}

// CLI11 ends parsing with an exception for --help and --version too; their text is a result like any other.
int answer(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() != 0) return report(usage_error(app, error));
  std::ostringstream text;
  app.exit(error, text, text);
  Result<> printed = Output().print(text.str());
  return printed ? 0 : report(printed.error());
}

} // namespace

std::span<const Command> commands() {
  return kCommands;
}

Action declare_all(CLI::App& app, std::span<const Command> commands, const Tail& tail) {
  app.require_subcommand(1);
  std::vector<std::pair<const CLI::App*, Action>> declared;
  for (const Command& command : commands) {
    CLI::App* sub = app.add_subcommand(std::string(command.name), std::string(command.summary));
    declared.emplace_back(sub, command.declare(*sub, tail));
  }
  return [declared = std::move(declared)]() -> Result<int> {
    for (const auto& [sub, action] : declared)
      if (sub->parsed()) return action();
    return static_cast<int>(ErrorCode::usage);
  };
}

int run(int argc, char** argv) {
  fill_closed_streams();
  set_up_log();
  catch_interrupts();
  std::vector<std::string> arguments(argv + 1, argv + argc);
  const Tail tail = cut_tail(arguments);

  CLI::App app{"hotset: how much memory is in use right now, and how sure that is"};
  app.set_version_flag("--version", std::string("hotset " HOTSET_VERSION));
  const Action action = declare_all(app, commands(), tail);
  refuse_wrapped_counts_and_empty_texts(app);

  try {
    std::ranges::reverse(arguments); // CLI11 takes them from the back
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    return answer(app, error);
  }

  if (Result<> files = provide_open_files(); !files) return report(files.error());
  Result<int> code = action();
  return code ? *code : report(code.error());
}

} // namespace hotset
