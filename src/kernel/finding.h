// SPDX-License-Identifier: Apache-2.0
// What was found out about one thing that a kernel and its privileges may or may not allow.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hotset {

// What stands in the way. Each has another remedy, so they are never confused.
enum class Barrier : std::uint8_t {
  none,
  kernel,      // this kernel does not have it
  privilege,   // a capability is missing
  environment, // a seccomp filter or a user namespace: a container
  lockdown,    // kernel lockdown
  not_mounted, // its file system is not mounted
  disabled,    // there, but switched off at boot or by a setting
  in_use,      // there, but somebody else has it
  build,       // this program was built without it
  failed,      // anything else
};
std::string_view barrier_name(Barrier barrier);

// Cause and remedy are phrases that complete "CAUSE; REMEDY". Neither is empty unless ok.
struct Finding {
  enum class State : std::uint8_t { ok, failed, not_applicable } state = State::ok;
  Barrier barrier = Barrier::none;
  std::string cause;
  std::string remedy;
  std::string detail;       // what else there is to know, may be empty
  bool last_resort = false; // ok, but used only where nothing else of its part works

  [[nodiscard]] bool ok() const { return state == State::ok; }
};

Finding found(std::string detail = {});
Finding obstacle(Barrier barrier, std::string cause, std::string remedy);
Finding not_applicable(std::string cause);

// What the main job (a working set learned from page faults and labels) is made of: at least one check of each part
// must be ok.
enum class Part : std::uint8_t { none, fault_hook, transport, reset, reading };

struct CheckResult {
  std::string_view name;
  std::string_view group;
  Part part = Part::none;
  Finding finding;
};

// Parts of the main job of which no check is ok; empty: it can run.
std::vector<Part> missing_parts(const std::vector<CheckResult>& checks);
// The first check of that part that is ok, in the order of the table, which is the order of preference, with the last
// resorts behind all others.
const CheckResult* provider(const std::vector<CheckResult>& checks, Part part);

struct DoctorReport {
  std::string kernel; // "6.12.0-1-amd64 x86_64"
  std::vector<CheckResult> checks;
};

} // namespace hotset
