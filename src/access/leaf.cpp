// SPDX-License-Identifier: Apache-2.0
#include "access/leaf.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hotset {

LeafPages scan_leaf_portable(std::span<const Entry, kTablePages> entries) {
  LeafPages pages;
  for (unsigned w = 0; w < pages.present.words.size(); ++w) {
    std::uint64_t present = 0, accessed = 0, writable = 0;
    for (unsigned i = 0; i < 64; ++i) {
      std::uint64_t entry = entries[w * 64 + i];
      std::uint64_t mapped = (entry | entry >> 8) & 1;
      present |= mapped << i;
      accessed |= (entry >> 5 & mapped) << i;
      writable |= (entry >> 1 & mapped) << i;
    }
    pages.present.words[w] = present;
    pages.accessed.words[w] = accessed;
    pages.writable.words[w] = writable;
  }
  return pages;
}

#if defined(__x86_64__)
namespace {

// The wanted bit of each 64-bit lane is shifted to the lane's sign, and movemask collects the four signs.
__attribute__((target("avx2"))) std::uint64_t signs(__m256i lanes) {
  return static_cast<std::uint64_t>(static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(lanes))));
}

__attribute__((target("avx2"))) LeafPages scan_leaf_avx2(std::span<const Entry, kTablePages> entries) {
  LeafPages pages;
  for (unsigned w = 0; w < pages.present.words.size(); ++w) {
    std::uint64_t present = 0, accessed = 0, writable = 0;
    for (unsigned i = 0; i < 64; i += 4) {
      __m256i entry = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(&entries[w * 64 + i]));
      __m256i mapped = _mm256_or_si256(_mm256_slli_epi64(entry, 63), _mm256_slli_epi64(entry, 55));
      present |= signs(mapped) << i;
      accessed |= signs(_mm256_slli_epi64(entry, 58)) << i;
      writable |= signs(_mm256_slli_epi64(entry, 62)) << i;
    }
    pages.present.words[w] = present;
    pages.accessed.words[w] = accessed & present;
    pages.writable.words[w] = writable & present;
  }
  return pages;
}

} // namespace

LeafPages scan_leaf(std::span<const Entry, kTablePages> entries) {
  static const bool avx2 = __builtin_cpu_supports("avx2") != 0;
  return avx2 ? scan_leaf_avx2(entries) : scan_leaf_portable(entries);
}
#else
LeafPages scan_leaf(std::span<const Entry, kTablePages> entries) {
  return scan_leaf_portable(entries);
}
#endif

} // namespace hotset
