// SPDX-License-Identifier: Apache-2.0
// The hot set: which pages of a region a workload touches, as a function and not as a list, so that a workload of any
// size touches nothing but its region.
//
// The hot pages are numbered 0 … count - 1 and every number is a page of its own. Contiguous sets are intervals;
// scattered ones go through a keyed permutation of the region's pages (a Feistel network, walked until it stays inside
// the region: Black and Rogaway 2002), so they are as good as drawn at random without replacement.
#pragma once

#include <array>
#include <cstdint>

namespace hotset {

class Permutation {
 public:
  // Of the numbers 0 … size - 1; size above 0.
  Permutation(std::uint64_t size, std::uint64_t seed);
  [[nodiscard]] std::uint64_t operator()(std::uint64_t number) const;

 private:
  [[nodiscard]] std::uint64_t encrypt(std::uint64_t number) const;

  std::uint64_t size_;
  unsigned half_bits_;
  std::array<std::uint64_t, 4> keys_{};
};

struct HotSetShape {
  double share = 1.0;       // of the pages, 0 < share ≤ 1
  std::uint64_t stride = 1; // only every stride-th page of the share is touched
  bool scattered = false;
  std::uint64_t seed = 1;
};

class HotSet {
 public:
  HotSet(std::uint64_t pages, const HotSetShape& shape);

  // Distinct pages that are touched while `grown` pages are in use: the share of them, rounded to whole pages, at least
  // one, and of these every stride-th. `grown` is at least 1.
  [[nodiscard]] std::uint64_t count(std::uint64_t grown) const;
  [[nodiscard]] std::uint64_t count() const { return count(pages_); }
  // Hot page `k` (below count()) of set number `phase`. Sets of successive phases are disjoint for as long as the
  // region has pages that are in none of them.
  [[nodiscard]] std::uint64_t page(std::uint64_t k, std::uint64_t phase) const {
    return place((phase % pages_ * hot(pages_) + k * shape_.stride) % pages_);
  }
  // The page that is `n`th to come into use where a region grows.
  [[nodiscard]] std::uint64_t place(std::uint64_t n) const { return shape_.scattered ? permutation_(n) : n; }
  [[nodiscard]] std::uint64_t pages() const { return pages_; }

 private:
  [[nodiscard]] std::uint64_t hot(std::uint64_t grown) const;

  std::uint64_t pages_;
  HotSetShape shape_;
  Permutation permutation_;
};

} // namespace hotset
