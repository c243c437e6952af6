// SPDX-License-Identifier: Apache-2.0
// hotset estimate: the live estimate of a process from its page faults and a trained model.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <functional>
#include <memory>

#include "base/interrupt.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/quantities.h"
#include "estimate/live.h"
#include "present/estimate_json.h"
#include "present/live_table.h"
#include "present/output.h"

namespace hotset {
namespace {

struct Options {
  TargetOptions target;
  std::string model;
  std::string interval = "1s";
  std::string window;
  std::string duration;
  std::uint64_t count = 0;
  std::string hook;
  bool verify = false;
  bool json = false;
};

// When the estimates are due and when to stop.
struct Schedule {
  Nanoseconds interval;
  Nanoseconds window;
  std::optional<Nanoseconds> end;
  std::uint64_t count;

  [[nodiscard]] bool done(std::uint64_t printed, Nanoseconds now) const {
    return (count > 0 && printed >= count) || (end && now >= *end);
  }
};

// A model knows windows of one length: that of its training data. So the window is the model's, and the interval is
// only how often an estimate is printed.
Result<Schedule> schedule_of(const Options& options, const ModelInfo& info, Nanoseconds now) {
  Schedule schedule{
      .interval = {}, .window = from_seconds(info.window_median_s), .end = std::nullopt, .count = options.count};
  HOTSET_TRY(schedule.interval, parse_interval(options.interval));
  if (!options.window.empty()) {
    HOTSET_TRY(schedule.window, parse_interval(options.window));
  }
  if (schedule.window > schedule.interval) schedule.interval = schedule.window;
  if (!options.duration.empty()) {
    HOTSET_TRY(Nanoseconds duration, parse_duration(options.duration));
    schedule.end = now + duration;
  }
  return schedule;
}

// Prints estimates until the schedule, an interrupt, the reader or an error ends it. `printed` counts them.
Result<> print_estimates(Observer& observer, LiveEstimator& estimator, Clock& clock, const Schedule& schedule,
                         const std::function<Result<bool>(const Estimate&)>& print, bool verify,
                         std::uint64_t& printed) {
  Nanoseconds due = clock.now() + schedule.interval, own_cpu = own_cpu_time();
  while (!schedule.done(printed, clock.now())) {
    // The window that will be printed is the last one before it is due; only that one is verified.
    bool last = clock.now() + schedule.window * 2 > due;
    HOTSET_TRY(std::optional<Observation> seen, observer.next(last && verify));
    if (!seen) return {};
    if (!last) {
      estimator.skip(*seen);
      continue;
    }
    Nanoseconds verification = seen->reading ? seen->reading->cpu : Nanoseconds::zero();
    HOTSET_TRY(FaultLosses losses, observer.losses());
    Cost cost;
    cost.cpu_s = to_seconds(own_cpu_time() - own_cpu - verification);
    // Reading the kernel's count holds nothing up; the verification does.
    cost.target_stall_s = seen->reading ? to_seconds(seen->reading->stall) : 0.0;
    HOTSET_TRY(Estimate estimate, estimator.estimate(*seen, losses, clock.wall(), cost));
    HOTSET_TRY(bool go_on, print(estimate));
    if (!go_on) return {};
    ++printed;
    own_cpu = own_cpu_time();
    due += schedule.interval;
  }
  return {};
}

// As a table or as JSON lines. What ended it, an error too, comes after the notes on what was printed.
Result<> show_estimates(Observer& observer, LiveEstimator& estimator, Clock& clock, const Schedule& schedule,
                        const Options& options, std::uint64_t& printed) {
  Output out;
  out.watch_reader();
  LiveTable table(Style::of(out.fd()), options.verify, terminal_columns(out.fd()));
  if (!options.json) HOTSET_CHECK(out.line(table.header()));
  auto print = [&](const Estimate& estimate) -> Result<bool> {
    HOTSET_CHECK(out.line(options.json ? estimate_json(estimate) : table.row(estimate)));
    return !out.reader_gone();
  };
  Result<> ended = print_estimates(observer, estimator, clock, schedule, print, options.verify, printed);
  if (!options.json)
    for (const std::string& note : table.notes())
      HOTSET_CHECK(out.line(note));
  HOTSET_CHECK(out.finish());
  return ended;
}

Result<int> estimate(const Options& options, const Tail& tail) {
  HOTSET_TRY(TargetSpec spec, options.target.spec(tail));
  HOTSET_TRY(Model model, Model::load(options.model));
  Files files;
  SystemClock clock;
  HOTSET_TRY(Schedule schedule, schedule_of(options, model.info(), clock.now()));
  HOTSET_TRY(Target target, resolve_target(files, spec));

  ObserverOptions observing;
  observing.interval = schedule.window;
  observing.hook = options.hook;
  HOTSET_TRY(Observer observer, Observer::start(files, clock, target.process, observing));
  if (target.child) HOTSET_CHECK(target.child->release());
  if (!options.json)
    spdlog::info("{}: windows of {} from {} ({})", describe(target.process), human_duration(schedule.window),
                 observer.hook().name, observer.hook().semantics);
  LiveEstimator estimator(std::move(model), target.process, schedule.window, observer.hook());
  std::uint64_t printed = 0;
  Result<> ended = show_estimates(observer, estimator, clock, schedule, options, printed);
  if (target.child && printed > 0 && has_had_children(files, target.process.id))
    spdlog::info("the children of {} are not in its estimates; --comm NAME follows one of them",
                 describe(target.process));
  // A program that we started for as long as it runs has simply done its work.
  const bool endless = schedule.count == 0 && !schedule.end;
  if (!ended && ended.error().code == ErrorCode::gone && target.child && endless && printed > 0) {
    spdlog::info("{} has ended after {}", describe(target.process), counted(printed, "estimate"));
    return 0;
  }
  HOTSET_CHECK(std::move(ended));
  return printed == 0 && interrupt_requested() ? interrupt_exit_code() : 0;
}

} // namespace

Action declare_estimate(CLI::App& app, const Tail& tail) {
  auto options = std::make_shared<Options>();
  options->target.declare(app);
  app.add_option("--model", options->model, "Model that hotset train wrote")->required();
  app.add_option("--interval", options->interval, "Time between two estimates")->capture_default_str();
  app.add_option("--window", options->window, "Longest window; default: as in the model's training data");
  app.add_option("--count", options->count, "Stop after this many estimates")->check(at_least_one());
  app.add_option("--duration", options->duration, "Stop after this time");
  app.add_option("--hook", options->hook, "Force this page-fault hook (see: hotset doctor)");
  app.add_flag("--verify", options->verify, "Measure the same window by the reference method and show it beside");
  app.add_flag("--json", options->json, "One estimate record a line (docs/schemas.md)");
  return [options, &tail]() { return estimate(*options, tail); };
}

} // namespace hotset
