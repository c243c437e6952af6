// SPDX-License-Identifier: Apache-2.0
// From an open window map to what is shown of it: a label and a view for each window in it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"
#include "present/window.h"
#include "window/catalog.h"
#include "window/view.h"

namespace hotset {

struct WindowReading {
  WindowLabel label;
  WindowView view;
};

// What is asked of a window. Ratios as they were typed, for a map that is yet to be opened.
struct WindowQuestion {
  std::uint64_t seconds = 60;
  std::vector<std::string> ratios;
};

// Reads the windows of the map, once: one, or one for each key. None: no key is in it.
Result<std::vector<WindowReading>> read_windows(const Files& files, const WindowMap& map,
                                                const WindowQuestion& question);

// What a list says of it. Its clock is empty when the window has not been started, or the map has no key yet.
WindowListing list_window(const WindowMap& map);

} // namespace hotset
