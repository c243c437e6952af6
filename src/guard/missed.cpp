// SPDX-License-Identifier: Apache-2.0
#include "guard/missed.h"

#include <bpf/bpf.h>

#include <cerrno>

#include "base/fd.h"
#include "kernel/object_info.h"

namespace hotset {

Result<std::uint64_t> missed_runs(const GuardJudges& judges) {
  std::uint64_t missed = 0;
  for (std::uint32_t id : judges) {
    if (id == 0) continue;
    Fd program(bpf_prog_get_fd_by_id(id));
    if (!program) return fail(errno_error(errno, "open", "a program of the policy"));
    HOTSET_TRY(std::uint64_t of_this, recursion_misses(program.get()));
    missed += of_this;
  }
  return missed;
}

} // namespace hotset
