// SPDX-License-Identifier: Apache-2.0
// The traditional measurement: reset the referenced bits of a whole process, wait, count what is referenced again.
//
// Method of Brendan Gregg's wss tools (2018): write 1 to /proc/PID/clear_refs, sleep, read Referenced from smaps_rollup
// (Linux 4.14) or summed from smaps. Limits: clear_refs does not flush the TLB, so a page whose translation stays
// cached is not seen again (too low for small hot loops); what is mapped around a fault, the rest of a huge page, and
// pages of files that others read count though they were not touched (too high); both files walk the whole resident
// set (cost grows with RSS); and the reset takes from the kernel's reclaim what it knew of the process's ages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
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
  std::uint64_t huge = 0;    // resident in transparent huge pages, part of rss; 0 where the kernel has none
  std::uint64_t hugetlb = 0; // resident in hugetlb pages, which neither rss nor referenced counts
};

// Text of /proc/PID/smaps_rollup, or of /proc/PID/smaps, whose mappings are added up. bad_data when one of the first
// four is missing from a mapping, when a number is not one of kB, or when the text is cut off.
Result<MemoryTotals> parse_smaps(std::string_view text);

// One reading: what the kernel says, when, and what the calls cost.
struct ReferenceReading {
  MemoryTotals totals;
  Nanoseconds window{};     // from the end of the reset to the start of the read; zero without a reset
  Nanoseconds reset_time{}; // how long the reset that began the window took; zero without one
  Nanoseconds read_time{};  // how long smaps took
  Nanoseconds stall{};      // since the reading before: the target's mmap lock was held for at most this long
  Nanoseconds cpu{};        // our CPU time since the reading before

  // The window of a page in the middle of the walk: between `window` and `window` + reset_time + read_time for each.
  [[nodiscard]] Nanoseconds effective() const { return window + (reset_time + read_time) / 2; }
};

// Measures one process. Holds its folder in /proc open, so a pid that is given to another process is never touched,
// and opens the files in it anew for each use, so that the process may exec meanwhile (an open smaps would stay with
// the memory of before). One thread at a time.
class Reference {
 public:
  // Errors: permission, gone (not that process any more), unsupported (a kernel without CONFIG_PROC_PAGE_MONITOR).
  static Result<Reference> open(const Files& files, const ProcessId& id, Clock& clock);

  // Clears the referenced bits of all pages; the readings' window starts here. Errors: permission, gone, unsupported.
  Result<> reset();
  // Reads the totals now, with or without a reset before. ErrorCode::gone when the process has ended.
  Result<ReferenceReading> read();
  // "smaps_rollup" or "smaps"
  [[nodiscard]] std::string_view source() const { return source_; }

 private:
  Reference(Clock& clock, pid_t pid, Fd folder, std::string object)
      : clock_(&clock), pid_(pid), folder_(std::move(folder)), object_(std::move(object)) {}

  [[nodiscard]] Result<Fd> open_file(const char* name, int flags, std::string_view operation) const;
  [[nodiscard]] Result<std::string> read_source() const;

  Clock* clock_;
  pid_t pid_;
  Fd folder_;
  std::string object_; // for errors
  const char* source_ = "smaps_rollup";
  std::optional<Nanoseconds> reset_at_; // its end
  Nanoseconds reset_time_{};
  Nanoseconds reset_cpu_{};   // not told yet by a reading
  Nanoseconds reset_stall_{}; // the same
};

} // namespace hotset
