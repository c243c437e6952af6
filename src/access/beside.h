// SPDX-License-Identifier: Apache-2.0
// Clearing on the target's own processor.
//
// The kernel flushes the TLB after each run that changed something, and where the target runs on another processor that
// is an interrupt there, for which both wait: 10 µs on a virtual machine, when all the rest of a short run takes 1.5.
// On the target's processor no interrupt is needed. So where the runs are short and many we go there, ahead of the
// target by the lowest real-time priority (a thread of ordinary priority can wait for milliseconds behind a busy one),
// and let it run between batches for as long as each took.
#pragma once

#include <sched.h>

#include <optional>
#include <span>

#include "access/runs.h"

namespace hotset {

// Whether that costs less than the interrupts it saves. Runs that may hold the target up for long are not worth it.
bool is_worth_going_beside(std::span<const Run> runs);

// The stay of the calling thread, which comes back with its own processors and priority.
class Beside {
 public:
  // Does not go where it isn't worth it, the target does not run (nothing), or we may not: without CAP_SYS_NICE, on
  // processors that are not ours to use, with a real-time priority of our own.
  static Beside go(std::optional<unsigned> processor, std::span<const Run> runs);
  Beside(Beside&& other) noexcept;
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;
  Beside& operator=(Beside&&) = delete;
  ~Beside();

  [[nodiscard]] bool there() const { return there_; }

 private:
  Beside() = default;

  bool there_ = false;
  int policy_ = 0;
  sched_param priority_{};
  cpu_set_t allowed_{};
};

} // namespace hotset
