// SPDX-License-Identifier: Apache-2.0
// What the kernel says of a loaded map or program, by its descriptor.
#pragma once

#include <linux/bpf.h>

#include <cstdint>

#include "base/result.h"

namespace hotset {

Result<bpf_map_info> map_info(int map_fd);
Result<bpf_prog_info> program_info(int program_fd);

// The value of such a map holds a copy for each possible CPU. `map_type`: enum bpf_map_type.
bool is_per_cpu(std::uint32_t map_type);
// The keys of such a map are 0, 1, …
bool is_array(std::uint32_t map_type);

// How often the kernel skipped the program because it was running already on that CPU; 0 as well where the kernel does
// not count it (before Linux 5.12; for kprobes, tracepoints and perf events before 6.7).
Result<std::uint64_t> recursion_misses(int program_fd);

} // namespace hotset
