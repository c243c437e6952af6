// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <limits>

#include "base/units.h"
#include "cli/command.h"

namespace hotset {

void TargetOptions::declare(CLI::App& app) {
  app.add_option("pid", pid_text, "Process to look at (a thread id means its process)");
  app.add_option("--comm", comm, "The one process of this command name");
  app.footer("TARGET is a PID, --comm NAME, or -- CMD ARG... to start a command.");
}

Result<TargetSpec> TargetOptions::spec(const Tail& tail) const {
  int given = (pid_text.empty() ? 0 : 1) + (comm.empty() ? 0 : 1) + (tail.empty() ? 0 : 1);
  if (given != 1)
    return fail(ErrorCode::usage, "choose the target", "", given == 0 ? "none is given" : "more than one is given",
                "name one PID, or --comm NAME, or -- CMD ARG...");
  TargetSpec spec{.pid = std::nullopt, .comm = comm, .command = tail};
  if (!pid_text.empty()) {
    HOTSET_TRY(spec.pid, parse_pid(pid_text));
  }
  return spec;
}

Result<pid_t> parse_pid(std::string_view text) {
  std::optional<std::uint64_t> pid = parse_u64(text);
  if (!pid || *pid == 0 || *pid > static_cast<std::uint64_t>(std::numeric_limits<pid_t>::max()))
    return fail(ErrorCode::usage, "choose the target", fmt::format("'{}'", printable(text)), "it is not a process id",
                "give a number above 0, or --comm NAME");
  return static_cast<pid_t>(*pid);
}

} // namespace hotset
