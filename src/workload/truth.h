// SPDX-License-Identifier: Apache-2.0
// Known answers: a workload's own record of which of its pages it touched in which window.
//
// The record lives in a memfd of the workload ("hotset-truth", its size sealed), which an observer finds in
// /proc/PID/fd; it vanishes with the process, however that ends. The observer maps the first page alone and reads the
// rest: pages that two processes map are another matter to who measures the workload (access/tracker.h). The observer
// starts a window by advancing `window`; the workload, at each touch of page p in window w, stores w into stamp[w &
// 1][p]. So window w is complete and stable from the moment w + 1 begins until w + 2 begins, and back-to-back windows
// lose nothing.
//
// At the seam: the workload looks at `window` before the touch and again after it, so a page that was touched in a
// window is always in that window's set. The page in flight while the observer advances may be in both sets: one page
// per seam, for there is one writer per record. The cost to the workload is two loads of a shared line that seldom
// changes and one store per touch.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "identity/process.h"

namespace hotset {

inline constexpr std::uint64_t kTruthMagic = 0x68545f746f68ULL; // "hot_Th"
inline constexpr std::uint32_t kTruthVersion = 1;
inline constexpr std::size_t kTruthStampsOffset = 4096;                 // of the stamp tables in the memfd
inline constexpr std::uint64_t kTruthMaxPages = std::uint64_t{1} << 26; // 256 GiB of 4 KiB pages, a 512 MiB record

// Shared between two processes: fixed widths, no pointers.
struct TruthHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t page_bytes;
  std::uint64_t pages;                // of the workload's region; two stamp tables of this many follow
  std::atomic<std::uint64_t> address; // of the region's first page now, 0 while there is none
  std::atomic<std::uint32_t> window;  // the observer's; 0 until the first window begins
  std::atomic<std::uint32_t> passes;  // complete passes over the hot set, for rates
  std::atomic<std::uint64_t> touches; // page touches so far
  std::atomic<std::uint64_t> moves;   // times the address changed: page-exact comparison needs a window without
  std::atomic<std::uint64_t> covered; // pages from `address` on that the region has now, at most `pages`
};
static_assert(sizeof(TruthHeader) == 64 && std::atomic<std::uint32_t>::is_always_lock_free &&
              std::atomic<std::uint64_t>::is_always_lock_free);

// The number of the window that follows: 1, 2, … and after 2^32 - 1 again 2, for 0 means "none" and the tables must go
// on alternating.
constexpr std::uint32_t window_after(std::uint32_t window) {
  return window == UINT32_MAX ? 2 : window + 1;
}

// A shared mapping of the record, or of its first page, with one owner.
class TruthMapping {
 public:
  TruthMapping() = default;
  TruthMapping(void* base, std::size_t bytes) : base_(base), bytes_(bytes) {}
  TruthMapping(TruthMapping&& other) noexcept;
  TruthMapping& operator=(TruthMapping&& other) noexcept;
  ~TruthMapping();

  [[nodiscard]] TruthHeader* header() const { return static_cast<TruthHeader*>(base_); }

 private:
  void* base_ = nullptr;
  std::size_t bytes_ = 0;
};

// The workload's side. One thread of one process writes; a forked child makes a record of its own.
class TruthRecord {
 public:
  // Allocates all of the record at once, so that stamping never faults. Errors: usage above kTruthMaxPages.
  static Result<TruthRecord> create(std::uint64_t pages);

  // The region is now these pages; nullptr and 0: there is none.
  void set_region(const void* first_page, std::uint64_t covered);

  // Notes page `index` (below pages), lets `access` touch it, and notes it again if a new window began meanwhile.
  template <class Access>
  void touch(std::uint64_t index, Access&& access) {
    std::uint32_t before = header_->window.load(std::memory_order_relaxed);
    stamp(before, index);
    access();
    std::atomic_signal_fence(std::memory_order_seq_cst); // the compiler keeps the access between the two looks
    std::uint32_t after = header_->window.load(std::memory_order_relaxed);
    if (after != before) [[unlikely]]
      stamp(after, index);
  }
  void count_touches(std::uint64_t touches) { header_->touches.fetch_add(touches, std::memory_order_relaxed); }
  void count_pass() { header_->passes.fetch_add(1, std::memory_order_relaxed); }

  [[nodiscard]] const TruthHeader& header() const { return *header_; }

 private:
  TruthRecord(TruthMapping mapping, Fd fd, std::uint64_t pages);

  void stamp(std::uint32_t window, std::uint64_t index) {
    stamps_[(window & 1) * pages_ + index].store(window, std::memory_order_relaxed);
  }

  TruthMapping mapping_;
  Fd fd_; // what the observer finds
  TruthHeader* header_;
  std::atomic<std::uint32_t>* stamps_;
  std::uint64_t pages_;
};

// The observer's side: one observer at a time per workload. Whatever the other process does to its record later, the
// reader reads wrong numbers at worst: the size is sealed and was checked.
class TruthReader {
 public:
  // Errors: not_found when the process is gone or publishes no record; bad_data when it is not one of ours; permission.
  static Result<TruthReader> open(const Files& files, const ProcessId& id);

  // Ends the running window and begins the next; returns the number of the one that ended, 0 when this was the first.
  std::uint32_t next_window();
  // Pages touched in the window that next_window() ended last; 0 for window 0.
  [[nodiscard]] std::uint64_t touched_pages(std::uint32_t window) const;
  // One flag per page of the region.
  [[nodiscard]] std::vector<bool> touched(std::uint32_t window) const;

  // The record could not be read to its end once (no memory for a page that was swapped out): a truth from then on is
  // none.
  [[nodiscard]] bool broken() const { return broken_; }

  [[nodiscard]] std::uint64_t pages() const { return pages_; }
  [[nodiscard]] std::uint64_t page_bytes() const { return page_bytes_; }
  // Of the region's first page now; 0 while it has none.
  [[nodiscard]] std::uint64_t address() const { return header().address.load(std::memory_order_relaxed); }
  // Pages that the region has now; the first covered() of pages().
  [[nodiscard]] std::uint64_t covered() const { return header().covered.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t touches() const { return header().touches.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint32_t passes() const { return header().passes.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t moves() const { return header().moves.load(std::memory_order_relaxed); }

 private:
  TruthReader(TruthMapping mapping, Fd fd, std::uint64_t pages, std::uint64_t page_bytes);
  // The record behind an open descriptor; `object` names it in errors.
  static Result<TruthReader> map(Fd fd, const std::string& object);
  [[nodiscard]] const TruthHeader& header() const { return *mapping_.header(); }
  // Calls visit(index) for each page that was touched in the window.
  template <class Visit>
  void for_each_touched(std::uint32_t window, Visit visit) const;

  TruthMapping mapping_; // of the header
  Fd fd_;
  std::uint64_t pages_; // validated once: the workload could change the header's
  std::uint64_t page_bytes_;
  mutable bool broken_ = false;
};

} // namespace hotset
