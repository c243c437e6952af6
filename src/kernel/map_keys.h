// SPDX-License-Identifier: Apache-2.0
// The keys of a BPF map, each once, while programs change it.
//
// The kernel goes from a key to the next one; from a key that has gone meanwhile it goes to the first, and all begins
// anew. So what was seen is kept, and the walk goes on through it to what was not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"

namespace hotset {

using MapKey = std::vector<std::byte>;

// Nothing is in it twice. A key that was in the map all the time is in it; one that came or went meanwhile may be.
// Error: what the kernel says, and internal when keys go faster than the walk gets on.
Result<std::vector<MapKey>> map_keys(int map_fd);

// As bpf_map_get_next_key() does: puts the key after `previous` (null: the first) into `next` and returns 0, or returns
// the negative errno, -ENOENT at the end.
using NextKey = std::function<int(const void* previous, void* next)>;
// The same, by whatever goes from key to key, of a map with room for so many.
Result<std::vector<MapKey>> walk_keys(const NextKey& next, std::size_t key_bytes, std::uint32_t max_entries);

} // namespace hotset
