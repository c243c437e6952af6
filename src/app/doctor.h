// SPDX-License-Identifier: Apache-2.0
// Doctor: what this kernel and these privileges allow, found out by trying.
//
// One table of checks, one row each; the report on a terminal, the JSON, the exit code and the table in docs/doctor.md
// derive from it. Every check tries the real thing once, leaves nothing behind, and says what stands in the way and
// what helps.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/mounts.h"
#include "kernel/finding.h"
#include "kernel/privileges.h"

namespace hotset {

// Facts that several checks use, read once.
struct Machine {
  Files files;
  Privileges privileges;
  std::vector<Mount> mounts;
  std::string release, arch; // as uname has them
};
Machine look_around(const Files& files);

struct Check {
  std::string_view name; // "hook.kprobe"; what stands before the dot is the group
  std::string_view purpose;
  Part part;
  Finding (*probe)(const Machine& machine);

  [[nodiscard]] std::string_view group() const { return name.substr(0, name.find('.')); }
};
std::span<const Check> doctor_checks();

// Tries everything: a second or so. Never fails; what can't be found out is a finding. Single-threaded callers only.
DoctorReport run_doctor(const Files& files);

// The table of checks as docs/doctor.md shows it.
std::string doctor_table();

} // namespace hotset
