// SPDX-License-Identifier: Apache-2.0
// What this process may ask of the kernel, and what else can say no: the facts by which "operation not permitted"
// becomes a cause.
#pragma once

#include <string>
#include <vector>

#include "base/file.h"

namespace hotset {

struct Privileges {
  std::vector<std::string> missing; // capabilities that BPF needs and that are not effective, "CAP_BPF"
  bool user_namespace = false;      // capabilities held in a user namespace do not count for BPF
  bool seccomp_filter = false;      // a seccomp filter is on
  std::string lockdown;             // "none", "integrity", "confidentiality"; empty when it cannot be read
  bool type_information = false;    // /sys/kernel/btf/vmlinux is there
};

// From /proc/self/status, /proc/self/uid_map, /sys/kernel/security/lockdown. What cannot be read counts as harmless.
Privileges read_privileges(const Files& files);

// The mode in brackets of "none [integrity] confidentiality"; empty when there is none.
std::string parse_lockdown(std::string_view text);

} // namespace hotset
