// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <fmt/format.h>

#include "base/interrupt.h"

namespace hotset {

Nanoseconds read_clock(clockid_t id) {
  timespec time{};
  ::clock_gettime(id, &time);
  return std::chrono::seconds(time.tv_sec) + Nanoseconds(time.tv_nsec);
}

Nanoseconds SystemClock::now() {
  return read_clock(CLOCK_BOOTTIME);
}

Nanoseconds SystemClock::wall() {
  return read_clock(CLOCK_REALTIME);
}

bool SystemClock::sleep_until(Nanoseconds deadline) {
  // By waiting for descriptors: a Ctrl-C between the check and the sleep is not missed.
  for (;;) {
    if (end_requested()) return false;
    Nanoseconds left = deadline - now();
    if (left <= Nanoseconds::zero()) return true;
    wait_readable(-1, left);
  }
}

Nanoseconds own_cpu_time() {
  return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

std::string utc_text(Nanoseconds wall) {
  auto milliseconds = std::chrono::floor<std::chrono::milliseconds>(wall).count();
  std::time_t seconds = milliseconds / 1000;
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                     utc.tm_hour, utc.tm_min, utc.tm_sec, milliseconds % 1000);
}

} // namespace hotset
