// SPDX-License-Identifier: Apache-2.0
#include "access/meter.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace hotset {
namespace {

// What may be asked of the kernel about single pages per window: a table costs about 10 µs, a frame 0.5 µs.
constexpr std::size_t kJudgedTables = 512;
constexpr std::size_t kJudgedFrames = 4096;
constexpr std::uint64_t kTlbPages = 4096; // of one CPU: 2048 to 3072 in today's largest
constexpr Nanoseconds kBackToBack = std::chrono::milliseconds(5);

double microseconds(Nanoseconds time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

} // namespace

AccessMeter::AccessMeter(Census& census, Census::Subject subject, ScopedClear scoped, FrameFlags flags, Clock& clock,
                         std::uint64_t seed)
    : census_(&census),
      clock_(&clock),
      subject_(std::move(subject)),
      scoped_(std::move(scoped)),
      flags_(std::move(flags)),
      tracker_(seed, kTlbPages * std::max(1U, std::thread::hardware_concurrency())) {}

Result<AccessMeter> AccessMeter::open(Census& census, const ProcessId& id, Clock& clock, std::uint64_t seed) {
  HOTSET_TRY(Census::Subject subject, census.attach(id));
  HOTSET_TRY(ScopedClear scoped, ScopedClear::open(id.pid));
  HOTSET_TRY(FrameFlags flags, FrameFlags::open());
  return AccessMeter(census, std::move(subject), std::move(scoped), std::move(flags), clock, seed);
}

Result<> AccessMeter::begin(const Aim& aim) {
  const Nanoseconds cpu = own_cpu_time();
  read_time_ = clear_time_ = {};
  if (has_window_) tracker_.learn(last_);
  if (!has_window_ || clock_->now() - last_.end > kBackToBack) {
    HOTSET_CHECK(census_->read_into(last_, subject_));
    read_time_ += last_.end - last_.begin;
  }
  has_window_ = true;
  plan_ = tracker_.begin(last_, aim, costs_, scoped_costs_);

  HOTSET_TRY(ClearReport report, age_runs(subject_.pidfd(), plan_.runs));
  costs_.learn(microseconds(report.took), report.runs, report.pages);
  clear_time_ += report.took;
  for (auto [wanted, scope] : {std::pair{plan_.scoped_anonymous, ScopedClear::Scope::anonymous},
                               std::pair{plan_.scoped_file, ScopedClear::Scope::file}}) {
    if (!wanted) continue;
    HOTSET_TRY(Nanoseconds took, scoped_.clear(scope));
    if (plan_.scoped_anonymous != plan_.scoped_file) scoped_costs_.learn(microseconds(took), plan_.scoped_pages);
    clear_time_ += took;
  }
  if (plan_.flush) {
    HOTSET_TRY(report, age_runs(subject_.pidfd(), {&*plan_.flush, 1}));
    clear_time_ += report.took;
  }
  began_ = clock_->now();

  if (!plan_.runs.empty() || plan_.flush) {
    HOTSET_CHECK(census_->read_into(again_, subject_, tracker_.asked_tables()));
    read_time_ += again_.end - again_.begin;
    judged_tables_ = judged_frames_ = 0;
    pagemap_.reset(); // an open one would stay with the memory from before an exec
    tracker_.settle(again_, [this](const Region& region, const PageMask& pages) { return passed_over(region, pages); });
  }
  cpu_ = own_cpu_time() - cpu;
  return {};
}

// MADV_COLD passes over pages that are mapped elsewhere, too, and over pages that are not on the kernel's LRU lists: a
// page just faulted in waits in a small per-CPU batch before it gets there.
std::optional<PageMask> AccessMeter::passed_over(const Region& region, const PageMask& pages) {
  if (judged_tables_ >= kJudgedTables) return std::nullopt;
  ++judged_tables_;
  if (!pagemap_) {
    Result<Pagemap> opened = Pagemap::open(subject_.pid());
    if (!opened) return std::nullopt;
    pagemap_ = std::move(*opened);
  }
  const unsigned first = pages.next(0);
  Result<std::vector<PagemapEntry>> entries =
      pagemap_->read(region.address + first * std::uint64_t{4096}, pages.last() - first + 1);
  if (!entries) return std::nullopt;
  PageMask passed;
  for (unsigned page = first; page < kTablePages; page = pages.next(page + 1)) {
    const PagemapEntry& entry = (*entries)[page - first];
    bool clearable = entry.exclusive();
    if (clearable && entry.frame() != 0 && judged_frames_ < kJudgedFrames) {
      ++judged_frames_;
      Result<std::uint64_t> bits = flags_.read(entry.frame());
      clearable = !bits || (*bits & FrameFlags::kOnLru) != 0;
    }
    if (!clearable) passed.set(page);
  }
  return passed;
}

Result<MeterReading> AccessMeter::read() {
  const Nanoseconds cpu = own_cpu_time();
  HOTSET_CHECK(census_->read_into(last_, subject_));
  MeterReading reading;
  reading.answer = tracker_.answer(last_);
  reading.answer.hugetlb += census_->giant_pages();
  reading.approach = plan_.approach;
  reading.reason = plan_.reason;
  reading.window = last_.begin - began_;
  read_time_ += last_.end - last_.begin;
  reading.read_time = read_time_;
  reading.clear_time = clear_time_;
  cpu_ += own_cpu_time() - cpu;
  reading.cpu = cpu_;
  reading.runs = plan_.runs.size();
  reading.run_pages = plan_.run_pages;
  reading.unreadable = census_->unreadable();
  return reading;
}

} // namespace hotset
