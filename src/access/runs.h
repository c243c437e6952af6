// SPDX-License-Identifier: Apache-2.0
// Pages to clear, as address ranges to hand to the kernel.
//
// A call costs a fixed price per range (a lookup, a page-table lock, a TLB flush that interrupts the target) and a
// small one per page. So two groups of pages with a gap between them become one range when passing over the gap costs
// less than a second range: the gap that is worth bridging follows from the two measured prices.
#pragma once

#include <cstdint>
#include <vector>

#include "access/page_mask.h"
#include "access/snapshot.h"

namespace hotset {

// Pages from the first to the last that a run changes, from which on the kernel flushes the whole TLB and not page by
// page: with some distance to x86's default, 33 (tlb_single_page_flush_ceiling).
inline constexpr std::uint64_t kFlushPages = 64;

// What MADV_COLD does, as far as kernels differ in it (access/clear.h finds out).
struct AgeTraits {
  std::uint64_t flush_pages = kFlushPages; // a run that changes pages so far apart has the whole TLB flushed
  bool stops_at_folios = false; // a part of a larger folio that it can't split ends its way through a page table
};

struct Run {
  std::uint64_t address = 0;
  std::uint64_t pages = 0;

  [[nodiscard]] std::uint64_t end() const { return address + pages * 4096; }
  friend bool operator==(const Run&, const Run&) = default;
};

// What clearing costs, measured on this target (see ClearCosts::learn): defaults are a busy target's.
struct ClearCosts {
  double per_run_us = 4.0;
  double per_page_us = 0.08;

  // Takes in what one call took, as a moving average. `per_page_us` is learned from calls of long runs, `per_run_us`
  // from the rest; both stay within a factor of 30 of the defaults, so that one disturbed call can't derail planning.
  void learn(double took_us, std::uint64_t runs, std::uint64_t pages);
  [[nodiscard]] double of(std::uint64_t runs, std::uint64_t pages) const {
    return per_run_us * static_cast<double>(runs) + per_page_us * static_cast<double>(pages);
  }
  // Pages of a gap that cost no more than a run of their own.
  [[nodiscard]] unsigned bridge_pages() const;
};

// Builds runs from the pages of ascending regions. Runs never leave a mapping, and touch huge regions only as whole
// aligned 2 MiB: a part would make the kernel split the huge page.
class RunBuilder {
 public:
  explicit RunBuilder(unsigned bridge_pages) : bridge_(bridge_pages) {}

  // `pages` ⊆ region.own(); for a huge region all of it or nothing. A huge region that is cut by its mapping's edge is
  // left out and counted.
  void add(const Region& region, const PageMask& pages);
  [[nodiscard]] const std::vector<Run>& runs() const { return runs_; }
  [[nodiscard]] std::vector<Run> take() { return std::move(runs_); }
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

 private:
  void extend(const Region& region, unsigned first, unsigned last, bool may_bridge);

  unsigned bridge_;
  std::vector<Run> runs_;
  std::uint32_t vma_ = 0;         // of the last run
  std::uint64_t bridge_from_ = 0; // no 2 MiB page lies between here and the end of the last run
  std::uint64_t left_out_ = 0;
};

} // namespace hotset
