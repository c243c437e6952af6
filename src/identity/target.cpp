// SPDX-License-Identifier: Apache-2.0
// From what the user named to one process.
#include "identity/target.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/units.h"

namespace hotset {
namespace {

constexpr std::size_t kCommBytes = 15;
constexpr std::size_t kPidsListed = 20;

Result<Process> the_one_process(const Files& files, const std::string& comm) {
  std::string object = fmt::format("the command name '{}'", printable(comm));
  HOTSET_TRY(std::vector<Process> found, find_processes(files, comm));
  if (found.empty())
    return fail(ErrorCode::not_found, "find a process of", object, "there is none",
                "command names are cut at 15 bytes; ps -eo pid,comm shows them");
  if (found.size() == 1) return std::move(found.front());
  std::vector<pid_t> pids;
  pids.reserve(found.size());
  for (const Process& process : found)
    pids.push_back(process.id.pid);
  std::size_t listed = std::min(pids.size(), kPidsListed);
  std::string list =
      fmt::format("{}", fmt::join(pids.begin(), pids.begin() + static_cast<std::ptrdiff_t>(listed), ", "));
  if (listed < pids.size()) list += fmt::format(" and {} more", pids.size() - listed);
  return fail(ErrorCode::usage, "choose one process of", object,
              fmt::format("{} processes bear it: {}", pids.size(), list), "name one of these PIDs");
}

Result<Target> start_target(const Files& files, const std::vector<std::string>& command) {
  HOTSET_CHECK(check_proc(files));
  HOTSET_TRY(Child child, Child::start(command));
  HOTSET_TRY(Process process, find_process(files, child.pid()));
  // At the gate it still bears our name; exec gives it that of the file.
  std::string_view file = std::string_view(command.front()).substr(command.front().rfind('/') + 1);
  process.comm = file.substr(0, kCommBytes);
  return Target{std::move(process), std::move(child)};
}

} // namespace

Result<Target> resolve_target(const Files& files, const TargetSpec& spec) {
  if (!spec.command.empty()) return start_target(files, spec.command);
  if (spec.pid) {
    HOTSET_TRY(Process process, find_process(files, *spec.pid));
    return Target{std::move(process), std::nullopt};
  }
  HOTSET_TRY(Process process, the_one_process(files, spec.comm));
  return Target{std::move(process), std::nullopt};
}

std::string describe(const Process& process) {
  return fmt::format("{} ({})", process.id.pid, printable(process.comm));
}

} // namespace hotset
