// SPDX-License-Identifier: Apache-2.0
// hotset window: rolling windows of any BPF program, and page faults by kind as one of our own.
#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <set>

#include "app/window_reading.h"
#include "base/interrupt.h"
#include "base/units.h"
#include "bpf/fault.h"
#include "cli/command.h"
#include "cli/quantities.h"
#include "cli/window_printer.h"
#include "fault/kinds.h"
#include "kernel/pins.h"
#include "window/clock.h"
#include "window/view.h"

namespace hotset {
namespace {

constexpr std::string_view kBuiltIn = "faults";
// Ticks after which a second without a count is known to be over, and not just begun (src/window/history.cpp).
constexpr int kSettling = 4;
constexpr Nanoseconds kLookAfterTargets = std::chrono::milliseconds(50);

// Options that say how a window is read and printed, which --pin does not.
const std::set<std::string> kOfReading{"last", "series", "interval", "count", "ratio", "json"};

struct Options {
  std::string what;
  bool list = false;
  std::string last = "60s";
  std::string interval;
  std::uint64_t count = 0;
  std::vector<std::string> ratios;
  bool series = false, json = false;
  // Of the built-in window.
  std::vector<std::string> pids;
  std::string comm;
  std::uint32_t processes = 16;
  std::string pin;
};

struct Schedule {
  Nanoseconds first{}; // until the first reading
  Nanoseconds interval{};
  std::uint64_t count = 0; // 0: until an interrupt
};

Result<WindowQuestion> question_of(const Options& options) {
  HOTSET_TRY(std::uint64_t seconds, parse_look_back(options.last));
  return WindowQuestion{.seconds = seconds, .ratios = options.ratios};
}

// What there is, is shown at once; a window that begins now has nothing to show yet.
Result<Schedule> schedule_of(const Options& options, bool begins_now) {
  Schedule schedule{.first = {}, .interval = std::chrono::seconds(1), .count = options.count};
  if (!options.interval.empty()) {
    HOTSET_TRY(schedule.interval, parse_interval(options.interval));
  }
  if (begins_now)
    schedule.first = schedule.interval + kSettling * tick_length();
  else if (options.interval.empty() && options.count == 0)
    schedule.count = 1;
  return schedule;
}

Result<int> list(bool json) {
  HOTSET_TRY(std::vector<WindowMap> maps, loaded_windows());
  std::vector<WindowListing> listings;
  for (const WindowMap& map : maps)
    listings.push_back(list_window(map));
  Output output;
  if (json)
    for (const WindowListing& listing : listings)
      HOTSET_CHECK(output.line(window_listing_json(listing)));
  else if (listings.empty())
    spdlog::info("no window is loaded");
  else
    for (const std::string& line : window_list_text(listings, Style::of(output.fd())))
      HOTSET_CHECK(output.line(line));
  HOTSET_CHECK(output.finish());
  return 0;
}

// Sleeps until `due`. True when `over` came before; empty: nothing is waited for.
bool sleep_unless(const std::function<bool()>& over, Clock& clock, Nanoseconds due) {
  while (clock.now() < due && !end_requested()) {
    clock.sleep_until(over ? std::min(due, clock.now() + kLookAfterTargets) : due);
    if (over && over()) return true;
  }
  return false;
}

// Prints when it is due, until the schedule, an interrupt, the reader (print: false) or `over` ends it; then once more.
// How often it printed.
Result<std::uint64_t> run(const Schedule& schedule, Clock& clock, const std::function<Result<bool>()>& print,
                          const std::function<bool()>& over = {}) {
  std::uint64_t printed = 0;
  for (Nanoseconds due = clock.now() + schedule.first;; due += schedule.interval) {
    bool ended = sleep_unless(over, clock, due);
    HOTSET_TRY(bool go_on, print());
    ++printed;
    if (!go_on || ended || printed == schedule.count || end_requested()) return printed;
  }
}

Result<int> show(const Options& options, const WindowQuestion& question) {
  HOTSET_TRY(Schedule schedule, schedule_of(options, false));
  Files files;
  SystemClock clock;
  HOTSET_TRY(WindowMap map, open_window(files, options.what));
  Output output;
  WindowPrinter printer(output, {.json = options.json, .series = options.series, .repeated = schedule.count != 1});
  auto print = [&]() -> Result<bool> {
    HOTSET_TRY(std::vector<WindowReading> readings, read_windows(files, map, question));
    HOTSET_CHECK(printer.print(readings, clock.wall()));
    return !output.reader_gone();
  };
  HOTSET_CHECK(run(schedule, clock, print));
  HOTSET_CHECK(output.finish());
  return 0;
}

struct Observed {
  std::vector<Process> processes;
  std::optional<Child> child;
};

// The processes to observe apart: those of the numbers, or one that is started.
Result<Observed> observed(const Files& files, const Options& options, const Tail& tail) {
  Observed observed;
  for (const std::string& text : options.pids) {
    TargetOptions one{.pid_text = text, .comm = {}};
    HOTSET_TRY(TargetSpec spec, one.spec({}));
    HOTSET_TRY(Target target, resolve_target(files, spec));
    bool twice = std::ranges::any_of(observed.processes, [&](const Process& p) { return p.id == target.process.id; });
    if (!twice) observed.processes.push_back(std::move(target.process));
  }
  if (tail.empty()) return observed;
  HOTSET_TRY(Target target, resolve_target(files, {.pid = std::nullopt, .comm = {}, .command = tail}));
  observed.processes.push_back(std::move(target.process));
  observed.child = std::move(target.child);
  return observed;
}

Result<> check_faults(const Options& options, const Tail& tail) {
  int ways = (options.pids.empty() ? 0 : 1) + (options.comm.empty() ? 0 : 1) + (tail.empty() ? 0 : 1);
  if (ways > 1)
    return fail(ErrorCode::usage, "choose the processes", "", "more than one of --pid, --comm and -- CMD is given",
                "give one of them, or none for the host alone");
  if (!options.pin.empty() && !tail.empty())
    return fail(ErrorCode::usage, "pin a window of", fmt::format("'{}'", printable(tail.front())),
                "a command that hotset starts ends with hotset", "start it yourself and use --pid or --comm");
  return {};
}

Result<int> pin(FaultKinds& kinds, const std::string& folder) {
  HOTSET_CHECK(kinds.pin(folder));
  Output output;
  Result<> said =
      output.line(fmt::format("pinned in {0}: hotset window {0} reads it, rm -r {0} ends it", printable(folder)));
  if (said) said = output.finish();
  if (said) return 0;
  unpin(folder); // of what is not told to be there nobody knows that it has to be removed
  return fail(within("keep the window in", printable(folder), std::move(said).error()));
}

// The host, then the processes.
Result<std::vector<WindowMap>> maps_of(const FaultKinds& kinds) {
  std::vector<WindowMap> maps;
  for (int fd : {kinds.host_fd(), kinds.processes_fd()}) {
    if (fd < 0) continue;
    Fd own(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
    if (!own) return fail(errno_error(errno, "open", "the map of the window"));
    HOTSET_TRY(WindowMap map, open_window(std::move(own), std::string(kBuiltIn)));
    maps.push_back(std::move(map));
  }
  return maps;
}

Result<std::vector<WindowReading>> read_faults(const Files& files, const std::vector<WindowMap>& maps,
                                               const WindowQuestion& question) {
  std::vector<WindowReading> all;
  for (const WindowMap& map : maps) {
    HOTSET_TRY(std::vector<WindowReading> readings, read_windows(files, map, question));
    if (!map.keyed()) readings.front().label.subject = "the host";
    std::ranges::move(readings, std::back_inserter(all));
  }
  return all;
}

bool all_ended(const Files& files, Observed& targets) {
  if (targets.child) return targets.child->ended().has_value();
  return std::ranges::none_of(targets.processes, [&](const Process& process) { return is_alive(files, process.id); });
}

// Before anything is loaded or started.
Result<> check_ratios(const std::vector<std::string>& ratios) {
  if (ratios.empty()) return {};
  HOTSET_TRY(std::vector<std::string> counters, FaultKinds::counters());
  for (const std::string& ratio : ratios)
    HOTSET_CHECK(parse_ratio(ratio, counters));
  return {};
}

Result<int> show_faults(const Options& options, const WindowQuestion& question, const Tail& tail) {
  HOTSET_CHECK(check_faults(options, tail));
  HOTSET_CHECK(check_ratios(options.ratios));
  HOTSET_TRY(Schedule schedule, schedule_of(options, true));
  Files files;
  SystemClock clock;
  HOTSET_TRY(Observed targets, observed(files, options, tail));
  if (options.comm.size() >= FAULT_COMM_BYTES)
    spdlog::warn("the kernel keeps {} bytes of a command's name: '{}' is looked for", FAULT_COMM_BYTES - 1,
                 printable(std::string_view(options.comm).substr(0, FAULT_COMM_BYTES - 1)));
  FaultKindsOptions wanted{.processes = {}, .comm = options.comm, .max_processes = options.processes};
  for (const Process& process : targets.processes)
    wanted.processes.push_back(process.id);
  HOTSET_TRY(FaultKinds kinds, FaultKinds::attach(wanted));
  if (!options.pin.empty()) return pin(kinds, options.pin);
  HOTSET_TRY(std::vector<WindowMap> maps, maps_of(kinds));
  if (targets.child) HOTSET_CHECK(targets.child->release());

  Output output;
  WindowPrinter printer(output, {.json = options.json, .series = options.series, .repeated = true});
  bool of_processes = false;
  auto print = [&]() -> Result<bool> {
    HOTSET_TRY(std::vector<WindowReading> readings, read_faults(files, maps, question));
    of_processes |= readings.size() > 1;
    HOTSET_CHECK(printer.print(readings, clock.wall()));
    HOTSET_CHECK(kinds.make_room(files));
    return !output.reader_gone();
  };
  bool gone = false;
  std::function<bool()> over;
  if (!targets.processes.empty()) over = [&] { return gone = all_ended(files, targets); };
  HOTSET_TRY(std::uint64_t printed, run(schedule, clock, print, over));
  HOTSET_CHECK(output.finish());
  if (!options.comm.empty() && !of_processes)
    spdlog::info("no process of the name '{}' has had a page fault meanwhile", printable(options.comm));
  HOTSET_TRY(std::uint64_t missed, kinds.missed());
  if (missed > 0)
    spdlog::warn("{} faults were not counted: the kernel skips a program that is entered again on the same CPU",
                 missed);
  // A program that we started for as long as it runs has simply done its work.
  if (!gone || targets.child) return 0;
  return fail(ErrorCode::gone, "go on counting the faults of", describe(targets.processes.front()),
              fmt::format("it ended after {}", counted(printed, "reading")), "what was counted before is printed");
}

Result<int> window(const Options& options, const Tail& tail) {
  bool built_in = options.what == kBuiltIn;
  if (options.list && !options.what.empty())
    return fail(ErrorCode::usage, "list the windows and read", fmt::format("'{}'", printable(options.what)),
                "--list names all and reads none", "leave one of them out");
  if (options.list) return list(options.json);
  if (options.what.empty())
    return fail(ErrorCode::usage, "choose the window", "", "none is given",
                "name one that hotset window --list shows, a pin, or faults");
  bool of_faults = !options.pids.empty() || !options.comm.empty() || !options.pin.empty() || !tail.empty();
  if (of_faults && !built_in)
    return fail(ErrorCode::usage, "read the window", fmt::format("'{}'", printable(options.what)),
                "--pid, --comm, --pin and -- CMD are for the built-in window alone", "leave them out, or name faults");
  HOTSET_TRY(WindowQuestion question, question_of(options));
  return built_in ? show_faults(options, question, tail) : show(options, question);
}

} // namespace

Action declare_window(CLI::App& app, const Tail& tail) {
  auto options = std::make_shared<Options>();
  app.footer(
      "WINDOW is the name or the number of a loaded map, the path of a pin, or faults: page faults by kind, counted "
      "from\n"
      "now on, of the host and of the processes that --pid, --comm or -- CMD ARG... name.");
  app.add_option("window", options->what, "Which; see --list");
  auto* list = app.add_flag("--list", options->list, "List the windows that are loaded on this machine");
  app.add_option("--last", options->last, "Look back so far, in whole seconds, at most 5m")->capture_default_str();
  app.add_flag("--series", options->series, "Print each second, too");
  app.add_option("--interval", options->interval, "Print on a timer (once; faults: 1s)");
  app.add_option("--count", options->count, "Stop after printing so often")->check(at_least_one());
  app.add_option("--ratio", options->ratios, "Print A/B, or NAME=A+B/C, of counters; may be given again")
      ->allow_extra_args(false);
  app.add_flag("--json", options->json, "One object per window and reading (schema hotset.window/1)");
  app.add_option("--pid", options->pids, "faults: observe these processes, too; may be given again")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--comm", options->comm, "faults: observe the processes of that name as they fault, too");
  app.add_option("--processes", options->processes, "faults: room for so many processes")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  auto* pin = app.add_option("--pin", options->pin, "faults: keep it in this new folder of a BPF file system, and end");
  for (CLI::Option* option : app.get_options()) {
    const std::string& name = option->get_single_name();
    bool of_list = name == "window" || name == "list" || name == "json" || name == "help";
    if (!of_list) list->excludes(option); // what is listed is not read
    if (kOfReading.contains(name)) pin->excludes(option);
  }
  return [options, &tail] { return window(*options, tail); };
}

} // namespace hotset
