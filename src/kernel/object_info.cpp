// SPDX-License-Identifier: Apache-2.0
#include "kernel/object_info.h"

#include <bpf/bpf.h>

#include <cerrno>

namespace hotset {
namespace {

template <class Info>
Result<Info> object_info(int fd, const char* what) {
  Info info{};
  std::uint32_t size = sizeof(info);
  if (bpf_obj_get_info_by_fd(fd, &info, &size) != 0) return fail(errno_error(errno, "ask the kernel about", what));
  return info;
}

} // namespace

Result<bpf_map_info> map_info(int map_fd) {
  return object_info<bpf_map_info>(map_fd, "a BPF map");
}

Result<bpf_prog_info> program_info(int program_fd) {
  return object_info<bpf_prog_info>(program_fd, "a BPF program");
}

bool is_per_cpu(std::uint32_t map_type) {
  return map_type == BPF_MAP_TYPE_PERCPU_ARRAY || map_type == BPF_MAP_TYPE_PERCPU_HASH ||
         map_type == BPF_MAP_TYPE_LRU_PERCPU_HASH;
}

bool is_array(std::uint32_t map_type) {
  return map_type == BPF_MAP_TYPE_PERCPU_ARRAY || map_type == BPF_MAP_TYPE_ARRAY;
}

Result<std::uint64_t> recursion_misses(int program_fd) {
  HOTSET_TRY(bpf_prog_info info, program_info(program_fd));
  return info.recursion_misses;
}

} // namespace hotset
