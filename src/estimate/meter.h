// SPDX-License-Identifier: Apache-2.0
// The ways to measure a window of a process, or of several as one: one table, one row each.
//
// A meter starts a window and reads it, once or again while the window goes on; when to do so is the schedule's
// (schedule.h). All that a method knows, its doubts included, comes back in the estimate record.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "estimate/record.h"
#include "identity/group.h"
#include "identity/process.h"

namespace hotset {

// One target, one thread at a time.
class Meter {
 public:
  virtual ~Meter() = default;

  // Starts a window; the one before is over.
  virtual Result<> begin() = 0;
  // The window so far, which goes on. `requested_s` is left to the caller. Without a begin() before: what there is to
  // say without a window (Method::snapshots). ErrorCode::gone when the process has ended.
  virtual Result<Estimate> read() = 0;
  // Of a group: whether any of its processes that were seen last is alive.
  [[nodiscard]] virtual bool group_alive() const { return true; }
};

// What the user allows and wants of each window. A method without a choice does not look at it.
struct MeterOptions {
  Nanoseconds window = std::chrono::seconds(1);
  double budget = 0.01;  // share of the window that clearing may take, of one CPU and of the target's time
  double error = 0.02;   // half-width of the interval to aim for: a share of the RSS …
  bool relative = false; // … or of the working set that the window before showed
  double confidence = 0.95;
  bool snapshot = false; // readings without a window are wanted: of "auto" only methods that have them
};

struct Method {
  std::string_view name;
  std::string_view summary; // what it does, one phrase
  std::string_view needs;   // of kernel and privileges, one phrase
  bool automatic;           // a candidate of "auto", in the order of the table
  bool snapshots;           // read() without begin() tells something
  bool counts_faults;       // tells page faults and no working set
  bool chooses;             // between other methods of the table: what they tell, it tells
  bool misses_cached;       // leaves the TLB alone: what stays in it is not seen to be touched
  Result<std::unique_ptr<Meter>> (*open)(const Files& files, const Process& target, Clock& clock,
                                         const MeterOptions& options);
  // Null: measures single processes only. The group must outlive the meter.
  Result<std::unique_ptr<Meter>> (*open_group)(const Files& files, Group& target, Clock& clock,
                                               const MeterOptions& options) = nullptr;
};

std::span<const Method> methods();

// A method that "auto" passed over, and why.
struct MethodRefusal {
  const Method* method;
  Error error;
};

struct OpenedMeter {
  const Method* method;
  std::unique_ptr<Meter> meter;
  std::vector<MethodRefusal> refusals;
};

// Opens the method of that name, or, for "auto", the first automatic one that opens. Errors: usage (no such method), or
// why it (for "auto": the last of them) does not open.
Result<OpenedMeter> open_meter(std::string_view name, const Files& files, const Process& target, Clock& clock,
                               const MeterOptions& options = {});
// The same for several processes as one.
Result<OpenedMeter> open_group_meter(std::string_view name, const Files& files, Group& target, Clock& clock,
                                     const MeterOptions& options = {});

// The rows.
Result<std::unique_ptr<Meter>> open_access_meter(const Files& files, const Process& target, Clock& clock,
                                                 const MeterOptions& options);
Result<std::unique_ptr<Meter>> open_exact_meter(const Files& files, const Process& target, Clock& clock,
                                                const MeterOptions& options);
Result<std::unique_ptr<Meter>> open_sample_meter(const Files& files, const Process& target, Clock& clock,
                                                 const MeterOptions& options);
Result<std::unique_ptr<Meter>> open_group_access_meter(const Files& files, Group& target, Clock& clock,
                                                       const MeterOptions& options);
Result<std::unique_ptr<Meter>> open_group_exact_meter(const Files& files, Group& target, Clock& clock,
                                                      const MeterOptions& options);
Result<std::unique_ptr<Meter>> open_group_sample_meter(const Files& files, Group& target, Clock& clock,
                                                       const MeterOptions& options);
Result<std::unique_ptr<Meter>> open_reference_meter(const Files& files, const Process& target, Clock& clock,
                                                    const MeterOptions& options);
Result<std::unique_ptr<Meter>> open_fault_meter(const Files& files, const Process& target, Clock& clock,
                                                const MeterOptions& options);

} // namespace hotset
