// SPDX-License-Identifier: Apache-2.0
// Known answers: a workload's own record of which of its pages it touched in which window.
//
// The record lives in a sealed-size memfd of the workload ("hotset-truth"), which an observer finds in /proc/PID/fd and
// maps; it vanishes with the process, however that ends. The observer starts a window by advancing `window`; the
// workload, at each touch of page p in window w, stores w into stamp[w & 1][p]. So window w is complete and stable
// from the moment w + 1 begins until w + 2 begins, and back-to-back windows lose nothing. The cost to the workload is
// one load and one store per touched page.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "identity/process.h"

namespace hotset {

inline constexpr std::uint64_t kTruthMagic = 0x68545f746f68ULL; // "hot_Th"
inline constexpr std::uint32_t kTruthVersion = 1;

// Shared between two processes: fixed widths, no pointers.
struct TruthHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t page_bytes;
  std::uint64_t pages;                // of the workload's region; two stamp tables of this many follow
  std::atomic<std::uint64_t> address; // of the region now (a fresh region moves)
  std::atomic<std::uint32_t> window;  // the observer's; 0 until the first window begins
  std::atomic<std::uint32_t> passes;  // complete passes of the workload, for rates
  std::atomic<std::uint64_t> touches; // page touches so far
  std::uint64_t reserved[2];
};
static_assert(sizeof(TruthHeader) == 64 && std::atomic<std::uint32_t>::is_always_lock_free);

// The workload's side.
class TruthRecord {
 public:
  static Result<TruthRecord> create(std::uint64_t pages);
  TruthRecord(TruthRecord&& other) noexcept;
  TruthRecord& operator=(TruthRecord&& other) noexcept;
  ~TruthRecord();

  void set_address(const void* region) { header_->address = reinterpret_cast<std::uint64_t>(region); }
  // Notes that page `index` is about to be touched. Any thread, any forked child that shares the record.
  void touch(std::uint64_t index) {
    std::uint32_t window = header_->window.load(std::memory_order_relaxed);
    stamps_[(window & 1) * header_->pages + index].store(window, std::memory_order_relaxed);
  }
  TruthHeader& header() { return *header_; }

 private:
  TruthRecord() = default;

  TruthHeader* header_ = nullptr;
  std::atomic<std::uint32_t>* stamps_ = nullptr;
  std::size_t bytes_ = 0;
  Fd fd_;
};

// The observer's side: one at a time per workload.
class TruthReader {
 public:
  // Errors: not_found when the process publishes no record; bad_data when it is not one of ours.
  static Result<TruthReader> open(const Files& files, const ProcessId& id);
  TruthReader(TruthReader&& other) noexcept;
  TruthReader& operator=(TruthReader&& other) noexcept;
  ~TruthReader();

  // Ends the running window and begins the next; returns the number of the one that ended.
  std::uint32_t next_window();
  // Pages touched in the window that next_window() ended last.
  [[nodiscard]] std::uint64_t touched_pages(std::uint32_t window) const;
  // One flag per page of the region.
  [[nodiscard]] std::vector<bool> touched(std::uint32_t window) const;
  [[nodiscard]] std::uint64_t pages() const { return pages_; }
  [[nodiscard]] std::uint64_t address() const;

 private:
  TruthReader() = default;

  TruthHeader* header_ = nullptr;
  const std::atomic<std::uint32_t>* stamps_ = nullptr;
  std::size_t bytes_ = 0;
  std::uint64_t pages_ = 0; // validated once: the workload could change the header's
};

} // namespace hotset
