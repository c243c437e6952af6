// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>

#include "app/doctor_probes.h"
#include "base/units.h"
#include "kernel/bpf_probes.h"
#include "kernel/security.h"

namespace hotset {
namespace {

// Inode numbers that the kernel gives to its first namespaces (include/linux/proc_ns.h, PROC_PID_INIT_INO).
constexpr std::string_view kInitialPidNamespace = "pid:[4026531836]";

std::optional<std::string> read_link(const Machine& machine, std::string_view path) {
  std::array<char, 64> target{};
  ssize_t length = ::readlink(machine.files.resolve(path).c_str(), target.data(), target.size());
  if (length < 0) return std::nullopt;
  return std::string(target.data(), static_cast<std::size_t>(length));
}

std::optional<long> read_number(const Machine& machine, std::string_view path) {
  Result<std::string> text = machine.files.read(path);
  if (!text) return std::nullopt;
  std::string_view digits = std::string_view(*text).substr(0, text->find('\n'));
  bool negative = digits.starts_with('-');
  std::optional<std::uint64_t> value = parse_u64(digits.substr(negative ? 1 : 0));
  if (!value || *value > 1000) return std::nullopt;
  return negative ? -static_cast<long>(*value) : static_cast<long>(*value);
}

// A file of securityfs could not be read: because it is not mounted and we may not, or because there is none.
Finding unknown_to_us(const Error& error, const Machine& machine, std::string_view absent, std::string_view remedy) {
  if (error.code == ErrorCode::not_found || error.code == ErrorCode::unsupported)
    return obstacle(Barrier::kernel, std::string(absent), std::string(remedy));
  if (find_mount(machine.mounts, "securityfs") == nullptr)
    return obstacle(Barrier::not_mounted, "not known: securityfs is not mounted, and mounting it needs CAP_SYS_ADMIN",
                    "mount -t securityfs securityfs /sys/kernel/security");
  return judge(fail(error), machine, remedy);
}

} // namespace

Finding check_capability(const Machine& machine, Capability capability) {
  if (machine.privileges.user_namespace && machine.privileges.has(capability))
    return obstacle(Barrier::environment,
                    fmt::format("{} holds in this user namespace only", capability_name(capability)),
                    "run as root of the host");
  if (machine.privileges.has(capability)) return found("effective");
  bool covered = capability == Capability::bpf || capability == Capability::perfmon;
  if (covered && machine.privileges.has(Capability::sys_admin)) return found("covered by CAP_SYS_ADMIN");
  return obstacle(Barrier::privilege, fmt::format("{} is not effective", capability_name(capability)),
                  "run as root, or grant it (setcap, systemd AmbientCapabilities=, docker --cap-add)");
}

Finding check_sys_resource(const Machine& machine) {
  Finding finding = check_capability(machine, Capability::sys_resource);
  if (finding.ok() || !try_map_without_memlock()) return finding;
  return not_applicable("not effective, and not needed: BPF memory is charged to the memory cgroup");
}

Finding check_seccomp(const Machine& machine) {
  if (!machine.privileges.seccomp_filter) return found("no filter");
  // The filter may well allow what we need; only a refused call shows that it does not.
  if (machine.privileges.missing.empty() && try_map_without_memlock())
    return found("a filter is on, and lets bpf(2) through");
  return obstacle(Barrier::environment, "a seccomp filter is on, and may refuse bpf(2) and perf_event_open(2)",
                  "allow them in the container's seccomp profile");
}

Finding check_user_namespace(const Machine& machine) {
  if (!machine.privileges.user_namespace) return found("the initial one");
  return obstacle(Barrier::environment, "in a user namespace, whose capabilities do not count for BPF",
                  "run as root of the host");
}

Finding check_pid_namespace(const Machine& machine) {
  std::optional<std::string> own = read_link(machine, "/proc/self/ns/pid");
  if (!own) return obstacle(Barrier::not_mounted, "/proc/self/ns/pid cannot be read", "mount -t proc proc /proc");
  if (*own == kInitialPidNamespace) return found("the initial one");
  return found("a nested one: process ids are those of this namespace, and processes outside it are not seen");
}

Finding check_unprivileged_bpf(const Machine& machine) {
  std::optional<long> value = read_number(machine, "/proc/sys/kernel/unprivileged_bpf_disabled");
  if (!value) return not_applicable("this kernel has no kernel.unprivileged_bpf_disabled");
  bool exempt = machine.privileges.missing.empty() && !machine.privileges.user_namespace;
  if (exempt) return found(fmt::format("{}, and does not concern this user", *value));
  if (*value == 0) return found("0, which is of no use: tracing programs need CAP_BPF and CAP_PERFMON all the same");
  return obstacle(Barrier::privilege,
                  fmt::format("kernel.unprivileged_bpf_disabled is {}: bpf(2) is for CAP_BPF alone", *value),
                  "run as root, or with CAP_BPF and CAP_PERFMON");
}

Finding check_perf_event_paranoid(const Machine& machine) {
  constexpr long kOwnProcessesUserMode = 2;
  std::optional<long> value = read_number(machine, "/proc/sys/kernel/perf_event_paranoid");
  if (!value) return obstacle(Barrier::kernel, "this kernel has no perf events", "boot one with CONFIG_PERF_EVENTS=y");
  const Privileges& privileges = machine.privileges;
  bool exempt =
      (privileges.has(Capability::perfmon) || privileges.has(Capability::sys_admin)) && !privileges.user_namespace;
  if (exempt) return found(fmt::format("{}, and does not concern this user", *value));
  if (*value < kOwnProcessesUserMode) return found(fmt::format("{}", *value));
  return obstacle(Barrier::privilege, fmt::format("kernel.perf_event_paranoid is {}", *value),
                  "run as root, or with CAP_PERFMON");
}

Finding check_lockdown(const Machine& machine) {
  Result<std::string> text = read_securityfs(machine.files, "lockdown");
  if (!text && (text.error().code == ErrorCode::not_found || text.error().code == ErrorCode::unsupported))
    return found("this kernel has no lockdown");
  if (!text) return unknown_to_us(text.error(), machine, "", "");
  std::string mode = parse_lockdown(*text);
  if (mode == "confidentiality")
    return obstacle(Barrier::lockdown, "mode confidentiality: BPF may not read kernel memory",
                    "boot with lockdown=integrity or lockdown=none");
  return found(mode.empty() ? "mode not known" : fmt::format("mode {}", printable(mode)));
}

Finding check_lsm_list(const Machine& machine) {
  constexpr std::string_view kRemedy = "boot a kernel with CONFIG_SECURITY=y and CONFIG_SECURITYFS=y";
  Result<std::string> text = read_securityfs(machine.files, "lsm");
  if (!text) return unknown_to_us(text.error(), machine, "this kernel has no list of security modules", kRemedy);
  std::vector<std::string> active = parse_lsm_list(*text);
  if (std::ranges::find(active, "bpf") != active.end())
    return found(printable(fmt::format("{}", fmt::join(active, ","))));
  return obstacle(Barrier::disabled,
                  printable(fmt::format("'bpf' is not among the active ones ({})", fmt::join(active, ","))),
                  "boot with lsm=" + printable(fmt::format("{}", fmt::join(active, ","))) + ",bpf");
}

} // namespace hotset
