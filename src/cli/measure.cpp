// SPDX-License-Identifier: Apache-2.0
// hotset measure: the working set of a process, a tree or a cgroup, once, repeatedly, or as it grows with the window.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <utility>

#include "base/interrupt.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/quantities.h"
#include "estimate/meter.h"
#include "estimate/schedule.h"
#include "present/estimate_printer.h"
#include "present/progress.h"

namespace hotset {
namespace {

constexpr std::uint64_t kProfileSteps = 10;
constexpr std::uint64_t kMostBareSeconds = 3600;
constexpr const char* kOfCommand = "CMD"; // what --tree without a PID stands for

struct MeasureOptions {
  TargetOptions target;
  std::string tree, cgroup;
  std::string seconds, interval, duration;
  std::string count, steps;
  std::string method = "auto";
  std::string budget = "1%", error = "2%";
  bool relative = false;
  bool cumulative = false, profile = false, snapshot = false;
  bool json = false, csv = false;
};

// What is measured: a group as one, or else one process.
struct Measured {
  std::optional<Target> process; // beside a group: the command that we started, whose tree it is
  std::unique_ptr<Group> group;
  std::string name;
};

// Beside another target the one positional argument is the window. A number that names the same process, or would be a
// window of more than an hour, is rather a pid.
Result<> sort_positionals(MeasureOptions& options, const Tail& tail) {
  if (options.tree == kOfCommand && tail.empty())
    return fail(ErrorCode::usage, "choose the target", "", "--tree names no process, and no command is given",
                "name one: --tree PID, or --tree -- CMD ARG...");
  // With a command it is the command's tree, and the window may stand behind --tree as elsewhere.
  if (!tail.empty() && !options.tree.empty() && options.target.pid_text.empty())
    if (std::string behind = std::exchange(options.tree, kOfCommand); behind != kOfCommand)
      options.target.pid_text = std::move(behind);
  bool named = !options.target.comm.empty() || !tail.empty() || !options.tree.empty() || !options.cgroup.empty();
  if (!named || !options.seconds.empty()) return {};
  std::swap(options.seconds, options.target.pid_text);
  std::optional<std::uint64_t> number = parse_u64(options.seconds);
  if (number && (*number > kMostBareSeconds || options.seconds == options.tree))
    return fail(ErrorCode::usage, "choose the target", "",
                fmt::format("'{}' would be a second one, or a window of so many seconds", options.seconds),
                "leave out one of the targets, or give the window a unit (at most 24h)");
  return {};
}

Result<Measured> find_measured(const MeasureOptions& options, const Tail& tail, const Files& files) {
  const bool of_command = options.tree == kOfCommand;
  const bool grouped = !options.tree.empty() || !options.cgroup.empty();
  const bool more = !options.target.pid_text.empty() || !options.target.comm.empty() ||
                    (!tail.empty() && !of_command) || (!options.tree.empty() && !options.cgroup.empty());
  if (grouped && more)
    return fail(ErrorCode::usage, "choose the target", "", "more than one is given",
                "name one PID, --comm NAME, --tree PID, --cgroup PATH, or -- CMD ARG...");
  if (grouped && options.snapshot)
    return fail(ErrorCode::usage, "take a snapshot of", "a tree or a cgroup", "only single processes have one",
                "leave --snapshot out");
  Measured measured;
  if (!options.cgroup.empty()) {
    HOTSET_TRY(measured.group, find_cgroup(files, options.cgroup));
  } else if (grouped && !of_command) {
    HOTSET_TRY(pid_t pid, parse_pid(options.tree));
    HOTSET_TRY(measured.group, find_tree(files, pid));
  } else {
    HOTSET_TRY(TargetSpec spec, options.target.spec(tail));
    HOTSET_TRY(measured.process, resolve_target(files, spec));
    if (of_command) measured.group = tree_of(measured.process->process);
  }
  measured.name = measured.group ? measured.group->describe() : describe(measured.process->process);
  return measured;
}

Result<std::optional<Nanoseconds>> optional_duration(const std::string& text) {
  if (text.empty()) return std::nullopt;
  HOTSET_TRY(Nanoseconds time, parse_duration(text));
  return time;
}

Result<std::optional<std::uint64_t>> optional_count(const std::string& text) {
  if (text.empty()) return std::nullopt;
  HOTSET_TRY(std::uint64_t count, parse_count(text));
  return count;
}

Result<Schedule> schedule_of(const MeasureOptions& options) {
  Schedule schedule;
  if (!options.seconds.empty()) {
    HOTSET_TRY(schedule.window, parse_window(options.seconds));
  }
  HOTSET_TRY(schedule.interval, optional_duration(options.interval));
  HOTSET_TRY(schedule.duration, optional_duration(options.duration));
  HOTSET_TRY(schedule.count, optional_count(options.count));
  if (options.cumulative) schedule.mode = Mode::cumulative;
  if (options.snapshot) schedule.mode = Mode::snapshot;
  if (options.profile) {
    schedule.mode = Mode::profile;
    HOTSET_TRY(schedule.count, optional_count(options.steps));
    if (!schedule.count) schedule.count = kProfileSteps;
  }
  // One measurement, unless something asks for more.
  if (!options.cumulative && !schedule.interval && !schedule.duration && !schedule.count) schedule.count = 1;
  HOTSET_CHECK(check_schedule(schedule));
  return schedule;
}

Result<MeterOptions> meter_options(const MeasureOptions& options, const Schedule& schedule) {
  MeterOptions meter{
      .window = schedule.window, .relative = options.relative, .snapshot = schedule.mode == Mode::snapshot};
  HOTSET_TRY(meter.budget, parse_share(options.budget));
  HOTSET_TRY(meter.error, parse_share(options.error));
  return meter;
}

Result<> check_method(const Method& method, const Schedule& schedule) {
  if (schedule.mode == Mode::snapshot && !method.snapshots)
    return fail(ErrorCode::usage, "take a snapshot by", fmt::format("--method {}", method.name),
                "it tells nothing without a window", "leave --snapshot out, or use --method reference");
  return {};
}

std::string waiting_text(const std::string& target, const Wait& wait) {
  std::string of = wait.count ? fmt::format(" of {}", *wait.count) : "";
  return fmt::format("measuring {}: reading {}{}, {} of {}", target, wait.reading, of, human_duration(wait.waited),
                     human_duration(wait.wait));
}

// A compiler's driver, a shell, make: the work is their children's.
bool left_children_out(const Measured& target, const Files& files) {
  return target.process && target.process->child && !target.group &&
         has_had_children(files, target.process->process.id);
}

// What became of the run: a reason for an exit code other than 0, or none.
Result<int> conclude(const Outcome& outcome, const Measured& target, const Schedule& schedule, const Files& files) {
  if (outcome.ending == Ending::interrupted && outcome.readings == 0) return interrupt_exit_code();
  const bool left_out = left_children_out(target, files);
  if (left_out && outcome.readings > 0)
    spdlog::info("the children of {} were not counted; measure --tree -- CMD adds them up", target.name);
  if (outcome.ending != Ending::target_gone) return 0;
  std::string readings = schedule.count ? fmt::format("{} of {}", outcome.readings, counted(*schedule.count, "reading"))
                                        : counted(outcome.readings, "reading");
  // A program that we started for as long as it runs has simply done its work.
  if (target.process && target.process->child && !schedule.count && outcome.readings > 0) {
    spdlog::info("{} has ended after {}", target.name, readings);
    return 0;
  }
  return fail(ErrorCode::gone, "finish the measurement of", target.name, fmt::format("it ended after {}", readings),
              outcome.readings > 0 ? "what was measured before is printed"
              : left_out           ? "measure a shorter window, and with --tree -- CMD its children, too"
                                   : "measure a shorter window");
}

Result<int> measure(MeasureOptions options, const Tail& tail) {
  HOTSET_CHECK(sort_positionals(options, tail));
  HOTSET_TRY(Schedule schedule, schedule_of(options));
  HOTSET_TRY(MeterOptions meter, meter_options(options, schedule));

  Files files;
  SystemClock clock;
  HOTSET_TRY(Measured target, find_measured(options, tail, files));
  HOTSET_TRY(OpenedMeter opened, target.group
                                     ? open_group_meter(options.method, files, *target.group, clock, meter)
                                     : open_meter(options.method, files, target.process->process, clock, meter));
  for (const MethodRefusal& refusal : opened.refusals)
    spdlog::info("method {} is passed over: {}", refusal.method->name, to_sentence(refusal.error));
  HOTSET_CHECK(check_method(*opened.method, schedule));

  Output output;
  EstimateFormat format = options.json  ? EstimateFormat::json
                          : options.csv ? EstimateFormat::csv
                                        : EstimateFormat::table;
  EstimatePrinter printer(output, format, fmt::format("{}, method {}", target.name, opened.method->name),
                          opened.method->counts_faults);
  if (target.process && target.process->child) HOTSET_CHECK(target.process->child->release());

  Progress progress(clock);
  Watcher watcher{
      .target_alive =
          [&] { return target.group ? opened.meter->group_alive() : is_alive(files, target.process->process.id); },
      .waiting = [&](const Wait& wait) { progress.show(waiting_text(target.name, wait)); },
      .reading = [&](const Estimate& estimate) -> Result<bool> {
        progress.clear();
        HOTSET_CHECK(printer.print(estimate));
        return !output.reader_gone();
      }};
  Result<Outcome> outcome = run_schedule(schedule, *opened.meter, clock, watcher);
  progress.clear();
  HOTSET_CHECK(printer.end());
  if (!outcome) return fail(within("measure", target.name, std::move(outcome).error()));
  return conclude(*outcome, target, schedule, files);
}

std::string footer() {
  std::string text =
      "TARGET is a PID, --comm NAME, --tree PID, --cgroup PATH, or -- CMD ARG... to start a command, or --tree -- CMD\n"
      "ARG... to measure what it starts, too; then SECONDS, or 100ms, 5m (default 1, at most 24h; beside a named "
      "target,\n"
      "a unit must tell more than an hour from a PID).\n\n"
      "Methods:\n";
  for (const Method& method : methods())
    text += fmt::format("  {:<10} {}; needs {}\n", method.name, method.summary, method.needs);
  text +=
      "\nThe reference method resets the referenced bits of the whole process at each window. That costs time in\n"
      "proportion to its resident memory and takes from the kernel what it knew of the pages' ages: under memory\n"
      "pressure it may reclaim others than it would have.\n";
  return text;
}

} // namespace

Action declare_measure(CLI::App& app, const Tail& tail) {
  auto options = std::make_shared<MeasureOptions>();
  options->target.declare(app);
  const CLI::Option* tree =
      app.add_option("--tree", options->tree, "This process, or the command, with all that descend from it, as one")
          ->expected(0, 1)
          ->type_name("PID")
          ->default_str(kOfCommand);
  app.add_option("--cgroup", options->cgroup, "All processes of this cgroup and those below it, as one");
  app.footer(footer());
  app.add_option("seconds", options->seconds, "Length of the window (1; at most 24h; of the first one with --profile)");
  std::vector<std::string> names{"auto"};
  for (const Method& method : methods())
    names.emplace_back(method.name);
  app.add_option("--method", options->method, "How to measure")->check(CLI::IsMember(names))->capture_default_str();
  app.add_option("--budget", options->budget, "Share of one CPU and of the target's time that clearing may take (1%)");
  app.add_option("--error", options->error, "Half-width of the interval to aim for, as a share of the RSS (2%)");
  app.add_flag("--relative", options->relative, "--error is a share of the working set");
  auto* cumulative = app.add_flag("-C,--cumulative", options->cumulative, "One growing window, read every SECONDS");
  auto* snapshot = app.add_flag("-s,--snapshot", options->snapshot, "Read what is referenced now, without a reset");
  auto* profile = app.add_flag("-P,--profile", options->profile, "One growing window, read at 1, 2, 4 ... SECONDS");
  app.add_option("--steps", options->steps, "Readings of --profile (10)")->check(at_least_one())->needs(profile);
  auto* count =
      app.add_option("-n,--count", options->count, "How many readings (1; without end with -C)")->check(at_least_one());
  app.add_option("--interval", options->interval, "From the start of one reading to the next (no pause)");
  app.add_option("--duration", options->duration, "Total time to go on for");
  auto* json = app.add_flag("--json", options->json, "One estimate record a line (docs/schemas.md)");
  app.add_flag("--csv", options->csv, "A header and one row per reading")->excludes(json);
  cumulative->excludes(snapshot)->excludes(profile);
  profile->excludes(snapshot)->excludes(count);
  return [options, &tail, tree]() -> Result<int> {
    // CLI11 checks no text of an option that may go without.
    if (tree->count() > 0 && options->tree.empty())
      return fail(ErrorCode::usage, "read the command line", "", "--tree: it is empty",
                  "name a PID, or give --tree -- CMD ARG...");
    return measure(*options, tail);
  };
}

} // namespace hotset
