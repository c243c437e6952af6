// SPDX-License-Identifier: Apache-2.0
// The windows that there are on this machine, whoever's: found among the maps that are loaded, or behind a pin.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/file.h"
#include "base/result.h"
#include "kernel/map_keys.h"
#include "window/type.h"

namespace hotset {

// A map whose values are windows, opened.
struct WindowMap {
  WindowType type;
  Fd fd;
  Fd meta; // of the published layout: the map with header and totals, <name>_meta of the same object
  std::uint32_t id = 0;
  std::string name;       // the map's, which the kernel cuts at 15 bytes
  std::uint32_t kind = 0; // enum bpf_map_type
  std::uint32_t key_bytes = 0, value_bytes = 0, max_entries = 0;
  std::string key_type; // name of the key's structure, empty when it is none
  std::uint32_t btf_id = 0;

  // The value holds a copy for each possible CPU.
  [[nodiscard]] bool per_cpu() const;
  // Its keys are 0, 1, …
  [[nodiscard]] bool array() const;
  // The map has a window for each of many keys, and not one alone.
  [[nodiscard]] bool keyed() const;
  // Keys that are in the map now (kernel/map_keys.h).
  [[nodiscard]] Result<std::vector<MapKey>> keys() const;
};

// `what`: a path (with a '/') is a pin, or a folder with one pinned window in it; a number is a map's id; anything else
// the name of a map. Errors: not_found, permission, bad_data (a map, but no window; no type
// information; no pin), usage (several windows have that name).
Result<WindowMap> open_window(const Files& files, std::string_view what);
// The same of an open map; `what`: how to call it.
Result<WindowMap> open_window(Fd map, std::string what);
// All of them, by id.
Result<std::vector<WindowMap>> loaded_windows();

} // namespace hotset
