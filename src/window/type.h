// SPDX-License-Identifier: Apache-2.0
// Is this map a rolling window, and what does it count? Its type information (BTF) says: the names that WINDOW(cache,
// lookups, hits) declares become members of the map's value. So a window of any program can be read, by people who know
// nothing of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bpf/window.h"

struct btf;

namespace hotset {

struct WindowType {
  std::string name; // "cache"
  window_layout layout = WINDOW_STARTS;
  std::vector<std::string> counters; // in the order of the value's words

  friend bool operator==(const WindowType&, const WindowType&) = default;
};

// By the type of a map's value, as window.bpf.h makes it. Nothing when it is no window: its shape counts and not its
// name alone. Of the published layout the map with the 300 seconds is meant. Pure.
std::optional<WindowType> window_type(const btf& types, std::uint32_t value_type);

} // namespace hotset
