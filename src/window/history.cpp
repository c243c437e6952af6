// SPDX-License-Identifier: Apache-2.0
#include "window/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace hotset {
namespace {

std::unexpected<Error> unreadable(std::string cause, std::string remedy = {}) {
  return fail(ErrorCode::bad_data, "read", "the rolling window", std::move(cause), std::move(remedy));
}

constexpr const char* kAnotherMap = "choose another map: hotset window --list shows those that hold windows";

// The newest second that the CPU says has begun, 0 if it says none. Its end is never before that of number 1.
std::uint64_t newest_second(const window_header& header) {
  return header.until == 0 ? 0 : window_second(&header, header.until) - 1;
}

// Whether the window was started in the past and has begun no second that is yet to come. Clocks may differ by some
// ticks; five minutes, which are all that a window knows, are far from both that and nonsense. The epoch of a window
// that was started as the machine was lies before it.
bool believable(const window_header& header, Nanoseconds taken) {
  constexpr Nanoseconds kSlack = std::chrono::seconds(WINDOW_SLOTS);
  constexpr std::uint64_t kLongestSecond = 2'000'000'000;
  if (header.ticks_per_s > kLongestSecond || header.tick_ns > kLongestSecond / header.ticks_per_s) return false;
  const Nanoseconds epoch(static_cast<std::int64_t>(header.epoch_ns));
  if (epoch < -kSlack || epoch > taken + kSlack) return false;
  const auto age = static_cast<std::uint64_t>((taken + kSlack - epoch).count());
  return newest_second(header) <= age / (header.ticks_per_s * header.tick_ns);
}

Result<> check(const window_header& header, const WindowImage& image, std::size_t cpu) {
  if (header.magic == 0)
    return unreadable(fmt::format("it has not been started on CPU {}", cpu),
                      "the program that loads it has to start it before it attaches (bpf/window.bpf.h)");
  if (header.magic != WINDOW_MAGIC) return unreadable("its value does not begin with the header of one", kAnotherMap);
  if (header.version != WINDOW_VERSION)
    return unreadable(
        fmt::format("it is of version {}, and this program reads version {}", header.version, WINDOW_VERSION),
        "build the program that loads it and hotset with the same bpf/window.h");
  bool known_clock = header.clock == WINDOW_JIFFIES || header.clock == WINDOW_BOOTTIME;
  if (header.layout != image.layout || header.counters != image.counters || header.slots != WINDOW_SLOTS ||
      !known_clock || header.ticks_per_s == 0 || header.tick_ns == 0)
    return unreadable(fmt::format("its header on CPU {} is not that of a window of {} counters", cpu, image.counters),
                      kAnotherMap);
  if (!believable(header, image.taken))
    return unreadable(
        fmt::format("its header on CPU {} is not to be believed: it tells of times that have not been", cpu),
        "load its program again");
  return {};
}

bool has_slot(const WindowImage& image, std::uint64_t second) {
  for (std::size_t cpu = 0; cpu < image.cpus; ++cpu)
    if ((image.slot(cpu, second % WINDOW_SLOTS)[0] & ~WINDOW_BUSY) == second) return true;
  return false;
}

// The newest second that any CPU says has begun, 0 if none does.
std::uint64_t newest_second(const WindowImage& image) {
  std::uint64_t newest = 0;
  for (std::size_t cpu = 0; cpu < image.cpus; ++cpu)
    newest = std::max(newest, newest_second(image.header(cpu)));
  return newest;
}

// What a pass over the slots of one CPU adds to.
struct Rows {
  std::uint64_t known, first, running; // numbers of seconds
  std::uint64_t* before;               // a row for each second from `first` to the one after `running`
  std::uint64_t* before_known;         // one row
};

// Adds to each row what the CPU had counted when that second began: the start in its slot or, if it has none, what the
// next one began with, and in the end the totals. False when a start is above the next one. It goes through 300 slots
// in a microsecond, hence the number of counters at compile time.
template <std::size_t N>
bool add_starts_of(const __u64* totals, const __u64* slots, const Rows& rows) {
  const __u64* start = totals;
  __u64 falls = 0; // the highest bit: some difference was below zero
  auto step_to = [&](const __u64* slot) {
#pragma GCC unroll 12
    for (std::size_t i = 0; i < N; ++i)
      falls |= start[i] - slot[1 + i];
    start = slot + 1;
  };
  auto add_to = [&](std::uint64_t* row) {
#pragma GCC unroll 12
    for (std::size_t i = 0; i < N; ++i)
      row[i] += start[i];
  };
  std::uint64_t* row = rows.before + (rows.running + 1 - rows.first) * N;
  add_to(row);
  std::uint64_t index = rows.running % WINDOW_SLOTS;
  for (std::uint64_t second = rows.running; second >= rows.first; --second) {
    const __u64* slot = slots + index * (1 + N);
    index = index == 0 ? WINDOW_SLOTS - 1 : index - 1;
    if (slot[0] == second) step_to(slot);
    row -= N;
    add_to(row);
  }
  for (std::uint64_t second = rows.known; second < rows.first; ++second) {
    const __u64* slot = slots + second % WINDOW_SLOTS * (1 + N);
    if (slot[0] != second) continue;
    step_to(slot);
    break;
  }
  add_to(rows.before_known);
  return falls >> 63 == 0;
}

using AddStarts = decltype(&add_starts_of<1>);

template <std::size_t... N>
constexpr auto by_counters(std::index_sequence<N...> /*unused*/) {
  return std::array<AddStarts, sizeof...(N)>{&add_starts_of<N + 1>...};
}
constexpr auto kAddStarts = by_counters(std::make_index_sequence<WINDOW_MAX_COUNTERS>());

// Sets every start that is above the next one to that one. Returns the number of slots that were torn: it is no harm
// that a start is above the totals, which were copied before it, and more was counted in between.
std::uint64_t repair(WindowImage& image, std::uint64_t known, std::uint64_t running) {
  std::uint64_t torn = 0;
  for (std::size_t cpu = 0; cpu < image.cpus; ++cpu) {
    std::span<const __u64> next = image.totals(cpu);
    bool next_is_a_start = false;
    for (std::uint64_t second = running; second >= known; --second) {
      std::span<__u64> slot = image.slot(cpu, second % WINDOW_SLOTS);
      if (slot[0] != second) continue;
      bool above = false;
      for (std::size_t i = 0; i < next.size(); ++i) {
        above |= slot[1 + i] > next[i];
        slot[1 + i] = std::min(slot[1 + i], next[i]);
      }
      torn += above && next_is_a_start ? 1 : 0;
      next_is_a_start = true;
      next = slot.subspan(1);
    }
  }
  return torn;
}

} // namespace

