// SPDX-License-Identifier: Apache-2.0
#include "guard/missed.h"

#include <bpf/bpf.h>

#include <cerrno>
#include <string>

#include "base/fd.h"

namespace hotset {
namespace {

Result<bpf_prog_info> program_info(int fd) {
  bpf_prog_info info{};
  std::uint32_t size = sizeof(info);
  if (bpf_obj_get_info_by_fd(fd, &info, &size) != 0)
    return fail(errno_error(errno, "ask the kernel about", "a program of the policy"));
  return info;
}

} // namespace

Result<std::uint32_t> program_id(int program_fd) {
  HOTSET_TRY(bpf_prog_info info, program_info(program_fd));
  return info.id;
}

Result<std::uint64_t> missed_runs(const GuardJudges& judges) {
  std::uint64_t missed = 0;
  for (std::uint32_t id : judges) {
    if (id == 0) continue;
    Fd program(bpf_prog_get_fd_by_id(id));
    if (!program) return fail(errno_error(errno, "open", "a program of the policy"));
    HOTSET_TRY(bpf_prog_info info, program_info(program.get()));
    missed += info.recursion_misses;
  }
  return missed;
}

} // namespace hotset
