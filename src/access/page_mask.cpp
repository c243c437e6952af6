// SPDX-License-Identifier: Apache-2.0
#include "access/page_mask.h"

namespace hotset {
namespace {

using Words = std::array<std::uint64_t, kTablePages / 64>;

[[gnu::always_inline]] inline unsigned count_words(const Words& words) {
  unsigned sum = 0;
  for (std::uint64_t word : words)
    sum += static_cast<unsigned>(std::popcount(word));
  return sum;
}

#if defined(__x86_64__)
__attribute__((target("popcnt"))) unsigned count_by_instruction(const Words& words) {
  return count_words(words);
}
const bool kHasInstruction = __builtin_cpu_supports("popcnt") != 0;
#endif

} // namespace

unsigned PageMask::count() const {
#if defined(__x86_64__)
  if (kHasInstruction) return count_by_instruction(words);
#endif
  return count_words(words);
}

} // namespace hotset
