// SPDX-License-Identifier: Apache-2.0
// A set of the 512 pages that one leaf page table maps (2 MiB of address space), as one cache line of bits.
//
// Everything the estimator knows of a page is membership in such sets (present, accessed, not cleared yet, passed
// over), so its work per 2 MiB is a few word operations instead of 512 steps.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace hotset {

inline constexpr unsigned kTablePages = 512;

struct PageMask {
  std::array<std::uint64_t, kTablePages / 64> words{};

  // The pages first ≤ i < last; last ≤ 512.
  static PageMask range(unsigned first, unsigned last) {
    PageMask mask;
    if (first == 0 && last == kTablePages) {
      mask.words.fill(~std::uint64_t{0});
      return mask;
    }
    for (unsigned w = 0; w < mask.words.size(); ++w) {
      unsigned low = w * 64, high = low + 64;
      if (last <= low || first >= high) continue;
      std::uint64_t bits = ~std::uint64_t{0};
      if (first > low) bits &= bits << (first - low);
      if (last < high) bits &= ~std::uint64_t{0} >> (high - last);
      mask.words[w] = bits;
    }
    return mask;
  }
  static PageMask all() { return range(0, kTablePages); }

  [[nodiscard]] bool test(unsigned page) const { return (words[page / 64] >> (page % 64)) & 1; }
  void set(unsigned page) { words[page / 64] |= std::uint64_t{1} << (page % 64); }
  void clear(unsigned page) { words[page / 64] &= ~(std::uint64_t{1} << (page % 64)); }

  // By the processor's own instruction where there is one: x86-64 alone does not promise it.
  [[nodiscard]] unsigned count() const;
  [[nodiscard]] bool any() const {
    std::uint64_t seen = 0;
    for (std::uint64_t word : words)
      seen |= word;
    return seen != 0;
  }
  // The page with exactly `rank` members below it; rank < count().
  [[nodiscard]] unsigned nth(unsigned rank) const {
    for (unsigned w = 0;; ++w) {
      auto here = static_cast<unsigned>(std::popcount(words[w]));
      if (rank >= here) {
        rank -= here;
        continue;
      }
      std::uint64_t word = words[w];
      while (rank-- > 0)
        word &= word - 1;
      return w * 64 + static_cast<unsigned>(std::countr_zero(word));
    }
  }
  // First member at or after `from`, 512 when there is none.
  [[nodiscard]] unsigned next(unsigned from) const {
    for (unsigned w = from / 64; w < words.size(); ++w) {
      std::uint64_t word = words[w];
      if (w == from / 64) word &= ~std::uint64_t{0} << (from % 64);
      if (word != 0) return w * 64 + static_cast<unsigned>(std::countr_zero(word));
    }
    return kTablePages;
  }
  // Last member, which must exist.
  [[nodiscard]] unsigned last() const {
    unsigned w = static_cast<unsigned>(words.size()) - 1;
    while (words[w] == 0)
      --w;
    return w * 64 + 63 - static_cast<unsigned>(std::countl_zero(words[w]));
  }

  PageMask& operator|=(const PageMask& other) {
    for (std::size_t w = 0; w < words.size(); ++w)
      words[w] |= other.words[w];
    return *this;
  }
  PageMask& operator&=(const PageMask& other) {
    for (std::size_t w = 0; w < words.size(); ++w)
      words[w] &= other.words[w];
    return *this;
  }
  // Takes the other's members out.
  PageMask& operator-=(const PageMask& other) {
    for (std::size_t w = 0; w < words.size(); ++w)
      words[w] &= ~other.words[w];
    return *this;
  }
  friend PageMask operator|(PageMask a, const PageMask& b) { return a |= b; }
  friend PageMask operator&(PageMask a, const PageMask& b) { return a &= b; }
  friend PageMask operator-(PageMask a, const PageMask& b) { return a -= b; }
  friend bool operator==(const PageMask&, const PageMask&) = default;
};

} // namespace hotset
