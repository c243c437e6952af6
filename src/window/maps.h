// SPDX-License-Identifier: Apache-2.0
// What the maps of a rolling window look like: sizes and shape, checked. Internal to src/window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "window/image.h"
#include "window/start.h"

namespace hotset {

struct WindowShape {
  window_layout layout = WINDOW_STARTS;
  std::size_t cpus = 0; // the possible ones, or 1 where the CPUs share one copy
  std::size_t counters = 0;
  std::uint32_t windows = 0; // entries of the map
  bool is_array = false;     // its keys are 0, 1, …
  std::string name;          // of the map

  [[nodiscard]] WindowImage image() const {
    return layout == WINDOW_STARTS ? WindowImage::starts(cpus, counters) : WindowImage::published(cpus);
  }
};

// Errors: bad_data when these are no maps of a window.
Result<WindowShape> window_shape(const WindowMaps& maps);

} // namespace hotset
