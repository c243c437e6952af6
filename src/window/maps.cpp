// SPDX-License-Identifier: Apache-2.0
#include "window/maps.h"

#include <bpf/libbpf.h>
#include <fmt/format.h>

#include <utility>

#include "kernel/object_info.h"

namespace hotset {
namespace {

constexpr std::uint32_t kMetaBytes = sizeof(window_header) + WINDOW_PUBLISHED_COUNTERS * sizeof(std::uint64_t);

// 0 when that is not the size of a window.
std::size_t counters_in(std::uint32_t value_bytes) {
  for (std::size_t counters = 1; counters <= WINDOW_MAX_COUNTERS; ++counters)
    if (WINDOW_WORDS(counters) * sizeof(std::uint64_t) == value_bytes) return counters;
  return 0;
}

} // namespace

Result<WindowShape> window_shape(const WindowMaps& maps) {
  HOTSET_TRY(bpf_map_info info, map_info(maps.window));
  WindowShape shape{.windows = info.max_entries, .name = info.name};
  shape.is_array = is_array(info.type);
  int cpus = is_per_cpu(info.type) ? libbpf_num_possible_cpus() : 1;
  if (cpus < 0) return fail(errno_error(-cpus, "count", "the possible CPUs"));
  shape.cpus = static_cast<std::size_t>(cpus);
  auto refuse = [&](std::string cause) {
    return fail(ErrorCode::bad_data, "read", fmt::format("map {} as a rolling window", shape.name), std::move(cause));
  };
  if (maps.meta < 0) {
    shape.counters = counters_in(info.value_size);
    if (shape.counters == 0)
      return refuse(fmt::format("values of {} bytes are no windows of any number of counters", info.value_size));
    return shape;
  }
  HOTSET_TRY(bpf_map_info meta, map_info(maps.meta));
  shape.layout = WINDOW_PUBLISHED;
  shape.counters = WINDOW_PUBLISHED_COUNTERS;
  if (info.type != BPF_MAP_TYPE_PERCPU_ARRAY || info.value_size != sizeof(window_published_slot) ||
      info.max_entries != WINDOW_SLOTS || meta.type != BPF_MAP_TYPE_PERCPU_ARRAY || meta.value_size != kMetaBytes)
    return refuse(
        "it has not the published layout: 300 entries of 56 bytes per CPU, with header and totals in a map "
        "beside it");
  shape.windows = 1;
  return shape;
}

} // namespace hotset
