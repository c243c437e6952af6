// SPDX-License-Identifier: Apache-2.0
#include "access/meter.h"

#include <utility>

#include "access/clear_count.h"

namespace hotset {

AccessMeter::AccessMeter(Census& census, Census::Subject subject, ScopedClear scoped, FrameFlags flags, Clock& clock,
                         std::uint64_t seed)
    : census_(&census),
      clock_(&clock),
      subject_(std::move(subject)),
      scoped_(std::move(scoped)),
      judge_(std::move(flags), age_traits(Files())),
      tracker_(seed, age_traits(Files())) {}

Result<AccessMeter> AccessMeter::open(Census& census, const ProcessId& id, Clock& clock, std::uint64_t seed) {
  HOTSET_TRY(Census::Subject subject, census.attach(id));
  HOTSET_CHECK(may_age(subject.pidfd()));
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
    last_space_ = census_->address_space();
    read_time_ += last_.end - last_.begin;
  }
  space_ = last_space_;
  contest_.begin_window(has_window_ && clears_of(subject_.pid()) != clear_);
  has_window_ = true;
  clear_ = count_clear(subject_.pid());
  plan_ = tracker_.begin(last_, aim, ager_.costs(last_.processor), scoped_costs_);

  HOTSET_TRY(ClearReport report, ager_.age(subject_.pidfd(), plan_.runs, last_.processor));
  clear_time_ += report.took;
  for (auto [wanted, scope] : {std::pair{plan_.scoped_anonymous, ScopedClear::Scope::anonymous},
                               std::pair{plan_.scoped_file, ScopedClear::Scope::file}}) {
    if (!wanted) continue;
    HOTSET_TRY(Nanoseconds took, scoped_.clear(scope));
    if (plan_.scoped_anonymous != plan_.scoped_file) scoped_costs_.learn(to_microseconds(took), plan_.scoped_pages);
    clear_time_ += took;
  }
  HOTSET_TRY(report, age_runs(subject_.pidfd(), plan_.flushes));
  clear_time_ += report.took;
  began_ = clock_->now();

  if (!plan_.runs.empty() || !plan_.flushes.empty()) {
    HOTSET_CHECK(census_->read_into(again_, subject_, tracker_.asked_tables()));
    read_time_ += again_.end - again_.begin;
    judge_.restart();
    tracker_.settle(again_, [this](const Region& region, const PageMask& pages) {
      return judge_.judge(subject_.pid(), region.address, region, pages);
    });
  }
  cpu_ = own_cpu_time() - cpu;
  return {};
}

Result<MeterReading> AccessMeter::read() {
  const Nanoseconds cpu = own_cpu_time();
  HOTSET_CHECK(census_->read_into(last_, subject_));
  MeterReading reading;
  last_space_ = census_->address_space();
  reading.execed = last_space_ != space_;
  if (reading.execed) tracker_.forget();
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
  reading.unwatched = !clear_;
  reading.contested = contest_.note(clears_of(subject_.pid()) != clear_, reading.answer);
  return reading;
}

} // namespace hotset
