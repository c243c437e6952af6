// SPDX-License-Identifier: Apache-2.0
#include "access/runs.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace hotset {
namespace {

constexpr double kLearn = 0.25;           // weight of the newest measurement
constexpr double kRange = 30;             // how far from its default a price may drift
constexpr unsigned kMaxBridgePages = 128; // a wider bridge would age too many pages for too little

double blend(double known, double measured, double standard) {
  return std::clamp(known + kLearn * (measured - known), standard / kRange, standard * kRange);
}

} // namespace

void ClearCosts::learn(double took_us, std::uint64_t runs, std::uint64_t pages) {
  if (runs == 0 || pages == 0 || !(took_us > 0)) return;
  const ClearCosts standard;
  double run_part = per_run_us * static_cast<double>(runs), page_part = per_page_us * static_cast<double>(pages);
  if (page_part > 4 * run_part)
    per_page_us =
        blend(per_page_us, std::max(0.0, took_us - run_part) / static_cast<double>(pages), standard.per_page_us);
  else
    per_run_us = blend(per_run_us, std::max(0.0, took_us - page_part) / static_cast<double>(runs), standard.per_run_us);
}

unsigned ClearCosts::bridge_pages() const {
  return static_cast<unsigned>(std::clamp(per_run_us / per_page_us, 0.0, static_cast<double>(kMaxBridgePages)));
}

void RunBuilder::add(const Region& region, const PageMask& pages) {
  if (region.huge) {
    bool whole = region.first == 0 && region.last == kTablePages;
    if (pages.any() && whole) extend(region, 0, kTablePages, false);
    if (pages.any() && !whole) left_out_ += pages.count();
    bridge_from_ = region.address + kTableBytes;
    return;
  }
  // Where the set begins or ends, page by page: runs are short and many where the hot pages are scattered.
  constexpr unsigned kNone = kTablePages;
  unsigned first = kNone;
  std::uint64_t before = 0;
  for (unsigned w = 0; w < pages.words.size(); ++w) {
    const std::uint64_t word = pages.words[w];
    for (std::uint64_t edges = word ^ (word << 1 | before); edges != 0; edges &= edges - 1) {
      const unsigned edge = w * 64 + static_cast<unsigned>(std::countr_zero(edges));
      if (first == kNone) {
        first = edge;
      } else {
        extend(region, std::exchange(first, kNone), edge, true);
      }
    }
    before = word >> 63;
  }
  if (first != kNone) extend(region, first, kTablePages, true);
}

void RunBuilder::extend(const Region& region, unsigned first, unsigned last, bool may_bridge) {
  std::uint64_t address = region.address + first * std::uint64_t{4096};
  std::uint64_t end = region.address + last * std::uint64_t{4096};
  if (!runs_.empty() && vma_ == region.vma) {
    Run& run = runs_.back();
    std::uint64_t gap = (address - run.end()) / 4096;
    if (gap == 0 || (may_bridge && gap <= bridge_ && bridge_from_ <= run.end())) {
      run.pages = (end - run.address) / 4096;
      return;
    }
  }
  runs_.push_back({address, (end - address) / 4096});
  vma_ = region.vma;
}

} // namespace hotset
