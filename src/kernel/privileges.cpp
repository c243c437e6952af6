// SPDX-License-Identifier: Apache-2.0
#include "kernel/privileges.h"

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>

#include "kernel/security.h"

namespace hotset {
namespace {

// The text behind "Name:" in /proc/PID/status, without the blanks.
std::string_view status_field(std::string_view status, std::string_view name) {
  std::size_t at = status.find("\n" + std::string(name) + ":");
  if (at == std::string_view::npos) return {};
  std::string_view rest = status.substr(at + name.size() + 2);
  rest = rest.substr(0, rest.find('\n'));
  std::size_t first = rest.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view() : rest.substr(first);
}

std::optional<std::uint64_t> parse_hex(std::string_view text) {
  std::uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// CAP_SYS_ADMIN stands for both of the newer ones.
std::vector<std::string> missing_for_bpf(const Privileges& privileges) {
  std::vector<std::string> missing;
  if (privileges.has(Capability::sys_admin)) return missing;
  if (!privileges.has(Capability::bpf)) missing.emplace_back("CAP_BPF");
  if (!privileges.has(Capability::perfmon)) missing.emplace_back("CAP_PERFMON");
  return missing;
}

// The initial user namespace maps all ids to themselves: "0 0 4294967295".
bool is_identity_map(std::string_view uid_map) {
  std::string numbers;
  for (char c : uid_map)
    if (c != ' ' || (!numbers.empty() && numbers.back() != ' ')) numbers += c;
  return numbers == "0 0 4294967295\n";
}

} // namespace

std::string_view capability_name(Capability capability) {
  switch (capability) {
    case Capability::dac_override:
      return "CAP_DAC_OVERRIDE";
    case Capability::sys_ptrace:
      return "CAP_SYS_PTRACE";
    case Capability::sys_admin:
      return "CAP_SYS_ADMIN";
    case Capability::sys_nice:
      return "CAP_SYS_NICE";
    case Capability::sys_resource:
      return "CAP_SYS_RESOURCE";
    case Capability::perfmon:
      return "CAP_PERFMON";
    case Capability::bpf:
      return "CAP_BPF";
  }
  return "";
}

Privileges read_privileges(const Files& files) {
  Privileges privileges;
  if (Result<std::string> status = files.read("/proc/self/status")) {
    if (std::optional<std::uint64_t> effective = parse_hex(status_field(*status, "CapEff")))
      privileges.effective = *effective;
    privileges.seccomp_filter = status_field(*status, "Seccomp") == "2";
  }
  privileges.missing = missing_for_bpf(privileges);
  if (Result<std::string> map = files.read("/proc/self/uid_map")) privileges.user_namespace = !is_identity_map(*map);
  if (Result<std::string> lockdown = read_securityfs(files, "lockdown"))
    privileges.lockdown = parse_lockdown(*lockdown);
  privileges.sysfs = files.exists("/sys/kernel");
  std::error_code error;
  const std::uintmax_t types = std::filesystem::file_size(files.resolve("/sys/kernel/btf/vmlinux"), error);
  privileges.type_information = !error && types > 0;
  return privileges;
}

} // namespace hotset
