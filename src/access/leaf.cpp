// SPDX-License-Identifier: Apache-2.0
#include "access/leaf.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hotset {

LeafPages scan_leaf_portable(std::span<const Entry> entries, unsigned first) {
  LeafPages pages;
  for (unsigned i = 0; i < entries.size(); ++i) {
    const std::uint64_t entry = entries[i], mapped = (entry | entry >> 8) & 1;
    const unsigned word = (first + i) / 64, bit = (first + i) % 64;
    pages.present.words[word] |= mapped << bit;
    pages.accessed.words[word] |= (entry >> 5 & mapped) << bit;
    pages.writable.words[word] |= (entry >> 1 & mapped) << bit;
  }
  return pages;
}

#if defined(__x86_64__)
namespace {

#define HOTSET_AVX2 __attribute__((target("avx2"), always_inline)) inline

constexpr long long kWanted = kEntryPresent | kEntryWritable | kEntryAccessed | kEntryProtNone;

HOTSET_AVX2 __m256i load_wanted(const Entry* four) {
  return _mm256_and_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(four)), _mm256_set1_epi64x(kWanted));
}

// 16 entries, 16 bits each, with PROT_NONE moved to where present is. The halves of the registers are packed by
// themselves, so the order is 0 1 4 5 8 9 12 13 in the lower half and 2 3 6 7 10 11 14 15 in the upper one.
HOTSET_AVX2 __m256i pack_16(const Entry* entries) {
  __m256i low = _mm256_packus_epi32(load_wanted(entries), load_wanted(entries + 4));
  __m256i high = _mm256_packus_epi32(load_wanted(entries + 8), load_wanted(entries + 12));
  __m256i packed = _mm256_packus_epi32(low, high);
  return _mm256_and_si256(_mm256_or_si256(packed, _mm256_srli_epi16(packed, 8)), _mm256_set1_epi16(0xff));
}

// 32 entries, a byte each, in order: pairs of bytes are put in turns from the lower and the upper half.
HOTSET_AVX2 __m256i pack_32(const Entry* entries) {
  __m256i packed = _mm256_packus_epi16(pack_16(entries), pack_16(entries + 16));
  __m256i halves = _mm256_permute4x64_epi64(packed, _MM_SHUFFLE(3, 1, 2, 0));
  const __m256i turns = _mm256_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15, //
                                         0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15);
  return _mm256_shuffle_epi8(halves, turns);
}

// One bit of each byte, shifted to the byte's sign.
template <int shift>
HOTSET_AVX2 std::uint64_t signs(__m256i bytes) {
  return static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_slli_epi16(bytes, shift)));
}

__attribute__((target("avx2"))) LeafPages scan_leaf_avx2(const Entry* entries) {
  LeafPages pages;
  for (std::size_t w = 0; w < pages.present.words.size(); ++w) {
    const __m256i low = pack_32(entries + w * 64), high = pack_32(entries + w * 64 + 32);
    const std::uint64_t present = signs<7>(low) | signs<7>(high) << 32;
    pages.present.words[w] = present;
    pages.accessed.words[w] = (signs<2>(low) | signs<2>(high) << 32) & present;
    pages.writable.words[w] = (signs<6>(low) | signs<6>(high) << 32) & present;
  }
  return pages;
}

const bool kHasAvx2 = __builtin_cpu_supports("avx2") != 0;

} // namespace

LeafPages scan_leaf(std::span<const Entry> entries, unsigned first) {
  return kHasAvx2 && entries.size() == kTablePages ? scan_leaf_avx2(entries.data())
                                                   : scan_leaf_portable(entries, first);
}
#else
LeafPages scan_leaf(std::span<const Entry> entries, unsigned first) {
  return scan_leaf_portable(entries, first);
}
#endif

} // namespace hotset