double WindowSpan::coverage() const {
  return requested == 0 ? 0 : static_cast<double>(known) / static_cast<double>(requested);
}

std::optional<double> WindowSpan::rate(std::size_t counter) const {
  if (known == 0) return std::nullopt;
  return static_cast<double>(sums[counter]) / static_cast<double>(known);
}

std::optional<double> WindowSpan::ratio(std::span<const std::size_t> of, std::span<const std::size_t> to) const {
  auto sum = [this](std::span<const std::size_t> counters) {
    double all = 0;
    for (std::size_t counter : counters)
      all += static_cast<double>(sums[counter]);
    return all;
  };
  double divisor = sum(to);
  if (divisor == 0) return std::nullopt;
  return sum(of) / divisor;
}

Result<WindowHistory> WindowHistory::from(const WindowImage& image, std::uint64_t seconds) {
  for (std::size_t cpu = 0; cpu < image.cpus; ++cpu)
    HOTSET_CHECK(check(image.header(cpu), image, cpu));
  WindowHistory history;
  history.totals_.resize(image.counters);
  history.place(image, image.header(0), seconds);
  for (std::size_t cpu = 0; cpu < image.cpus; ++cpu) {
    std::span<const __u64> totals = image.totals(cpu);
    for (std::size_t i = 0; i < totals.size(); ++i)
      history.totals_[i] += totals[i];
  }
  if (image.layout == WINDOW_PUBLISHED)
    history.add_published(image);
  else
    history.add_starts(image);
  return history;
}

