// SPDX-License-Identifier: Apache-2.0
// Clears Accessed bits of another process.
//
// MADV_COLD by process_madvise(2) (Linux 5.10) clears them for just the ranges it is given and flushes the TLB. It also
// moves the pages to the kernel's inactive list: under memory pressure, a page that then stays cold goes a little
// earlier than it would have (docs/access.md has the measurement). It passes silently over pages that are mapped more
// than once, and refuses locked, hugetlb and device mappings.
//
// /proc/PID/clear_refs clears a whole process: 2 the anonymous memory, 3 what has a file (libraries, shared memory).
// It reaches the pages that MADV_COLD passes over, but walks everything and leaves the TLB alone: a page whose
// translation stays cached is not seen again until it is evicted.
#pragma once

#include <cstdint>
#include <span>

#include "access/runs.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/result.h"

namespace hotset {

struct ClearReport {
  std::uint64_t runs = 0, pages = 0; // done
  std::uint64_t refused = 0;         // runs that the kernel refused: unmapped since, or locked
  Nanoseconds took{};                // of our CPU: on a busy machine the wall clock would count others' work
  bool beside = false;               // on the target's own processor (access/ager.h)
};

// In turns: the target, on whose processor we are, runs after each call, of some 0.2 ms, for as long as that took.
enum class Pace { steady, in_turns };

// Whether we may clear at all. Errors: as age_runs().
Result<> may_age(int pidfd);

// All runs, in batches; a refused run does not stop the rest. Errors: gone, permission (needs CAP_SYS_NICE and the
// right to ptrace), unsupported.
Result<ClearReport> age_runs(int pidfd, std::span<const Run> runs, Pace pace = Pace::steady);

// Of the running kernel. Pages for a flush: kFlushPages, and more where debugfs says that this machine was tuned so
// (tlb_single_page_flush_ceiling); where that can't be read, it is assumed not to be. Stopping at folios: all before
// Linux 6.10 do, and one whose release can't be read is taken for one that does.
AgeTraits age_traits(const Files& files);

class ScopedClear {
 public:
  enum class Scope : char { anonymous = '2', file = '3' };

  static Result<ScopedClear> open(pid_t pid);
  // The CPU time it took: the target's page-table locks were held one by one meanwhile.
  Result<Nanoseconds> clear(Scope scope);

 private:
  Fd fd_;
};

} // namespace hotset
