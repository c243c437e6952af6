// SPDX-License-Identifier: Apache-2.0
#include "estimate/schedule.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"

namespace hotset {
namespace {

constexpr Nanoseconds kSlice = std::chrono::milliseconds(250);
constexpr Nanoseconds kLongest = std::chrono::hours(24 * 366);
constexpr double kStretched = 1.25;

std::unexpected<Error> unfit(std::string cause, std::string remedy) {
  return fail(ErrorCode::usage, "plan the windows", "", std::move(cause), std::move(remedy));
}

class Runner {
 public:
  Runner(const Schedule& schedule, Meter& meter, Clock& clock, const Watcher& watcher)
      : schedule_(schedule), meter_(meter), clock_(clock), watcher_(watcher), start_(clock.now()) {}

  Result<Outcome> run() {
    for (std::uint64_t n = 0; wanted(n); ++n) {
      Result<bool> going = step(n);
      if (!going && going.error().code == ErrorCode::gone) return outcome(Ending::target_gone);
      if (!going) return fail(std::move(going).error());
      if (!*going) return outcome(ending_);
    }
    return outcome(Ending::complete);
  }

 private:
  [[nodiscard]] Outcome outcome(Ending ending) const { return {ending, readings_}; }

  [[nodiscard]] bool has_windows_of_its_own() const { return schedule_.mode == Mode::repeat; }

  // Length of the window that reading n sees; zero when it has none.
  [[nodiscard]] Nanoseconds length(std::uint64_t n) const {
    switch (schedule_.mode) {
      case Mode::repeat:
        return schedule_.window;
      case Mode::cumulative:
        return schedule_.window * static_cast<std::int64_t>(n + 1);
      case Mode::profile:
        return schedule_.window * (std::int64_t{1} << n);
      case Mode::snapshot:
        break;
    }
    return Nanoseconds::zero();
  }

  // When the window of reading n begins (a snapshot: when it is taken).
  [[nodiscard]] Nanoseconds begin_time(std::uint64_t n) const {
    if (n == 0) return start_;
    if (schedule_.mode == Mode::snapshot) return window_start_ + schedule_.interval.value_or(schedule_.window);
    if (has_windows_of_its_own())
      return std::max(clock_.now(), window_start_ + schedule_.interval.value_or(Nanoseconds::zero()));
    return window_start_;
  }

  [[nodiscard]] bool wanted(std::uint64_t n) const {
    if (schedule_.count && n >= *schedule_.count) return false;
    return !schedule_.duration || begin_time(n) + length(n) <= start_ + *schedule_.duration + schedule_.window / 2;
  }

  // True when the deadline came; otherwise ending_ says what came before it.
  bool wait_until(Nanoseconds deadline, std::uint64_t n) {
    Nanoseconds began = clock_.now();
    while (clock_.now() < deadline) {
      Nanoseconds next = std::min(deadline, clock_.now() + kSlice);
      if (!clock_.sleep_until(next)) {
        ending_ = Ending::interrupted;
        return false;
      }
      if (next < deadline && !watcher_.target_alive()) {
        ending_ = Ending::target_gone;
        return false;
      }
      watcher_.waiting({n + 1, schedule_.count, clock_.now() - began, deadline - began});
    }
    return true;
  }

  // One reading with what comes before it; false when the run is over, for the reason in ending_.
  Result<bool> step(std::uint64_t n) {
    bool begins = n == 0 || has_windows_of_its_own() || schedule_.mode == Mode::snapshot;
    if (begins) {
      if (!wait_until(begin_time(n), n)) return false;
      if (schedule_.mode != Mode::snapshot) HOTSET_CHECK(meter_.begin());
      window_start_ = clock_.now();
    }
    bool whole = wait_until(window_start_ + length(n), n);
    if (!whole && ending_ != Ending::interrupted) return false;
    HOTSET_TRY(Estimate estimate, meter_.read());
    HOTSET_TRY(bool more, hand_over(std::move(estimate), n, whole));
    return more && whole;
  }

  Result<bool> hand_over(Estimate estimate, std::uint64_t n, bool whole) {
    if (schedule_.mode != Mode::snapshot) {
      double requested = to_seconds(length(n));
      estimate.requested_s = requested;
      if (!whole)
        estimate.flags.push_back({"interrupted", "the window was cut short by an interrupt"});
      else if (estimate.effective_s && *estimate.effective_s > requested * kStretched)
        estimate.flags.push_back({"window_stretched", "measuring took so long that the window is longer than asked"});
    }
    ++readings_;
    HOTSET_TRY(bool more, watcher_.reading(estimate));
    if (!more) ending_ = Ending::stopped;
    return more;
  }

  const Schedule& schedule_;
  Meter& meter_;
  Clock& clock_;
  const Watcher& watcher_;
  Nanoseconds start_;
  Nanoseconds window_start_{};
  std::uint64_t readings_ = 0;
  Ending ending_ = Ending::complete;
};

} // namespace

Result<> check_schedule(const Schedule& schedule) {
  bool grows = schedule.mode == Mode::cumulative || schedule.mode == Mode::profile;
  if (schedule.count == 0) return unfit("a count of 0 measures nothing", "give a count of at least 1");
  if (grows && schedule.interval) return unfit("a growing window has no interval", "leave --interval out");
  if (schedule.mode == Mode::repeat && schedule.interval && *schedule.interval < schedule.window)
    return unfit(fmt::format("an interval of {} is shorter than the window of {}", human_duration(*schedule.interval),
                             human_duration(schedule.window)),
                 "give a longer --interval or a shorter window");
  if (schedule.mode == Mode::profile) {
    if (!schedule.count) return unfit("a profile needs a number of steps", "give --steps");
    if (*schedule.count > 62 || schedule.window > kLongest / (std::int64_t{1} << (*schedule.count - 1)))
      return unfit("its last window would be longer than a year", "give fewer --steps or a shorter first window");
  }
  return {};
}

Result<Outcome> run_schedule(const Schedule& schedule, Meter& meter, Clock& clock, const Watcher& watcher) {
  HOTSET_CHECK(check_schedule(schedule));
  return Runner(schedule, meter, clock, watcher).run();
}

} // namespace hotset
