// SPDX-License-Identifier: Apache-2.0
#include "app/recorder.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>

#include "base/interrupt.h"
#include "base/units.h"

namespace hotset {
namespace {

// What the target was started with, arguments separated by blanks; its name where the kernel has no command line.
std::string command_line(const Files& files, const Process& process) {
  Result<std::string> text = files.read(fmt::format("/proc/{}/cmdline", process.id.pid));
  if (!text || text->empty()) return printable(process.comm);
  while (!text->empty() && text->back() == '\0')
    text->pop_back();
  std::ranges::replace(*text, '\0', ' ');
  return printable(*text);
}

DatasetHeader header_of(const Files& files, Clock& clock, const Process& process, const Observer& observer,
                        const RecordOptions& options) {
  utsname system{};
  ::uname(&system);
  return {.host = system.nodename,
          .kernel = system.release,
          .hook = std::string(observer.hook().name),
          .hook_semantics = std::string(observer.hook().semantics),
          .transport = std::string(observer.transport()),
          .target = command_line(files, process),
          .comm = printable(process.comm),
          .pid = process.id.pid,
          .start_ticks = process.id.start_ticks,
          .interval_s = to_seconds(options.observer.interval),
          .label = "reference",
          .begin_time = utc_text(clock.wall()),
          .group = options.group,
          .hotset_version = options.version};
}

void add(RecordSummary& summary, const Observation& seen) {
  const Row& row = seen.row;
  summary.label_low_bytes = summary.rows == 0 ? row.label_bytes : std::min(summary.label_low_bytes, row.label_bytes);
  summary.label_high_bytes = std::max(summary.label_high_bytes, row.label_bytes);
  ++summary.rows;
  summary.emitted += seen.emitted ? 1 : 0;
  summary.faults += row.faults;
  summary.seconds += row.dt_s;
}

bool is_complete(const RecordOptions& options, const RecordSummary& summary, Nanoseconds elapsed) {
  return (options.max_samples && summary.rows >= *options.max_samples) ||
         (options.duration && elapsed >= *options.duration);
}

} // namespace

Result<RecordSummary> record(const Files& files, Clock& clock, Target& target, const RecordOptions& options,
                             const RecordWatcher& watch) {
  // The order matters for a command of ours: the collector attaches while the command waits at its gate, so that its
  // first faults are in the first window.
  HOTSET_TRY(Observer observer, Observer::start(files, clock, target.process, options.observer));
  if (target.child) HOTSET_CHECK(target.child->release());
  HOTSET_TRY(DatasetWriter writer,
             DatasetWriter::create(options.out, header_of(files, clock, target.process, observer, options),
                                   options.overwrite));
  RecordSummary summary;
  summary.path = options.out;
  summary.hook = observer.hook().name;
  summary.hook_semantics = observer.hook().semantics;
  summary.transport = observer.transport();
  const Nanoseconds begin = clock.now(), own_cpu = own_cpu_time();
  while (!is_complete(options, summary, clock.now() - begin)) {
    Result<std::optional<Observation>> seen = observer.next(/*label=*/true);
    if (!seen && seen.error().code == ErrorCode::gone && summary.rows > 0) {
      summary.end = RecordEnd::target_ended;
      break;
    }
    if (!seen) return fail(std::move(seen).error());
    if (!*seen || interrupt_requested()) {
      summary.end = RecordEnd::interrupted;
      break;
    }
    HOTSET_CHECK(writer.append((*seen)->row));
    add(summary, **seen);
    watch(summary, (*seen)->row);
  }
  summary.faults_between = observer.faults_between();
  summary.elapsed_s = to_seconds(clock.now() - begin);
  summary.own_cpu_s = to_seconds(own_cpu_time() - own_cpu);
  HOTSET_TRY(summary.losses, observer.losses());
  return summary;
}

} // namespace hotset
