// SPDX-License-Identifier: Apache-2.0
#include "kernel/map_keys.h"

#include <bpf/bpf.h>

#include <cerrno>
#include <set>

#include "kernel/object_info.h"

namespace hotset {
namespace {

// So often the walk may begin anew in vain.
constexpr std::uint64_t kWalks = 16;

} // namespace

Result<std::vector<MapKey>> walk_keys(const NextKey& next, std::size_t key_bytes, std::uint32_t max_entries) {
  std::vector<MapKey> keys;
  std::set<MapKey> seen;
  MapKey previous, key(key_bytes);
  for (std::uint64_t steps = 0; steps < kWalks * (std::uint64_t{max_entries} + 1); ++steps) {
    int error = next(previous.empty() ? nullptr : previous.data(), key.data());
    if (error == -ENOENT) return keys;
    if (error != 0) return fail(errno_error(-error, "read", "the keys of a BPF map"));
    if (seen.insert(key).second) keys.push_back(key);
    previous = key;
  }
  return fail(ErrorCode::internal, "read", "the keys of a BPF map", "they go faster than they can be read",
              "try again");
}

Result<std::vector<MapKey>> map_keys(int map_fd) {
  HOTSET_TRY(bpf_map_info info, map_info(map_fd));
  auto next = [map_fd](const void* previous, void* key) {
    return bpf_map_get_next_key(map_fd, previous, key) == 0 ? 0 : -errno;
  };
  return walk_keys(next, info.key_size, info.max_entries);
}

} // namespace hotset
