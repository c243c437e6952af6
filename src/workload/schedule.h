// SPDX-License-Identifier: Apache-2.0
// How a workload changes in time: a pure function of the time since its start.
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace hotset {

enum class Schedule {
  steady, // the same for ever
  phases, // another hot set each period
  ramp,   // the region grows during a period, is released at its end, and grows again
  churn,  // allocated at the start of a period, freed after half of it
  bursts, // busy for half a period, idle for the other half
};

// What holds at one moment.
struct Moment {
  std::uint64_t phase = 0;      // number of the hot set
  std::uint64_t allocation = 0; // number of the allocation; a new number is new memory
  bool allocated = true;
  bool busy = true;        // false: no page is touched
  double grown = 1.0;      // share of the region in use
  Nanoseconds lasts_until; // nothing but `grown` changes before; far future when nothing ever does

  friend bool operator==(const Moment&, const Moment&) = default;
};

// `period` is above zero, `elapsed` not below.
Moment moment_at(Schedule schedule, Nanoseconds period, Nanoseconds elapsed);

// How many touches are due, for a workload that is to make `rate` of them per second.
class Pacer {
 public:
  // A rate of 0 has no bound.
  explicit Pacer(double rate) : rate_(rate) {}

  // Whole touches that may be made now, at most `most`. They are taken from the credit at once.
  std::uint64_t take(Nanoseconds now, std::uint64_t most);
  // When to ask again if take() gave none.
  [[nodiscard]] Nanoseconds next() const;
  // Time that passed until now earns no credit: an idle half, a time without memory.
  void skip_to(Nanoseconds now) { last_ = now; }

 private:
  double rate_;
  double credit_ = 0;
  Nanoseconds last_{};
};

} // namespace hotset
