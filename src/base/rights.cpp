// SPDX-License-Identifier: Apache-2.0
#include "base/rights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <string_view>
#include <vector>

namespace hotset {
namespace {

struct Capability {
  unsigned number;
  std::string_view name;
  bool of_sys_admin = false; // CAP_SYS_ADMIN stands for it, too
};

// Those that what we ask of the kernel needs.
constexpr std::array kNeeded{
    Capability{CAP_DAC_OVERRIDE, "CAP_DAC_OVERRIDE"},
    Capability{CAP_SYS_PTRACE, "CAP_SYS_PTRACE"},
    Capability{CAP_SYS_ADMIN, "CAP_SYS_ADMIN"},
    Capability{CAP_PERFMON, "CAP_PERFMON", true},
    Capability{CAP_BPF, "CAP_BPF", true},
};

Rights own_rights() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, 2> sets{};
  Rights rights{.root = ::geteuid() == 0, .capabilities = ~std::uint64_t{0}, .user_namespace = false};
  if (::syscall(SYS_capget, &header, sets.data()) == 0)
    rights.capabilities = std::uint64_t{sets[1].effective} << 32 | sets[0].effective;
  // The number that the kernel gives to its first one (include/linux/proc_ns.h, PROC_USER_INIT_INO).
  constexpr std::string_view kInitial = "user:[4026531837]";
  std::array<char, 64> name{};
  const ssize_t length = ::readlink("/proc/self/ns/user", name.data(), name.size());
  rights.user_namespace = length > 0 && std::string_view(name.data(), static_cast<std::size_t>(length)) != kInitial;
  return rights;
}

} // namespace

std::string rights_remedy(const Rights& rights) {
  if (!rights.root) return "run as root";
  auto has = [&](unsigned number) { return (rights.capabilities >> number & 1) != 0; };
  std::vector<std::string_view> lacking;
  for (const Capability& capability : kNeeded)
    if (!has(capability.number) && !(capability.of_sys_admin && has(CAP_SYS_ADMIN))) lacking.push_back(capability.name);
  if (!lacking.empty()) return fmt::format("run with {}, which root lacks here", fmt::join(lacking, ", "));
  return rights.user_namespace ? "run as root of the host" : "";
}

std::string rights_remedy() {
  return rights_remedy(own_rights());
}

} // namespace hotset
