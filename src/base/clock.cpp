// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <fmt/format.h>
#include <poll.h>

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
  // ppoll on the interrupt's descriptor: a Ctrl-C between the check and the sleep is not missed.
  for (;;) {
    if (interrupt_requested()) return false;
    Nanoseconds left = deadline - now();
    if (left <= Nanoseconds::zero()) return true;
    timespec timeout{};
    timeout.tv_sec = std::chrono::floor<std::chrono::seconds>(left).count();
    timeout.tv_nsec = (left % std::chrono::seconds(1)).count();
    pollfd wake{interrupt_fd(), POLLIN, 0};
    ::ppoll(&wake, wake.fd >= 0 ? 1 : 0, &timeout, nullptr);
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
