// SPDX-License-Identifier: Apache-2.0
#include "estimate/observer.h"

#include <fmt/format.h>
#include <sys/types.h>
#include <unistd.h>

#include <ctime>
#include <utility>

#include "base/units.h"
#include "identity/target.h"

namespace hotset {
namespace {

// How long after we began a workload may take to publish its record.
constexpr Nanoseconds kTruthAppearsWithin = std::chrono::seconds(2);

// /proc/PID/statm: "size resident shared …", in pages.
std::optional<std::uint64_t> parse_resident_pages(std::string_view statm) {
  std::size_t blank = statm.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  statm.remove_prefix(blank + 1);
  return parse_u64(statm.substr(0, statm.find(' ')));
}

} // namespace

Result<Observer> Observer::start(const Files& files, Clock& clock, const Process& process,
                                 const ObserverOptions& options) {
  Observer observer;
  observer.files_ = &files;
  observer.clock_ = &clock;
  observer.process_ = process;
  observer.interval_ = options.interval;
  if (::clock_getcpuclockid(process.id.pid, &observer.cpu_clock_) != 0) return fail(observer.gone());
  HOTSET_TRY(observer.statm_, open_read(files.resolve(fmt::format("/proc/{}/statm", process.id.pid))));

  FaultOptions faults;
  faults.filter.kind = FaultFilter::Kind::pid;
  faults.filter.process = process.id;
  faults.hook = options.hook;
  faults.perf_buffer = options.perf_buffer;
  faults.min_value = options.min_value;
  // Aimed at the middle of the second half, so that most busy windows end with a sample and few are cut short.
  faults.pace = options.interval * 3 / 4;
  HOTSET_TRY(auto started, TargetFaults::start(process.id, faults));
  observer.faults_ = std::make_unique<TargetFaults>(std::move(started));

  HOTSET_TRY(observer.cpu_s_, observer.target_cpu_s());
  observer.begin_ = clock.now();
  return observer;
}

Result<std::optional<Observation>> Observer::next(bool label) {
  if (label) {
    HOTSET_CHECK(begin_label());
    // The faults since the last window's end belong to the label's reset and read, not to a window.
    HOTSET_TRY(TargetWindow between, faults_->next_window(clock_->now(), clock_->now()));
    faults_between_ += between.faults;
    HOTSET_TRY(cpu_s_, target_cpu_s());
  }
  look_for_truth();
  if (truth_) truth_->next_window();
  const Nanoseconds start = faults_->begin();
  HOTSET_TRY(TargetWindow window, faults_->next_window(start + interval_, start + interval_ / 2));
  if (window.ended_by == WindowEnd::interrupt) return std::nullopt;

  // The cheap edges first: the walk of the page tables takes its time, and the target goes on meanwhile.
  Observation seen;
  HOTSET_TRY(double cpu_after, target_cpu_s());
  std::uint32_t ended = truth_ ? truth_->next_window() : 0;
  if (label) {
    HOTSET_TRY(seen.reading, reference_->read());
    seen.row.label_bytes = seen.reading->totals.referenced;
    seen.row.rss_bytes = seen.reading->totals.rss;
  } else {
    HOTSET_TRY(seen.row.rss_bytes, resident_bytes());
  }
  if (truth_) seen.row.truth_bytes = truth_->touched_pages(ended) * page_bytes();

  seen.emitted = window.ended_by == WindowEnd::sample;
  seen.row.time_s = to_seconds(window.end - begin_);
  seen.row.dt_s = to_seconds(window.end - window.begin);
  seen.row.faults = window.faults;
  seen.row.emissions = window.emissions;
  seen.row.peak_faults = window.peak_faults;
  seen.row.cpu_s = cpu_after - std::exchange(cpu_s_, cpu_after);
  return seen;
}

void Observer::look_for_truth() {
  // A target without a record of its own is the usual case, not an error; one that we started may not have made it yet.
  if (truth_ || clock_->now() - begin_ > kTruthAppearsWithin) return;
  if (auto truth = TruthReader::open(*files_, process_.id)) truth_ = *std::move(truth);
}

Result<> Observer::begin_label() {
  if (!reference_) {
    HOTSET_TRY(reference_, Reference::open(*files_, process_.id, *clock_));
  }
  return reference_->reset();
}

Result<double> Observer::target_cpu_s() const {
  // The process's CPU clock: all threads, in nanoseconds, where /proc/PID/stat counts hundredths of a second.
  timespec time{};
  if (::clock_gettime(cpu_clock_, &time) != 0) return fail(gone());
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

Result<std::uint64_t> Observer::resident_bytes() const {
  if (::lseek(statm_.get(), 0, SEEK_SET) != 0) return fail(gone());
  Result<std::string> text = read_all(statm_.get(), "statm");
  if (!text) return fail(gone());
  std::optional<std::uint64_t> pages = parse_resident_pages(*text);
  // A zombie still has the file, with zeros in it.
  if (!pages || *pages == 0) return fail(gone());
  return *pages * page_bytes();
}

Error Observer::gone() const {
  return {ErrorCode::gone, "go on observing", "process " + describe(process_), "it has ended",
          "choose a shorter window, or a process that lives longer"};
}

} // namespace hotset
