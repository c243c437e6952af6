// SPDX-License-Identifier: Apache-2.0
#include "window/fed.h"

#include <bpf/bpf.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <vector>

namespace hotset {
namespace {

// The maps that a program uses; empty when the kernel does not tell.
std::vector<std::uint32_t> maps_of(const Fd& program) {
  bpf_prog_info info{};
  std::uint32_t size = sizeof(info);
  if (bpf_obj_get_info_by_fd(program.get(), &info, &size) != 0) return {};
  std::vector<std::uint32_t> maps(info.nr_map_ids);
  bpf_prog_info with_maps{};
  with_maps.nr_map_ids = info.nr_map_ids;
  with_maps.map_ids = reinterpret_cast<std::uintptr_t>(maps.data());
  if (bpf_obj_get_info_by_fd(program.get(), &with_maps, &size) != 0) return {};
  return maps;
}

} // namespace

std::optional<bool> is_fed(const WindowMap& window) {
  for (std::uint32_t id = 0;;) {
    if (bpf_prog_get_next_id(id, &id) != 0) return errno == ENOENT ? std::optional(false) : std::nullopt;
    const Fd program(bpf_prog_get_fd_by_id(id));
    if (!program && errno == ENOENT) continue; // it has just gone
    if (!program) return std::nullopt;
    if (std::ranges::count(maps_of(program), window.id) > 0) return true;
  }
}

} // namespace hotset
