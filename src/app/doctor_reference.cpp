// SPDX-License-Identifier: Apache-2.0
// Reference measurements, each tried on this very process.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "access/census.h"
#include "app/doctor_probes.h"
#include "base/clock.h"
#include "base/units.h"

namespace hotset {
namespace {

constexpr std::string_view kPageMonitor = "boot a kernel built with CONFIG_PROC_PAGE_MONITOR=y";
constexpr std::string_view kKdamonds = "/sys/kernel/mm/damon/admin/kdamonds";

std::string whose(const Machine& machine, Capability needed) {
  if (!machine.privileges.has(needed)) return "of this user's own processes";
  return machine.privileges.user_namespace ? "of the processes of this user namespace" : "of every process";
}

Finding check_smaps_file(const Machine& machine, std::string_view path) {
  Result<std::string> text = machine.files.read(path);
  if (!text) return judge_file(fail(std::move(text).error()), machine, Capability::sys_ptrace, kPageMonitor);
  if (text->find("\nReferenced:") == std::string::npos)
    return obstacle(Barrier::kernel, "it does not tell what was referenced", std::string(kPageMonitor));
  return found(whose(machine, Capability::sys_ptrace));
}

// A word of a file without its line feed; empty when it can't be read.
std::string first_line(const Machine& machine, const std::string& path) {
  Result<std::string> text = machine.files.read(path);
  return text ? text->substr(0, text->find('\n')) : std::string();
}

} // namespace

Finding check_clear_refs(const Machine& machine) {
  return judge_file(machine.files.write("/proc/self/clear_refs", "1"), machine, Capability::dac_override, kPageMonitor,
                    whose(machine, Capability::dac_override));
}

Finding check_smaps_rollup(const Machine& machine) {
  return check_smaps_file(machine, "/proc/self/smaps_rollup");
}

Finding check_smaps(const Machine& machine) {
  return check_smaps_file(machine, "/proc/self/smaps");
}

Finding check_idle_bitmap(const Machine& machine) {
  constexpr std::string_view kPath = "/sys/kernel/mm/page_idle/bitmap";
  constexpr std::string_view kRemedy = "boot a kernel built with CONFIG_IDLE_PAGE_TRACKING=y";
  if (!machine.files.exists(kPath))
    return obstacle(Barrier::kernel, "this kernel has no idle page tracking", std::string(kRemedy));
  Fd bitmap(::open(machine.files.resolve(kPath).c_str(), O_RDWR | O_CLOEXEC));
  std::uint64_t word = 0;
  if (!bitmap || ::read(bitmap.get(), &word, sizeof(word)) < 0)
    return judge_file(fail(errno_error(errno, "open", std::string(kPath))), machine, Capability::sys_admin, kRemedy);
  return found();
}

// Only looked at: a kdamond belongs to whoever set it up, and making one of our own would disturb it.
Finding check_damon(const Machine& machine) {
  constexpr std::string_view kRemedy = "boot a kernel built with CONFIG_DAMON_SYSFS=y and CONFIG_DAMON_VADDR=y";
  if (!machine.files.exists(kKdamonds))
    return obstacle(Barrier::kernel, "this kernel has no DAMON, or none with a sysfs interface", std::string(kRemedy));
  Result<std::string> count = machine.files.read(fmt::format("{}/nr_kdamonds", kKdamonds));
  if (!count) return judge_file(fail(std::move(count).error()), machine, Capability::dac_override, kRemedy);
  std::string number = count->substr(0, count->find('\n'));
  if (number == "0") return found("no kdamond is in use");
  std::string state = first_line(machine, fmt::format("{}/0/state", kKdamonds));
  std::string operations = first_line(machine, fmt::format("{}/0/contexts/0/operations", kKdamonds));
  return obstacle(
      Barrier::in_use,
      fmt::format("somebody else has set up {} kdamond{} (the first is {}, monitoring {})", printable(number),
                  number == "1" ? "" : "s", state.empty() ? "?" : state, operations.empty() ? "?" : operations),
      "leave it alone, or have its owner remove it");
}

Finding check_census(const Machine& machine) {
  if (machine.arch != "x86_64")
    return not_applicable(fmt::format("page tables of {} are laid out differently", printable(machine.arch)));
  SystemClock clock;
  Result<Census> census = Census::open(clock);
  if (!census) return judge(fail(std::move(census).error()), machine, "boot Linux 6.1 or newer with BTF");
  constexpr unsigned kFourLevels = 4;
  constexpr std::uint64_t kFixedBase4 = 0xffff'8880'0000'0000, kFixedBase5 = 0xff11'0000'0000'0000;
  bool randomised = census->direct_map() != (census->levels() == kFourLevels ? kFixedBase4 : kFixedBase5);
  return found(fmt::format("page tables of {} levels; direct map {}", census->levels(),
                           randomised ? "randomised, and found" : "at its fixed place"));
}

} // namespace hotset
