// SPDX-License-Identifier: Apache-2.0
#include "access/sample.h"

#include <algorithm>
#include <cmath>
#include <ranges>
#include <set>

namespace hotset {
namespace {

constexpr unsigned kBlockSizes[] = {1, 8, 32, 64, 128, 256, 512};
constexpr int kTriesPerUnit = 8;
// Half-width of a 95 % betting interval in standard errors: 1.25 times the normal interval's (tests/unit).
constexpr double kHalfWidth = 1.25 * 1.96;
// Of n draws that all agree, the 95 % betting interval with our bets is this / n wide
// (tests/unit/access_sample_test.cpp); ln(2/α) = 3.7 would be the least, were it known before that they will agree.
constexpr double kRare = 4.8;
// Of block sizes that are about as good the largest is taken: its draws tell more of the spread.
constexpr double kAsGood = 1.15;
constexpr double kMemory = 256; // draws after which old windows have faded

} // namespace

void Frame::add(std::uint32_t table, const PageMask& mask, bool whole) {
  unsigned count = mask.count();
  if (count > 0) parts_.push_back({pages() + count, table, whole, mask});
}

std::vector<Unit> Frame::draw(std::size_t units, unsigned block_pages, RandomEngine& random) const {
  std::vector<Unit> drawn;
  if (parts_.empty()) return drawn;
  std::uniform_int_distribution<std::uint64_t> any_page(0, pages() - 1);
  std::set<std::pair<std::uint32_t, unsigned>> taken; // table, first page of the block
  for (std::size_t tries = units * kTriesPerUnit; tries > 0 && drawn.size() < units; --tries) {
    std::uint64_t page = any_page(random);
    auto part = std::ranges::upper_bound(parts_, page, {}, &Part::end);
    unsigned rank = part->pages.count() - static_cast<unsigned>(part->end - page);
    unsigned size = part->whole ? kTablePages : block_pages;
    unsigned first = part->pages.nth(rank) / size * size;
    if (!taken.emplace(part->table, first).second) continue;
    drawn.push_back({part->table, part->pages & PageMask::range(first, first + size)});
  }
  return drawn;
}

void Spread::learn(std::span<const Draw> draws, unsigned block_pages) {
  if (draws.size() < 2) return;
  double sum = 0, inverse = 0, pages = 0;
  for (const Draw& draw : draws) {
    sum += (static_cast<double>(draw.low) + draw.high) / 2 / draw.size;
    inverse += 1.0 / draw.size;
    pages += draw.size;
  }
  auto n = static_cast<double>(draws.size());
  double p = sum / n, page_variance = p * (1 - p), small = inverse / n;
  // Two equations: the variance seen with these blocks, and that of single pages.
  double within_now = small < 0.99 ? (page_variance - ratio_variance(draws)) / (1 - small) : within;
  within_now = std::clamp(within_now, 0.0, page_variance);
  double share = n / (n + std::min(weight, kMemory));
  ratio += share * (p - ratio);
  within += share * (within_now - within);
  between += share * (page_variance - within_now - between);
  density += share * (std::clamp(pages / n / block_pages, 1.0 / block_pages, 1.0) - density);
  weight = std::min(weight, kMemory) + n;
}

double Spread::variance(unsigned block_pages) const {
  return std::max(1e-4, between + within / std::max(1.0, density * block_pages));
}

SampleDesign design_sample(const Spread& spread, std::uint64_t frame_pages, double error_pages, double budget_us,
                           const ClearCosts& costs) {
  const double frame = static_cast<double>(frame_pages), share = std::max(error_pages, 1.0) / frame;
  auto pages_of = [&](unsigned size) { return std::max(1.0, spread.density * size); };
  // n with kHalfWidth · frame · sqrt(variance / n) = error, less what the finite population saves; and enough draws
  // that a rare block is not simply missed: where all agree, the interval reaches kRare / n to one side, and half of
  // that is its half-width.
  auto wanted = [&](unsigned size) {
    const double n = std::max(kHalfWidth * kHalfWidth * spread.variance(size) / (share * share), kRare / 2 / share);
    return std::max(n / (1 + n * pages_of(size) / frame), static_cast<double>(kLeastUnits));
  };
  auto price = [&](unsigned size) { return wanted(size) * costs.of(1, size); };
  // Where even the cheapest is too dear: the half-width that the money buys.
  auto width = [&](unsigned size) {
    const double n = std::max(budget_us, 1.0) / costs.of(1, size);
    return std::max(kHalfWidth * std::sqrt(spread.variance(size) / n), kRare / 2 / n);
  };
  // The largest of those that are about as good as the best.
  auto choose = [](auto measure, double most) {
    const double least = std::ranges::min(kBlockSizes | std::views::transform(measure));
    unsigned best = 0;
    for (unsigned block : kBlockSizes)
      if (double value = measure(block); value == least || value <= std::min(least * kAsGood, most)) best = block;
    return best;
  };
  const double cheapest = std::ranges::min(kBlockSizes | std::views::transform(price));
  const unsigned size = cheapest <= budget_us ? choose(price, budget_us) : choose(width, 1);

  const double unit_us = costs.of(1, size);
  double units = std::max(std::min(wanted(size), budget_us / unit_us), static_cast<double>(kLeastUnits));
  units = std::floor(std::min(units, std::ceil(frame / pages_of(size))));
  return {size, static_cast<std::size_t>(units), units * unit_us};
}

} // namespace hotset