// Which seconds are known. By our clock the kernel is in one of three ticks: epoch_ns may be late by one, and the tick
// that is due may not have come yet. The running second is that of the earliest, for a second that is called whole must
// not grow any more, unless a program has begun a later one; but the slots that the latest may be about to use again
// are not looked at.
void WindowHistory::place(const WindowImage& image, const window_header& header, std::uint64_t seconds) {
  clock_ = static_cast<window_clock>(header.clock);
  epoch_ = Nanoseconds(header.epoch_ns);
  taken_ = image.taken;
  auto elapsed = static_cast<std::uint64_t>(std::max(taken_ - epoch_, Nanoseconds::zero()).count()) / header.tick_ns;
  std::uint64_t earliest = elapsed == 0 ? 0 : (elapsed - 1) / header.ticks_per_s;
  std::uint64_t latest = (elapsed + 1) / header.ticks_per_s;
  running_ = std::max({earliest, newest_second(image), std::uint64_t{1}});
  while (running_ < latest && has_slot(image, running_ + 1))
    ++running_;
  latest = std::max(latest, running_);
  known_ = latest > kWindowSeconds ? latest - kWindowSeconds : 1;
  first_ = running_ - known_ > seconds ? running_ - seconds : known_;
  before_.resize((running_ - first_ + 2) * counters());
  before_known_.resize(counters());
}

// The count of a second is the difference of its start and the next one, so no start may be above the next: all that
// was counted is then in some second, and none is below zero.
void WindowHistory::add_starts(const WindowImage& image) {
  auto add_all = [this](const WindowImage& from) {
    Rows rows{known_, first_, running_, before_.data(), before_known_.data()};
    bool in_order = true;
    for (std::size_t cpu = 0; cpu < from.cpus; ++cpu)
      in_order &= kAddStarts[counters() - 1](from.totals(cpu).data(), from.slot(cpu, 0).data(), rows);
    return in_order;
  };
  if (add_all(image)) return;
  WindowImage repaired = image;
  torn_ = repair(repaired, known_, running_);
  std::ranges::fill(before_, 0);
  std::ranges::fill(before_known_, 0);
  add_all(repaired);
}

// The counts of each second, which become running sums: from 0 at `first`, so what was counted before is below it.
void WindowHistory::add_published(const WindowImage& image) {
  for (std::size_t cpu = 0; cpu < image.cpus; ++cpu) {
    for (std::uint64_t second = known_; second <= running_; ++second) {
      std::span<const __u64> slot = image.slot(cpu, second % WINDOW_SLOTS);
      if (slot[0] == (second | WINDOW_BUSY)) ++torn_;
      if (slot[0] != second) continue;
      for (std::size_t i = 0; i < counters(); ++i)
        second < first_ ? before_known_[i] -= slot[1 + i] : row(second + 1)[i] += slot[1 + i];
    }
  }
  for (std::size_t i = counters(); i < before_.size(); ++i)
    before_[i] += before_[i - counters()];
}

std::optional<std::uint64_t> WindowHistory::count(std::uint64_t second, std::size_t counter) const {
  if (second < first_ || second > running_) return std::nullopt;
  return row(second + 1)[counter] - row(second)[counter];
}

WindowSpan WindowHistory::last(std::uint64_t seconds) const {
  WindowSpan span{.requested = seconds, .first = first_, .known = running_ - first_, .sums = {}};
  if (span.known > seconds) {
    span.known = seconds;
    span.first = running_ - seconds;
  }
  span.sums.resize(counters());
  for (std::size_t i = 0; i < counters(); ++i)
    span.sums[i] = row(running_)[i] - row(span.first)[i];
  return span;
}

WindowSpan WindowHistory::whole() const {
  WindowSpan span{.requested = kWindowSeconds, .first = known_, .known = running_ - known_, .sums = {}};
  span.sums.resize(counters());
  for (std::size_t i = 0; i < counters(); ++i)
    span.sums[i] = row(running_)[i] - before_known_[i];
  return span;
}

} // namespace hotset
