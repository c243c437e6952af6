// SPDX-License-Identifier: Apache-2.0
// A rolling window in simulated memory on a simulated clock: bumped by the code that BPF programs run, read like a real
// one. A test can come in between any two accesses of that code, as an interrupting program does; so this goes before
// what else includes bpf/window.h.
#pragma once

#ifdef WINDOW_BETWEEN_ACCESSES
#error "include window_simulated.h before what includes bpf/window.h"
#endif

namespace hotset {
inline thread_local void (*between_accesses)() = nullptr;
}
#define WINDOW_BETWEEN_ACCESSES() (::hotset::between_accesses != nullptr ? ::hotset::between_accesses() : void())

#include <cstdint>
#include <cstring>
#include <utility>

#include "window/history.h"
#include "window/image.h"
#include "window/start.h"

namespace hotset {

class SimulatedWindow {
 public:
  // Starts when the clock stands at `at`, `late` after the begin of a tick.
  SimulatedWindow(window_layout layout, window_clock clock, std::size_t cpus, std::size_t counters,
                  Nanoseconds at = std::chrono::hours(5), Nanoseconds late = Nanoseconds(0))
      : image_(layout == WINDOW_STARTS ? WindowImage::starts(cpus, counters) : WindowImage::published(cpus)),
        now_(at),
        jiffies_begin_(at - late) {
    header_ = window_started({.jiffies = kFirstJiffy, .monotonic = at, .boottime = at}, layout, counters, clock);
    for (std::size_t cpu = 0; cpu < cpus; ++cpu)
      std::memcpy(head(cpu), &header_, sizeof(header_));
  }

  void advance(Nanoseconds by) { now_ += by; }
  [[nodiscard]] Nanoseconds now() const { return now_; }
  // What the programs see.
  [[nodiscard]] std::uint64_t tick() const {
    if (header_.clock == WINDOW_BOOTTIME) return static_cast<std::uint64_t>(now_.count());
    return kFirstJiffy + static_cast<std::uint64_t>((now_ - jiffies_begin_).count()) / header_.tick_ns;
  }
  [[nodiscard]] std::uint64_t second() const { return window_second(&header_, tick()); }

  void bump(std::size_t cpu, std::size_t counter, std::uint64_t n = 1) {
    std::uint64_t tick = this->tick();
    auto* header = reinterpret_cast<window_header*>(head(cpu));
    auto counters = static_cast<std::uint32_t>(image_.counters);
    __u64* totals = head(cpu) + kHeaderWords;
    if (image_.layout == WINDOW_STARTS) {
      window_add_at(header, totals, totals + counters, counters, totals + counter, n, tick);
    } else {
      std::uint64_t second = window_second(header, tick);
      __u64* slot = published_slot(cpu, window_slot_index(second));
      window_increase(totals + counter, n);
      nested_ ? window_published_turn_nested(slot, second) : window_published_turn(slot, second);
      window_increase(slot + 1 + counter, n);
    }
  }
  // In the published layout: by the code for programs that interrupt each other.
  void bump_nested() { nested_ = true; }

  [[nodiscard]] WindowImage& image() {
    image_.taken = now_;
    return image_;
  }
  WindowHistory read(std::uint64_t seconds = kWindowSeconds) { return WindowHistory::from(image(), seconds).value(); }

  __u64* head(std::size_t cpu) { return &image_.values[cpu * (image_.values.size() / image_.cpus)]; }
  __u64* published_slot(std::size_t cpu, std::size_t index) { return &image_.slots[(index * image_.cpus + cpu) * 7]; }
  // In either layout: the number of its second.
  __u64* slot(std::size_t cpu, std::size_t index) {
    if (image_.layout == WINDOW_PUBLISHED) return published_slot(cpu, index);
    return head(cpu) + kHeaderWords + image_.counters + index * (1 + image_.counters);
  }

 private:
  static constexpr std::size_t kHeaderWords = sizeof(window_header) / sizeof(__u64);
  static constexpr std::uint64_t kFirstJiffy = 4'294'900'000; // as the kernel, which begins just below 2^32

  WindowImage image_;
  window_header header_{};
  Nanoseconds now_, jiffies_begin_;
  bool nested_ = false;
};

} // namespace hotset
