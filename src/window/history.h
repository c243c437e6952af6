// SPDX-License-Identifier: Apache-2.0
// What a rolling window says: how often each counter went up in which second, all CPUs together. Pure functions over an
// image.
//
// Seconds have numbers. Number 1 began when the window was started; the running one is not over yet.
//
//     before the start │ forgotten since │ known, up to 299 whole seconds │ running
//   ───────────────────┼─────────────────┼────────────────────────────────┼──────────▶
//                      1                first                          running     now
//
// A known second without a bump counts 0. Before and after the known ones nothing is known, which is not 0: such a
// second has no count, and a span that reaches there says how much of it is known. On each CPU only the slots of known
// seconds are used, whatever is left in the others.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "window/image.h"

namespace hotset {

// Whole seconds that a window knows at the most: the running one has a slot, too.
inline constexpr std::uint64_t kWindowSeconds = WINDOW_SLOTS - 1;

// The last whole seconds before the running one, as far as they are known.
struct WindowSpan {
  std::uint64_t requested = 0;     // seconds
  std::uint64_t first = 0;         // number of the first known second
  std::uint64_t known = 0;         // seconds from there to the running one
  std::vector<std::uint64_t> sums; // by counter, over the known seconds

  // The share of the requested seconds that is known.
  [[nodiscard]] double coverage() const;
  // Per second, over the known seconds; nothing when there is none.
  [[nodiscard]] std::optional<double> rate(std::size_t counter) const;
  // Sum of some counters by the sum of others: a hit rate, for one. Nothing when the latter is 0.
  [[nodiscard]] std::optional<double> ratio(std::span<const std::size_t> of, std::span<const std::size_t> to) const;
};

class WindowHistory {
 public:
  // Adds up the last `seconds` of the image; fewer are quicker. Error: bad_data when a CPU's copy has not been started,
  // or is not what this version reads.
  static Result<WindowHistory> from(const WindowImage& image, std::uint64_t seconds = kWindowSeconds);

  [[nodiscard]] std::size_t counters() const { return totals_.size(); }
  [[nodiscard]] window_clock clock() const { return clock_; }
  // The first of the seconds that were added up, all of which are known; and the running one, which follows the last.
  [[nodiscard]] std::uint64_t first() const { return first_; }
  [[nodiscard]] std::uint64_t running() const { return running_; }

  // Of a second that was added up, or of the running one so far; nothing for any other.
  [[nodiscard]] std::optional<std::uint64_t> count(std::uint64_t second, std::size_t counter) const;
  // Since the window was started. Only grows.
  [[nodiscard]] std::uint64_t total(std::size_t counter) const { return totals_[counter]; }
  // Of the seconds that were added up.
  [[nodiscard]] WindowSpan last(std::uint64_t seconds) const;
  // Of all that the window knows, however few were added up one by one.
  [[nodiscard]] WindowSpan whole() const;

  // When a second began and when the image was taken, both on the clock that epoch_ns is on (bpf/window.h).
  [[nodiscard]] Nanoseconds begin_of(std::uint64_t second) const { return epoch_ + std::chrono::seconds(second); }
  [[nodiscard]] Nanoseconds taken() const { return taken_; }

  // Slots that were caught while they changed; read again. One that stays torn is held up in the kernel: in the
  // published layout its counts are left out, in the other they may lie one slot off.
  [[nodiscard]] std::uint64_t torn() const { return torn_; }

 private:
  WindowHistory() = default;

  void place(const WindowImage& image, const window_header& header, std::uint64_t seconds);
  void add_starts(const WindowImage& image);
  void add_published(const WindowImage& image);
  std::uint64_t* row(std::uint64_t second) { return &before_[(second - first_) * counters()]; }
  [[nodiscard]] const std::uint64_t* row(std::uint64_t second) const {
    return &before_[(second - first_) * counters()];
  }

  window_clock clock_ = WINDOW_NOT_STARTED;
  std::uint64_t known_ = 0, first_ = 0, running_ = 0; // the first known second, the first and the last added up
  std::vector<std::uint64_t> totals_;
  // A row of counters for each second from `first` to one past the running one: what was counted before it began. In
  // the published layout less what was counted before `first`, which it does not know.
  std::vector<std::uint64_t> before_;
  std::vector<std::uint64_t> before_known_; // the same for the first known second
  Nanoseconds epoch_{}, taken_{};
  std::uint64_t torn_ = 0;
};

} // namespace hotset
