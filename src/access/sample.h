// SPDX-License-Identifier: Apache-2.0
// Drawing blocks of pages with probability proportional to what they hold.
//
// The frame is the set of pages whose Accessed bit was set when the window began and that will not all be cleared. A
// unit is the frame's part of an aligned block of B pages. To draw a unit, draw a page of the frame with equal
// probabilities and take its block; a block that was drawn before is drawn again. That is sampling without replacement
// with probabilities proportional to size, and needs no list of the blocks.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "access/interval.h"
#include "access/page_mask.h"
#include "access/runs.h"

namespace hotset {

using RandomEngine = std::mt19937_64;

struct Unit {
  std::uint32_t table = 0; // index given to Frame::add
  PageMask pages{};        // the unit's pages of the frame
};

class Frame {
 public:
  // Adds the pages of one table; `whole`: they are one unit whatever B (a huge page). Tables without pages are ignored.
  void add(std::uint32_t table, const PageMask& pages, bool whole);
  [[nodiscard]] std::uint64_t pages() const { return parts_.empty() ? 0 : parts_.back().end; }
  // At most `units` units in the order of the draw; fewer when the frame has no more (each try that hits a drawn block
  // counts towards a limit of eight tries a unit, so a frame that is nearly used up ends the draw). block_pages: a
  // power of two up to 512.
  std::vector<Unit> draw(std::size_t units, unsigned block_pages, RandomEngine& random) const;

 private:
  struct Part {
    std::uint64_t end; // of its pages, counted over all parts
    std::uint32_t table;
    bool whole;
    PageMask pages;
  };
  std::vector<Part> parts_;
};

// How ratios spread in blocks of B pages, learned from earlier windows: variance = between + within / (pages of the
// frame in a block). A page alone has variance p(1 − p) = between + within.
struct Spread {
  double ratio = 0.5;    // p: touched share of the frame
  double between = 0.08; // before anything is known: blocks differ, pages within a block agree somewhat
  double within = 0.17;
  double density = 0.5; // pages of the frame per page of block span
  double weight = 0;    // draws behind it

  // Takes in the draws of a window, made with blocks of `block_pages`.
  void learn(std::span<const Draw> draws, unsigned block_pages);
  [[nodiscard]] double variance(unsigned block_pages) const;
};

struct SampleDesign {
  unsigned block_pages = 64;
  std::size_t units = 32;
  double cost_us = 0;
};

// The cheapest design, or one of larger blocks that is not much dearer, whose interval is expected to be ±
// `error_pages` for a frame of `frame_pages`, but not dearer than `budget_us` (at least kLeastUnits units, whatever
// that costs: a handful of runs).
SampleDesign design_sample(const Spread& spread, std::uint64_t frame_pages, double error_pages, double budget_us,
                           const ClearCosts& costs);

inline constexpr std::size_t kLeastUnits = 16;

} // namespace hotset
