// SPDX-License-Identifier: Apache-2.0
#include "window/fed.h"

#include <bpf/bpf.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <vector>

#include "kernel/object_info.h"

namespace hotset {
namespace {

// The maps that a program uses; nothing when the kernel does not tell.
std::optional<std::vector<std::uint32_t>> maps_of(const Fd& program) {
  const Result<bpf_prog_info> info = program_info(program.get());
  if (!info) return std::nullopt;
  std::vector<std::uint32_t> maps(info->nr_map_ids);
  bpf_prog_info with_maps{};
  std::uint32_t size = sizeof(with_maps);
  with_maps.nr_map_ids = info->nr_map_ids;
  with_maps.map_ids = reinterpret_cast<std::uintptr_t>(maps.data());
  if (bpf_obj_get_info_by_fd(program.get(), &with_maps, &size) != 0) return std::nullopt;
  return maps;
}

} // namespace

std::optional<bool> is_fed(const WindowMap& window) {
  bool all_known = true;
  for (std::uint32_t id = 0;;) {
    if (bpf_prog_get_next_id(id, &id) != 0) return errno == ENOENT && all_known ? std::optional(false) : std::nullopt;
    const Fd program(bpf_prog_get_fd_by_id(id));
    if (!program && errno == ENOENT) continue; // it has just gone
    if (!program) return std::nullopt;
    const std::optional<std::vector<std::uint32_t>> maps = maps_of(program);
    all_known = all_known && maps;
    if (maps && std::ranges::count(*maps, window.id) > 0) return true;
  }
}

} // namespace hotset
