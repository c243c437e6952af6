// SPDX-License-Identifier: Apache-2.0
// Starts rolling windows: after their program is loaded, before it is attached. From then on seconds are known.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "bpf/window.h"
#include "window/clock.h"

namespace hotset {

// The maps of one window. The descriptors are borrowed.
struct WindowMaps {
  int window = -1; // of WINDOW(name, …) or WINDOW_PUBLISHED(name, …)
  int meta = -1;   // of name_meta in the published layout, else -1
};

// The header of a window that is started at that time. Pure.
window_header window_started(const KernelTime& time, window_layout layout, std::size_t counters, window_clock clock);

// Starts every window in the array, on every possible CPU; what was in there is gone, and what a program counts in the
// meantime may be. Errors: bad_data when these are no maps of a window, and what the system calls say.
Result<> start_window(const WindowMaps& maps, window_clock clock = WINDOW_JIFFIES);

} // namespace hotset
