// SPDX-License-Identifier: Apache-2.0
// Rolling windows for people and for programs (schema hotset.window/1, docs/schemas.md).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "present/sparkline.h"
#include "present/style.h"
#include "window/view.h"

namespace hotset {

// Which window it is, and whose.
struct WindowLabel {
  std::string name;      // "faults"
  std::uint32_t map = 0; // number of its map
  std::string clock;     // "jiffies" or "boottime"
  // Whom it counts for, where the map holds a window for each of several; fit for a terminal.
  std::string subject;
  std::optional<std::uint64_t> pid; // of that process
  std::optional<bool> fed;          // a program that counts in it is loaded (window/fed.h); nothing: not known
};

// How a window is shown as text.
struct WindowLook {
  Style style{false};
  Blocks blocks = Blocks::plain;
  std::size_t columns = 80;
  bool sparkline = false; // the last column; only where it can be seen
  bool series = false;    // below it a line for each second
};

// Lines without a line feed. What is unknown is "?".
std::vector<std::string> window_text(const WindowLabel& label, const WindowView& view, const WindowLook& look);
// One object without a line feed; `series`: with a list per counter. `wall`: when it was read.
std::string window_json(const WindowLabel& label, const WindowView& view, Nanoseconds wall, bool series);

// One line of a list of windows.
struct WindowListing {
  WindowLabel label;
  std::string map_name; // differs from the window's where the kernel cut it
  std::vector<std::string> counters;
  std::uint64_t windows = 1; // in that map
  std::uint64_t bytes = 0;   // that its values take in the kernel
};
std::vector<std::string> window_list_text(std::span<const WindowListing> windows, const Style& style);
std::string window_listing_json(const WindowListing& window);

} // namespace hotset
