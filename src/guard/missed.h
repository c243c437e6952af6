// SPDX-License-Identifier: Apache-2.0
// Opens that nobody judged, as far as the kernel tells.
//
// A tracing program that is entered while it already runs on that CPU is skipped, and the kernel counts that
// (recursion_misses). It happens where the kernel preempts itself: the task that was judged is preempted in the middle,
// and another returns from a system call. Of the hook of system calls each returning call counts, so the number is a
// bound of the opens among them, from above. Programs of the LSM are never skipped since Linux 6.2.
#pragma once

#include <array>
#include <cstdint>

#include "base/result.h"
#include "bpf/guard.h"

namespace hotset {

// Ids of the programs that judge opens; 0: none.
using GuardJudges = std::array<std::uint32_t, GUARD_JUDGES>;

// Runs that were skipped of all these. Errors: permission without CAP_SYS_ADMIN, not_found when one is gone: the policy
// was read again meanwhile, or the agent has ended.
Result<std::uint64_t> missed_runs(const GuardJudges& judges);

} // namespace hotset
