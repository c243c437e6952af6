// SPDX-License-Identifier: Apache-2.0
// The traditional measurement: reset the referenced bits of a whole process, wait, count what is referenced again.
//
// Method of Brendan Gregg's wss tools (2018): write 1 to /proc/PID/clear_refs, sleep, read Referenced from smaps_rollup
// (Linux 4.14) or summed from smaps. Limits: clear_refs does not flush the TLB, so a page whose translation stays
// cached is not seen again (too low for small hot loops); both files walk the whole resident set (cost grows with RSS).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/file.h"
#include "identity/process.h"

namespace hotset {

// Sums over all mappings of a process, in bytes.
struct MemoryTotals {
  std::uint64_t rss = 0;
  std::uint64_t pss = 0;
  std::uint64_t referenced = 0;
  std::uint64_t swap = 0;
};

// Text of /proc/PID/smaps_rollup, or of /proc/PID/smaps, whose mappings are added up. bad_data when a field is missing
// or is not a number of kB.
Result<MemoryTotals> parse_smaps(std::string_view text);

// One reading: what the kernel says, when, and what the two calls cost us.
struct ReferenceReading {
  MemoryTotals totals;
  Nanoseconds window{};     // from the end of the reset (or of the previous reading's reset) to the start of the read
  Nanoseconds reset_time{}; // how long clear_refs took: the target's mmap lock is held meanwhile
  Nanoseconds read_time{};  // how long smaps took
  Nanoseconds cpu{};        // our CPU time for both
};

// Measures one process. Holds its /proc files open, so a pid that is given to another process is never touched.
class Reference {
 public:
  // Errors: permission, not_found, unsupported (no clear_refs: kernel without CONFIG_PROC_PAGE_MONITOR).
  static Result<Reference> open(const Files& files, const ProcessId& id, Clock& clock);

  // Clears the referenced bits of all pages; the next reading's window starts here.
  Result<> reset();
  // Reads the totals now. ErrorCode::gone when the process has ended.
  Result<ReferenceReading> read();
  // "smaps_rollup" or "smaps"
  [[nodiscard]] std::string_view source() const { return source_; }

 private:
  Reference(Clock& clock) : clock_(&clock) {}

  Clock* clock_;
  Fd clear_refs_;
  Fd smaps_;
  std::string_view source_;
  std::string object_;
  Nanoseconds reset_at_{};
  Nanoseconds reset_time_{};
  Nanoseconds reset_cpu_{};
};

} // namespace hotset
