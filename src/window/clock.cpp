// SPDX-License-Identifier: Apache-2.0
#include "window/clock.h"

#include <bpf/bpf.h>

#include <cerrno>
#include <ctime>

#include "kernel/loader.h"
#include "kernel/time_namespace.h"
#include "window_clock.skel.h"

namespace hotset {
namespace {

constexpr std::string_view kName = "the clock program";

} // namespace

Result<KernelTime> kernel_time() {
  HOTSET_TRY(Skeleton<window_clock_bpf> object, open_skeleton<window_clock_bpf>(kName));
  HOTSET_CHECK(load_skeleton(*object->skeleton, kName));
  bpf_test_run_opts options{};
  options.sz = sizeof(options);
  if (bpf_prog_test_run_opts(bpf_program__fd(object->progs.window_clock), &options) != 0)
    return fail(bpf_error(errno, "run", std::string(kName), "", read_privileges(Files())));
  return KernelTime{.jiffies = object->bss->jiffies,
                    .monotonic = Nanoseconds(object->bss->monotonic_ns),
                    .boottime = Nanoseconds(object->bss->boottime_ns)};
}

// The coarse clocks are those that the tick moves on, and the kernel gives its length as their resolution.
Nanoseconds tick_length() {
  timespec tick{};
  ::clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
  return std::chrono::seconds(tick.tv_sec) + Nanoseconds(tick.tv_nsec);
}

std::uint64_t ticks_per_second() {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  auto tick = static_cast<std::uint64_t>(tick_length().count());
  return (kSecond + tick / 2) / tick;
}

Nanoseconds window_time(window_clock clock) {
  static const Nanoseconds monotonic_offset = time_offset(Files(), "monotonic");
  static const Nanoseconds boottime_offset = time_offset(Files(), "boottime");
  bool jiffies = clock == WINDOW_JIFFIES;
  return read_clock(jiffies ? CLOCK_MONOTONIC : CLOCK_BOOTTIME) - (jiffies ? monotonic_offset : boottime_offset);
}

} // namespace hotset
