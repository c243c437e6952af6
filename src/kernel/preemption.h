// SPDX-License-Identifier: Apache-2.0
// Whether the kernel takes the CPU away from a task that is inside the kernel.
//
// It matters to programs that run with preemption enabled (fentry, fexit): while one of them is preempted, the kernel
// skips it for every other task of that CPU, so a time slice of faults goes uncounted.
#pragma once

#include <string>
#include <string_view>

#include "base/file.h"

namespace hotset {

// From the scheduler's debug file where the mode can be chosen at boot (mounted or not), else from the build's name.
// Where neither tells, true: that costs a little accuracy where false might cost faults.
bool preempts_itself(const Files& files);

// The mode in parentheses of "none voluntary (full) lazy"; empty when there is none.
std::string parse_preemption(std::string_view text);

} // namespace hotset
