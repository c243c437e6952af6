// SPDX-License-Identifier: Apache-2.0
#include "window/start.h"

#include <bpf/bpf.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "window/maps.h"

namespace hotset {
namespace {

Result<> put(int fd, std::uint32_t key, const std::vector<__u64>& values, const WindowShape& shape) {
  if (bpf_map_update_elem(fd, &key, values.data(), BPF_ANY) == 0) return {};
  return fail(errno_error(errno, "start", fmt::format("the rolling window in map {}", shape.name)));
}

} // namespace

// The epoch lies a second back: seconds are numbered from 1, and a slot that was never used has number 0.
window_header window_started(const KernelTime& time, window_layout layout, std::size_t counters, window_clock clock) {
  bool jiffies = clock == WINDOW_JIFFIES;
  window_header header{};
  header.magic = WINDOW_MAGIC;
  header.version = WINDOW_VERSION;
  header.layout = static_cast<std::uint16_t>(layout);
  header.counters = static_cast<std::uint16_t>(counters);
  header.slots = WINDOW_SLOTS;
  header.clock = clock;
  header.ticks_per_s = jiffies ? ticks_per_second() : 1'000'000'000;
  header.tick_ns = jiffies ? static_cast<std::uint64_t>(tick_length().count()) : 1;
  auto boottime = static_cast<std::uint64_t>(time.boottime.count());
  auto monotonic = static_cast<std::uint64_t>(time.monotonic.count());
  header.epoch = (jiffies ? time.jiffies : boottime) - header.ticks_per_s;
  header.epoch_ns = (jiffies ? monotonic : boottime) - header.ticks_per_s * header.tick_ns;
  return header;
}

Result<> start_window(const WindowMaps& maps, window_clock clock) {
  HOTSET_TRY(WindowShape shape, window_shape(maps));
  if (!shape.is_array)
    return fail(ErrorCode::bad_data, "start", fmt::format("the rolling windows in map {}", shape.name),
                "it is no array: the windows of a hash are started by who inserts them");
  HOTSET_TRY(KernelTime time, kernel_time());
  window_header header = window_started(time, shape.layout, shape.counters, clock);
  WindowImage image = shape.image();
  std::size_t value_words = image.values.size() / image.cpus;
  for (std::size_t cpu = 0; cpu < image.cpus; ++cpu)
    std::memcpy(&image.values[cpu * value_words], &header, sizeof(header));
  if (shape.layout == WINDOW_PUBLISHED) {
    std::vector<__u64> empty(image.slots.size() / WINDOW_SLOTS);
    for (std::uint32_t slot = 0; slot < WINDOW_SLOTS; ++slot)
      HOTSET_CHECK(put(maps.window, slot, empty, shape));
    return put(maps.meta, 0, image.values, shape);
  }
  for (std::uint32_t window = 0; window < shape.windows; ++window)
    HOTSET_CHECK(put(maps.window, window, image.values, shape));
  return {};
}

} // namespace hotset
