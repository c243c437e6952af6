// SPDX-License-Identifier: Apache-2.0
// A rolling window as it was copied out of the kernel: words, and where in them what stands (bpf/window.h). Plain
// memory: the reader fills it by system calls, a test by hand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/clock.h"
#include "bpf/window.h"

namespace hotset {

struct WindowImage {
  // All zero, that is: not started. `cpus`: the possible ones, or 1 for a window that all CPUs share.
  static WindowImage starts(std::size_t cpus, std::size_t counters);
  static WindowImage published(std::size_t cpus);

  [[nodiscard]] window_header header(std::size_t cpu) const;
  [[nodiscard]] std::span<const __u64> totals(std::size_t cpu) const;
  // The number of its second, then `counters` words.
  [[nodiscard]] std::span<const __u64> slot(std::size_t cpu, std::size_t index) const;
  [[nodiscard]] std::span<__u64> slot(std::size_t cpu, std::size_t index);

  window_layout layout = WINDOW_STARTS;
  std::size_t cpus = 0, counters = 0;
  // One CPU's value after the other's: header, totals, slots. Published: the value of <window>_meta, without slots.
  std::vector<__u64> values;
  // Published only: for each of the 300 entries one CPU's slot after the other's.
  std::vector<__u64> slots;
  // When the copy was complete, on the clock of the window, as in the initial time namespace.
  Nanoseconds taken{};
};

} // namespace hotset
