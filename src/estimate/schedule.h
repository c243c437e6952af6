// SPDX-License-Identifier: Apache-2.0
// When windows begin and when they are read: once, again and again, growing, or not at all.
//
// Waiting is done in slices, so that the end of the target is noticed in the middle of a long window, and so that
// whoever waits can be shown how far it is.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/clock.h"
#include "estimate/meter.h"

namespace hotset {

enum class Mode {
  repeat,     // each reading has a window of its own
  cumulative, // one window that grows: read after 1, 2, 3, … times `window`
  profile,    // one window that grows: read after 1, 2, 4, … times `window`
  snapshot    // no window: read what there is, every `interval`
};

struct Schedule {
  Mode mode = Mode::repeat;
  Nanoseconds window = std::chrono::seconds(1);
  std::optional<Nanoseconds> interval; // repeat, snapshot: from one start to the next; absent: no pause, `window`
  std::optional<std::uint64_t> count;  // of readings
  std::optional<Nanoseconds> duration; // no window is begun that would end more than half a window later than this
};

// Errors (usage): what does not fit together, and windows that would grow beyond a year.
Result<> check_schedule(const Schedule& schedule);

// How far it is with the reading that is being waited for.
struct Wait {
  std::uint64_t reading = 0;          // from 1
  std::optional<std::uint64_t> count; // of how many
  Nanoseconds waited{}, wait{};       // so much of so much
};

struct Watcher {
  std::function<bool()> target_alive;
  std::function<void(const Wait&)> waiting;
  // Takes a reading; false ends the run.
  std::function<Result<bool>(const Estimate&)> reading;
};

enum class Ending { complete, interrupted, target_gone, stopped };

struct Outcome {
  Ending ending = Ending::complete;
  std::uint64_t readings = 0;
};

// Runs the schedule. An interrupt ends the window early: it is still read, and carries the flag "interrupted". A target
// that ends is an ending and no error; the window it ended in cannot be read.
Result<Outcome> run_schedule(const Schedule& schedule, Meter& meter, Clock& clock, const Watcher& watcher);

} // namespace hotset
