// SPDX-License-Identifier: Apache-2.0
#include "window/reader.h"

#include <bpf/bpf.h>
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <utility>

#include "window/maps.h"

namespace hotset {
namespace {

// A slot is torn for some nanoseconds; one that still is after so many readings belongs to a program that was
// interrupted there.
constexpr int kReadings = 4;

} // namespace

Result<WindowReader> WindowReader::open(const WindowMaps& maps) {
  HOTSET_TRY(WindowShape shape, window_shape(maps));
  return WindowReader(maps, shape.image(), shape.name);
}

Result<WindowHistory> WindowReader::read(std::uint64_t seconds, std::uint32_t index) {
  return read_key(&index, seconds);
}

Result<WindowHistory> WindowReader::read_key(const void* key, std::uint64_t seconds) {
  for (int readings = 1;; ++readings) {
    HOTSET_CHECK(copy(key));
    Result<WindowHistory> history = WindowHistory::from(image_, seconds);
    if (!history) return fail(within("read", fmt::format("map {}", name_), std::move(history).error()));
    if (history->torn() == 0 || readings == kReadings) return history;
  }
}

// The time is taken last: what is copied is then of that second or an earlier one, and a slot that was about to be used
// again still shows a number that is out of the window by now.
Result<> WindowReader::copy(const void* key) {
  bool published = image_.layout == WINDOW_PUBLISHED;
  if (bpf_map_lookup_elem(published ? maps_.meta : maps_.window, key, image_.values.data()) != 0)
    return fail(errno_error(errno, "read map", name_));
  if (published) HOTSET_CHECK(copy_slots());
  image_.taken = window_time(static_cast<window_clock>(image_.header(0).clock));
  return {};
}

Result<> WindowReader::copy_slots() {
  if (batches_) {
    std::array<std::uint32_t, WINDOW_SLOTS> keys{};
    std::uint32_t position = 0, count = WINDOW_SLOTS;
    if (bpf_map_lookup_batch(maps_.window, nullptr, &position, keys.data(), image_.slots.data(), &count, nullptr) ==
            0 ||
        errno == ENOENT)
      return {};
    batches_ = false;
  }
  std::size_t entry_words = image_.slots.size() / WINDOW_SLOTS;
  for (std::uint32_t slot = 0; slot < WINDOW_SLOTS; ++slot)
    if (bpf_map_lookup_elem(maps_.window, &slot, &image_.slots[slot * entry_words]) != 0)
      return fail(errno_error(errno, "read map", name_));
  return {};
}

} // namespace hotset
