// SPDX-License-Identifier: Apache-2.0
// What this process may ask of the kernel, and what else can say no: the facts by which "operation not permitted"
// becomes a cause.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"

namespace hotset {

// Numbers from linux/capability.h.
enum class Capability : unsigned {
  dac_override = 1,
  sys_ptrace = 19,
  sys_admin = 21,
  sys_nice = 23,
  sys_resource = 24,
  perfmon = 38,
  bpf = 39,
};

// "CAP_BPF"
std::string_view capability_name(Capability capability);

struct Privileges {
  std::uint64_t effective = 0;      // capabilities, one bit each
  std::vector<std::string> missing; // capabilities that BPF needs and that are not effective, "CAP_BPF"
  bool user_namespace = false;      // capabilities held in a user namespace do not count for BPF
  bool seccomp_filter = false;      // a seccomp filter is on
  std::string lockdown;             // "none", "integrity", "confidentiality"; empty when it cannot be read
  bool sysfs = true;                // /sys is mounted
  bool type_information = false;    // /sys/kernel/btf/vmlinux is there, and not empty

  [[nodiscard]] bool has(Capability capability) const {
    return (effective >> static_cast<unsigned>(capability) & 1) != 0;
  }
};

// From /proc/self/status, /proc/self/uid_map, /sys/kernel/security/lockdown. What cannot be read counts as harmless.
Privileges read_privileges(const Files& files);

} // namespace hotset
