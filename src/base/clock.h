// SPDX-License-Identifier: Apache-2.0
// Time, in one clock domain: CLOCK_BOOTTIME, which goes on during suspend and is what the BPF programs stamp with
// (bpf_ktime_get_boot_ns). Rolling windows have a clock of their own (window/clock.h). Wall-clock time is read only to
// be shown.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <string>

namespace hotset {

using Nanoseconds = std::chrono::nanoseconds;

class Clock {
 public:
  virtual ~Clock() = default;
  // Time since boot.
  virtual Nanoseconds now() = 0;
  // Time since 1970, UTC.
  virtual Nanoseconds wall() = 0;
  // Sleeps until now() >= deadline. False when an interrupt (Ctrl-C) ended the sleep early.
  virtual bool sleep_until(Nanoseconds deadline) = 0;
};

class SystemClock final : public Clock {
 public:
  Nanoseconds now() override;
  Nanoseconds wall() override;
  bool sleep_until(Nanoseconds deadline) override;
};

// For tests: sleeping moves the time on at once.
class FakeClock final : public Clock {
 public:
  Nanoseconds now() override { return now_; }
  Nanoseconds wall() override { return now_ + offset_; }
  bool sleep_until(Nanoseconds deadline) override {
    if (deadline > now_) now_ = deadline;
    return true;
  }
  void advance(Nanoseconds by) { now_ += by; }

 private:
  Nanoseconds now_{std::chrono::hours(1)};
  Nanoseconds offset_{std::chrono::hours(24 * 365 * 50)};
};

// That clock now. For one that always is: of the system, of this process, of this thread.
Nanoseconds read_clock(clockid_t id);

// CPU time that this process has used so far, all threads.
Nanoseconds own_cpu_time();

inline double to_seconds(Nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}
inline double to_microseconds(Nanoseconds time) {
  return std::chrono::duration<double, std::micro>(time).count();
}
// Rounds to the nearest nanosecond; the caller has bounded `seconds`.
inline Nanoseconds from_seconds(double seconds) {
  return std::chrono::round<Nanoseconds>(std::chrono::duration<double>(seconds));
}

// "2026-01-02T03:04:05.678Z"
std::string utc_text(Nanoseconds wall);

} // namespace hotset
