// SPDX-License-Identifier: Apache-2.0
// What the measurements by Accessed bits, of one process and of several, have in common in their records.
#pragma once

#include <cstdint>
#include <optional>

#include "access/meter.h"
#include "access/tracker.h"
#include "base/file.h"
#include "estimate/meter.h"
#include "estimate/record.h"

namespace hotset {

// Monitoring that clears Accessed bits itself, so that a touch can be lost to it.
bool damon_is_on(const Files& files);
// VmSwap of /proc/PID/status, in bytes.
std::optional<std::uint64_t> swap_of(const Files& files, pid_t pid);

// `resident` and `touched`: of the window before, 0 when there was none.
Aim aim_of(const MeterOptions& options, Aim::Method method, double resident, double touched);

// Method, working set, RSS, granularity and coverage.
void set_working_set(const Answer& answer, Estimate& estimate);
// Window and cost, and the reasons for doubt that lie in the bits.
void add_access_flags(const Answer& answer, const MeterReading& reading, const MeterOptions& options, bool damon,
                      Estimate& estimate);

} // namespace hotset
