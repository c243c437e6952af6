// SPDX-License-Identifier: Apache-2.0
// The ways to measure a window of one process: one table, one row each.
//
// A meter starts a window and reads it, once or again while the window goes on; when to do so is the schedule's
// (schedule.h). All that a method knows, its doubts included, comes back in the estimate record.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "base/clock.h"
#include "base/file.h"
#include "estimate/record.h"
#include "identity/process.h"

namespace hotset {

// One process, one thread at a time.
class Meter {
 public:
  virtual ~Meter() = default;

  // Starts a window; the one before is over.
  virtual Result<> begin() = 0;
  // The window so far, which goes on. `requested_s` is left to the caller. Without a begin() before: what there is to
  // say without a window (Method::snapshots). ErrorCode::gone when the process has ended.
  virtual Result<Estimate> read() = 0;
};

struct Method {
  std::string_view name;
  std::string_view summary; // what it does, one phrase
  std::string_view needs;   // of kernel and privileges, one phrase
  bool automatic;           // a candidate of "auto", in the order of the table
  bool snapshots;           // read() without begin() tells something
  bool counts_faults;       // tells page faults and no working set
  Result<std::unique_ptr<Meter>> (*open)(const Files& files, const Process& target, Clock& clock);
};

std::span<const Method> methods();

struct OpenedMeter {
  const Method* method;
  std::unique_ptr<Meter> meter;
};

// Opens the method of that name, or, for "auto", the first automatic one that opens. Errors: usage (no such method), or
// why it (for "auto": the last of them) does not open.
Result<OpenedMeter> open_meter(std::string_view name, const Files& files, const Process& target, Clock& clock);

// The rows.
Result<std::unique_ptr<Meter>> open_reference_meter(const Files& files, const Process& target, Clock& clock);
Result<std::unique_ptr<Meter>> open_fault_meter(const Files& files, const Process& target, Clock& clock);

} // namespace hotset
