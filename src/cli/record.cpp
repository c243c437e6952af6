// SPDX-License-Identifier: Apache-2.0
// hotset record: fault samples and the label of the same window, into a data set or a suite of them.
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <memory>

#include "app/record_summary.h"
#include "app/recorder.h"
#include "app/suite.h"
#include "base/interrupt.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/quantities.h"
#include "present/output.h"
#include "present/progress.h"

namespace hotset {
namespace {

struct Options {
  TargetOptions target;
  std::string out;
  std::string interval = "100ms";
  std::string duration = "60s";
  std::uint64_t samples = 0;
  std::string suite;
  std::string hook;
  std::string group;
  std::uint64_t min_value = 1;
  bool perf_buffer = false;
  bool force = false;
  bool json = false;
};

Result<RecordOptions> record_options(const Options& options) {
  RecordOptions record;
  record.out = options.out;
  record.overwrite = options.force;
  record.group = options.group;
  record.version = HOTSET_VERSION;
  HOTSET_TRY(record.observer.interval, parse_window(options.interval));
  record.observer.hook = options.hook;
  record.observer.perf_buffer = options.perf_buffer;
  record.observer.min_value = options.min_value;
  // A number of samples alone is a wish without a clock: the duration then has no say.
  if (options.samples > 0) {
    record.max_samples = options.samples;
  } else {
    HOTSET_TRY(record.duration, parse_duration(options.duration));
  }
  return record;
}

Result<> print(const Options& options, const RecordSummary& summary) {
  Output out;
  HOTSET_CHECK(options.json ? out.line(to_json(summary)) : out.print(to_text(summary)));
  return out.finish();
}

Result<RecordSummary> record_one(const TargetSpec& spec, const RecordOptions& options, std::string_view what) {
  Files files;
  SystemClock clock;
  Progress progress(clock);
  HOTSET_TRY(Target target, resolve_target(files, spec));
  Result<RecordSummary> summary =
      record(files, clock, target, options, [&](const RecordSummary& so_far, const Row& row) {
        progress.show(fmt::format("{}{}, {:.0f} s; {} faults and {} referenced in the last window", what,
                                  counted(so_far.rows, "sample"), row.time_s, row.faults,
                                  human_bytes(row.label_bytes)));
      });
  progress.clear();
  if (summary && summary->rows > 0 && target.child && has_had_children(files, target.process.id))
    spdlog::info("the children of {} are not in {}; --comm NAME records one of them", describe(target.process),
                 printable(options.out));
  return summary;
}

// Elsewhere "-" is the standard output; here it would be a file of that name.
Result<> check_out(const std::string& out, std::string_view kind) {
  if (out.empty()) return fail(ErrorCode::usage, "record", "", "no output is named", fmt::format("add --out {}", kind));
  if (out == "-")
    return fail(ErrorCode::usage, "record into", "'-'", "rows go to a file, and the summary to the standard output",
                "name a file (/dev/stdout has the rows before the summary)");
  return {};
}

Result<int> record_target(const Options& options, const Tail& tail) {
  HOTSET_CHECK(check_out(options.out, "FILE"));
  HOTSET_TRY(TargetSpec spec, options.target.spec(tail));
  HOTSET_TRY(RecordOptions record, record_options(options));
  HOTSET_TRY(RecordSummary summary, record_one(spec, record, ""));
  HOTSET_CHECK(print(options, summary));
  // A command of ours ends when its work is done; a process that was there before should have outlived the recording.
  if (summary.end == RecordEnd::target_ended && tail.empty()) return static_cast<int>(ErrorCode::gone);
  return summary.rows > 0 ? 0 : interrupt_exit_code();
}

// Data sets that are whole are kept: an interrupted suite goes on where it stopped.
bool is_recorded(const std::string& path, const Suite& suite) {
  Result<Dataset> dataset = load_dataset(path);
  return dataset && dataset->rows.size() >= suite.samples;
}

Result<int> record_suite(const Options& options, const Tail& tail) {
  HOTSET_TRY(const Suite* suite, find_suite(options.suite));
  if (!tail.empty() || !options.target.pid_text.empty() || !options.target.comm.empty())
    return fail(ErrorCode::usage, "record", "a suite", "a target is named, and a suite brings its own",
                "leave out the target, or --suite");
  HOTSET_CHECK(check_out(options.out, "DIRECTORY"));
  if (::mkdir(options.out.c_str(), 0755) != 0 && errno != EEXIST) {
    Error error = errno_error(errno, "make the directory", options.out);
    error.code = ErrorCode::output;
    if (error.remedy.empty()) error.remedy = "make the directories above it first, or choose another place";
    return fail(std::move(error));
  }

  std::vector<SuiteEntry> entries = suite_entries("/proc/self/exe");
  if (!options.json)
    spdlog::info("suite {}: {} data sets of {} samples, about {:.1f} min", suite->name, entries.size(), suite->samples,
                 to_seconds(usual_time(*suite)) / 60);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const SuiteEntry& entry = entries[i];
    RecordOptions record;
    record.out = options.out + "/" + entry.file;
    record.overwrite = true;
    record.observer.interval = suite->interval;
    record.observer.hook = options.hook;
    record.observer.perf_buffer = options.perf_buffer;
    record.max_samples = suite->samples;
    record.group = entry.group;
    record.version = HOTSET_VERSION;
    if (!options.force && is_recorded(record.out, *suite)) {
      spdlog::info("{} is whole and kept (--force records it anew)", record.out);
      continue;
    }
    TargetSpec spec{.pid = std::nullopt, .comm = "", .command = entry.command};
    HOTSET_TRY(RecordSummary summary, record_one(spec, record, fmt::format("[{}/{}] ", i + 1, entries.size())));
    HOTSET_CHECK(print(options, summary));
    if (summary.end == RecordEnd::interrupted) return interrupt_exit_code();
  }
  return 0;
}

} // namespace

Action declare_record(CLI::App& app, const Tail& tail) {
  auto options = std::make_shared<Options>();
  options->target.declare(app);
  app.add_option("--out,-o", options->out, "File of the data set (with --suite: directory)");
  app.add_option("--interval", options->interval, "Longest window; the kernel's samples end it earlier")
      ->capture_default_str();
  auto* duration = app.add_option("--duration", options->duration, "How long to record")->capture_default_str();
  app.add_option("--samples", options->samples, "Record this many samples, however long that takes")
      ->check(at_least_one())
      ->excludes(duration);
  auto* suite = app.add_option("--suite", options->suite, "Record a whole collection: paper or demo");
  app.add_option("--group", options->group, "What this data set has in common with others, for evaluate's tables");
  app.add_option("--hook", options->hook, "Force this page-fault hook (see: hotset doctor)");
  app.add_option("--min-value", options->min_value, "Drop kernel samples of fewer faults")->capture_default_str();
  app.add_flag("--perf-buffer", options->perf_buffer, "Use the perf buffer where a BPF ring buffer would do");
  app.add_flag("--force", options->force, "Overwrite what is there");
  app.add_flag("--json", options->json, "Print the summary as JSON");
  // A suite says these itself.
  for (const char* own : {"pid", "--comm", "--interval", "--duration", "--samples", "--group", "--min-value"})
    suite->excludes(app.get_option(own));
  return [options, &tail]() -> Result<int> {
    return options->suite.empty() ? record_target(*options, tail) : record_suite(*options, tail);
  };
}

} // namespace hotset
