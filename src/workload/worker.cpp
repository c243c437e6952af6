// SPDX-License-Identifier: Apache-2.0
// One batch at a time: ask the schedule what holds now, bring the memory to that state, make as many touches as are
// due, and look whether to stop. A batch is short enough that a signal or the end of the time limit is never far.
#include "workload/worker.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace hotset {
namespace {

constexpr std::size_t kBatch = 256; // touches; the numbers of a batch stay in the first-level cache
constexpr Nanoseconds kLongestSleep = std::chrono::milliseconds(50); // between two looks at stop()

HotSetShape shape_of(const WorkloadSpec& spec) {
  return {.share = spec.hot,
          .stride = spec.pattern->strided ? spec.stride : 1,
          .scattered = spec.scattered,
          .seed = spec.seed};
}

} // namespace

Result<Worker> Worker::create(const WorkloadSpec& spec, Clock& clock, std::function<bool()> stop,
                              std::uint64_t first_phase) {
  std::optional<TruthRecord> record;
  if (spec.publish) {
    HOTSET_TRY(record, TruthRecord::create(region_pages(spec)));
  }
  return Worker(spec, clock, std::move(stop), first_phase, std::move(record));
}

Worker::Worker(const WorkloadSpec& spec, Clock& clock, std::function<bool()> stop, std::uint64_t first_phase,
               std::optional<TruthRecord> record)
    : spec_(spec),
      clock_(&clock),
      stop_(std::move(stop)),
      first_phase_(first_phase),
      record_(std::move(record)),
      sequence_(spec.pattern->order, spec.skew, spec.seed + first_phase),
      pacer_(spec.rate),
      hot_set_(region_pages(spec), shape_of(spec)) {}

Result<> Worker::prepare() {
  return follow(moment_at(spec_.pattern->schedule, spec_.period, Nanoseconds::zero()));
}

void Worker::adopt(Region region) {
  use(std::move(region));
  filled_ = region_.pages();
}

WorkloadReady Worker::ready() const {
  return {.pid = ::getpid(),
          .pages = region_.pages(),
          .hot_pages = hot_set_.count(),
          .address = reinterpret_cast<std::uint64_t>(region_.first_page()),
          .children = {}};
}

Result<WorkloadSummary> Worker::run() {
  begin_ = clock_->now();
  while (!stop_()) {
    const Nanoseconds elapsed = clock_->now() - begin_;
    if (spec_.limit > Nanoseconds::zero() && elapsed >= spec_.limit) break;
    const Moment moment = moment_at(spec_.pattern->schedule, spec_.period, elapsed);
    HOTSET_CHECK(follow(moment));
    step(moment, elapsed);
  }
  summary_.seconds = to_seconds(clock_->now() - begin_);
  return summary_;
}

void Worker::use(Region region) {
  region_ = std::move(region);
  filled_ = 0;
  if (region_.allocated()) hot_set_ = HotSet(region_.pages(), shape_of(spec_));
  if (record_) record_->set_region(region_.first_page(), region_.pages());
}

// Brings the memory to the state that the moment asks for.
Result<> Worker::follow(const Moment& moment) {
  std::uint64_t wanted = each_pass_is_fresh() ? summary_.passes : moment.allocation;
  if (region_.allocated() && (!moment.allocated || wanted != allocation_)) use(Region());
  if (!moment.allocated) return {};
  if (!region_.allocated()) {
    HOTSET_TRY(Region region, Region::allocate(spec_));
    use(std::move(region));
    allocation_ = wanted;
  }
  if (each_pass_is_fresh()) return {}; // the pass itself is the first touch
  auto grown = static_cast<std::uint64_t>(std::ceil(static_cast<double>(region_.pages()) * moment.grown));
  fill_to(std::clamp<std::uint64_t>(grown, 1, region_.pages()));
  return {};
}

// First touches are touches too: a window that is running sees them. Memory that is not a file's is written, for
// reading alone would map the zero page and make nothing resident.
void Worker::fill_to(std::uint64_t grown) {
  const bool write = spec_.write || spec_.pattern->memory != Memory::file;
  const bool whole = grown == region_.pages() && filled_ == 0; // in the order of addresses, which is quicker
  std::array<std::uint64_t, kBatch> pages;
  while (filled_ < grown && !stop_()) {
    std::size_t batch = std::min<std::uint64_t>(kBatch, grown - filled_);
    for (std::size_t i = 0; i < batch; ++i)
      pages[i] = whole ? filled_ + i : hot_set_.place(filled_ + i);
    visit(std::span(pages).first(batch), write);
    filled_ += batch;
  }
}

void Worker::step(const Moment& moment, Nanoseconds elapsed) {
  if (!moment.busy) {
    wait_until(moment.lasts_until);
    pacer_.skip_to(clock_->now() - begin_);
    return;
  }
  const std::uint64_t hot =
      hot_set_.count(each_pass_is_fresh() ? region_.pages() : std::max<std::uint64_t>(filled_, 1));
  const std::uint64_t most = each_pass_is_fresh() ? std::min<std::uint64_t>(kBatch, hot - in_pass_) : kBatch;
  const std::uint64_t due = pacer_.take(elapsed, most);
  if (due == 0) {
    wait_until(std::min(pacer_.next(), moment.lasts_until));
    return;
  }
  std::array<std::uint64_t, kBatch> numbers;
  auto batch = std::span(numbers).first(due);
  sequence_.fill(hot, batch);
  for (std::uint64_t& number : batch)
    number = hot_set_.page(number, moment.phase + first_phase_);
  visit(batch, spec_.write);
  end_passes(due, hot);
}

void Worker::visit(std::span<const std::uint64_t> pages, bool write) {
  ++value_;
  auto each = [&](auto&& access) {
    for (std::uint64_t page : pages) {
      if (record_)
        record_->touch(page, [&] { access(page); });
      else
        access(page);
    }
  };
  const bool elements = spec_.pattern->memory == Memory::heap;
  if (elements && write)
    each([&](std::uint64_t page) { region_.write_elements(page, static_cast<int>(value_)); });
  else if (elements)
    each([&](std::uint64_t page) { static_cast<void>(region_.read_elements(page)); });
  else if (write)
    each([&](std::uint64_t page) { region_.write(page, value_); });
  else
    each([&](std::uint64_t page) { static_cast<void>(region_.read(page)); });
}

void Worker::end_passes(std::uint64_t touches, std::uint64_t hot) {
  summary_.touches += touches;
  if (record_) record_->count_touches(touches);
  for (in_pass_ += touches; in_pass_ >= hot; in_pass_ -= hot) {
    ++summary_.passes;
    if (record_) record_->count_pass();
  }
}

void Worker::wait_until(Nanoseconds elapsed) {
  const Nanoseconds end = spec_.limit > Nanoseconds::zero() ? std::min(elapsed, spec_.limit) : elapsed;
  while (!stop_()) {
    const Nanoseconds now = clock_->now() - begin_;
    if (now >= end) return;
    clock_->sleep_until(begin_ + std::min(end, now + kLongestSleep));
  }
}

} // namespace hotset
