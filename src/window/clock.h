// SPDX-License-Identifier: Apache-2.0
// The clocks that a rolling window can run on, seen from user space.
//
// bpf_jiffies64() is what a program can look at most cheaply, and nothing tells a process what it stands at. But the
// length of a tick is known exactly (clock_getres), and ticks follow CLOCK_MONOTONIC without drift, so one look at both
// together suffices for good: a BPF program of three lines takes it when a window is started. From then on
// clock_gettime() alone says which second a window is in.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "base/result.h"
#include "bpf/window.h"

namespace hotset {

// One instant on three clocks, as in the initial time namespace.
struct KernelTime {
  std::uint64_t jiffies = 0;
  Nanoseconds monotonic{}; // read after the jiffies: not before that jiffy began
  Nanoseconds boottime{};
};

// Loads a BPF program and runs it once. Errors: those of kernel/bpf_error.h.
Result<KernelTime> kernel_time();

// A jiffy: TICK_NSEC of the kernel.
Nanoseconds tick_length();
// CONFIG_HZ of the kernel.
std::uint64_t ticks_per_second();

// Now, on the clock that a window's epoch_ns is on: CLOCK_MONOTONIC for jiffies, else CLOCK_BOOTTIME, as in the initial
// time namespace.
Nanoseconds window_time(window_clock clock);

} // namespace hotset
