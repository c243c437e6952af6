// SPDX-License-Identifier: Apache-2.0
// A time namespace shifts the clocks of the processes in it; BPF programs see them unshifted.
#pragma once

#include <string_view>

#include "base/clock.h"
#include "base/file.h"

namespace hotset {

// What our time namespace adds to that clock, "monotonic" or "boottime". 0 where the kernel has no such namespaces.
Nanoseconds time_offset(const Files& files, std::string_view clock);
// The same from text like "monotonic 0 0\nboottime 86400 0\n" (/proc/self/timens_offsets); 0 when there is no such
// line.
Nanoseconds parse_time_offset(std::string_view text, std::string_view clock);

} // namespace hotset
