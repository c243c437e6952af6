// SPDX-License-Identifier: Apache-2.0
// Reads rolling windows out of the kernel: by one system call in the usual layout, whatever the number of CPUs and
// seconds, or by a few in the published one.
//
//   HOTSET_TRY(WindowReader reader, WindowReader::open({.window = bpf_map__fd(map)}));
//   HOTSET_TRY(WindowHistory history, reader.read());
//   history.last(60).rate(0);
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "window/history.h"
#include "window/image.h"
#include "window/start.h"

namespace hotset {

class WindowReader {
 public:
  // The descriptors are borrowed as long as the reader lives. Errors: bad_data when these are no maps of a window.
  static Result<WindowReader> open(const WindowMaps& maps);

  // The window of that index, its last `seconds`. A torn one is read again, a few times. Error: bad_data when it has
  // not been started, or was started by another version.
  Result<WindowHistory> read(std::uint64_t seconds = kWindowSeconds, std::uint32_t index = 0);
  // The window of that key, where the map has keys of its own. not_found when there is none.
  Result<WindowHistory> read_key(const void* key, std::uint64_t seconds = kWindowSeconds);

  [[nodiscard]] window_layout layout() const { return image_.layout; }
  [[nodiscard]] std::size_t counters() const { return image_.counters; }
  [[nodiscard]] std::size_t cpus() const { return image_.cpus; }
  // What was read last.
  [[nodiscard]] const WindowImage& image() const { return image_; }

 private:
  WindowReader(const WindowMaps& maps, WindowImage image, std::string name)
      : maps_(maps), image_(std::move(image)), name_(std::move(name)) {}

  Result<> copy(const void* key);
  Result<> copy_slots();

  WindowMaps maps_;
  WindowImage image_;
  std::string name_;
  bool batches_ = true; // until the kernel says that it has none for per-CPU arrays (before Linux 5.13)
};

} // namespace hotset
