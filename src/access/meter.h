// SPDX-License-Identifier: Apache-2.0
// Measures the working set of one process by its Accessed bits, window by window: the census reads, the tracker
// decides, the clears are made and verified, and what it all cost is kept.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "access/ager.h"
#include "access/census.h"
#include "access/clear.h"
#include "access/judge.h"
#include "access/tracker.h"
#include "base/clock.h"
#include "base/result.h"
#include "identity/process.h"

namespace hotset {

struct MeterReading {
  Answer answer;
  ClearPlan::Approach approach = ClearPlan::Approach::exact; // of this window
  std::string reason;                                        // why that approach
  Nanoseconds window{};                                      // from the end of the clear to the start of the reading
  Nanoseconds read_time{};                                   // of the censuses
  Nanoseconds clear_time{};                                  // of the clears, CPU: the target may have waited as long
  Nanoseconds cpu{};                                         // ours, for the whole window
  std::uint64_t runs = 0;                                    // cleared when the window began
  std::uint64_t run_pages = 0;
  std::uint64_t unreadable = 0; // page tables that could not be read: the counts are lower bounds
  bool contested = false;       // another hotset cleared the same bits in this window or the one before
  bool unwatched = false;       // it can't be told whether one did
  bool execed = false;          // another program runs than when the window began: what that had mapped is gone
};

// Whether others cleared the bits of a window's target. What they leave in the TLB hides touches of the next window,
// too.
class Contest {
 public:
  void begin_window(bool cleared) { before_ = std::exchange(now_, false) || cleared; }
  // At a reading; `cleared`: by others, since the window began. Of a contested answer only what was seen is sure.
  bool note(bool cleared, Answer& answer) {
    now_ = now_ || cleared;
    if (now_ || before_) answer.high = static_cast<double>(answer.resident);
    return now_ || before_;
  }

 private:
  bool now_ = false, before_ = false;
};

// A reading this young that ended one window begins the next.
inline constexpr Nanoseconds kBackToBack = std::chrono::milliseconds(5);

class AccessMeter {
 public:
  // `census` must outlive it, and is not to be used by two threads at a time. Errors: those of Census::attach, and
  // permission when the bits can't be cleared.
  static Result<AccessMeter> open(Census& census, const ProcessId& id, Clock& clock, std::uint64_t seed);

  // Begins a window: clears what the aim allows. Right after read(), that reading ends the window before and begins
  // this one, so that windows back to back cost one census each.
  Result<> begin(const Aim& aim);
  // The window so far, which goes on: one clear and many readings give the working set against the window's length.
  Result<MeterReading> read();

 private:
  AccessMeter(Census& census, Census::Subject subject, ScopedClear scoped, FrameFlags flags, Clock& clock,
              std::uint64_t seed);

  Census* census_;
  Clock* clock_;
  Census::Subject subject_;
  ScopedClear scoped_;
  Judge judge_;
  Tracker tracker_;
  Ager ager_;
  ScopedCosts scoped_costs_;
  Snapshot last_;                // the newest whole census
  std::uint64_t last_space_ = 0; // whose address space that is of, and that which began the window
  std::uint64_t space_ = 0;
  Snapshot again_; // what was read after the clear
  bool has_window_ = false;
  std::optional<std::uint32_t> clear_; // the number of the one that began the window
  Contest contest_;
  ClearPlan plan_;
  Nanoseconds began_{}, clear_time_{}, read_time_{}, cpu_{};
};

} // namespace hotset
