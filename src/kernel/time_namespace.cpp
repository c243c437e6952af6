// SPDX-License-Identifier: Apache-2.0
#include "kernel/time_namespace.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <limits>

namespace hotset {

Nanoseconds time_offset(const Files& files, std::string_view clock) {
  Result<std::string> text = files.read("/proc/self/timens_offsets"); // Linux 5.6, with CONFIG_TIME_NS
  return text ? parse_time_offset(*text, clock) : Nanoseconds::zero();
}

Nanoseconds parse_time_offset(std::string_view text, std::string_view clock) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  std::size_t at = text.find(clock);
  if (at == std::string_view::npos) return {};
  const char* next = text.data() + at + clock.size();
  const char* end = text.data() + text.size();
  std::array<std::int64_t, 2> parts{}; // seconds and nanoseconds
  for (std::int64_t& part : parts) {
    while (next < end && (*next == ' ' || *next == '\t'))
      ++next;
    auto [stop, error] = std::from_chars(next, end, part);
    if (error != std::errc()) return {};
    next = stop;
  }
  auto [seconds, nanoseconds] = parts;
  // The kernel allows no more (KTIME_SEC_MAX / 2), so more is not the kernel's.
  constexpr std::int64_t kMostSeconds = std::numeric_limits<std::int64_t>::max() / kSecond / 2;
  if (seconds < -kMostSeconds || seconds > kMostSeconds || nanoseconds < 0 || nanoseconds >= kSecond) return {};
  return Nanoseconds(seconds * kSecond + nanoseconds);
}

} // namespace hotset
