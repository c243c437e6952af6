// SPDX-License-Identifier: Apache-2.0
// What the 512 entries of one x86-64 leaf page table say, as sets of pages.
//
// A census looks at every entry of the target, so this is the inner loop of the whole program: it moves three bits of
// each entry into masks, for 32 entries at a time where the CPU has AVX2.
//
// Entry layout: Intel SDM vol. 3A, 4.5; the kernel's use of it: arch/x86/include/asm/pgtable_types.h.
#pragma once

#include <cstdint>
#include <span>

#include "access/page_mask.h"

namespace hotset {

using Entry = unsigned long long; // the kernel's __u64

inline constexpr Entry kEntryPresent = 1u << 0;
inline constexpr Entry kEntryWritable = 1u << 1;
inline constexpr Entry kEntryAccessed = 1u << 5;
inline constexpr Entry kEntryLarge = 1u << 7;    // in a directory: the entry maps 2 MiB or 1 GiB itself
inline constexpr Entry kEntryProtNone = 1u << 8; // without kEntryPresent: mapped, but every access faults
inline constexpr Entry kEntryFrame = 0x000f'ffff'ffff'f000;

struct LeafPages {
  PageMask present;  // mapped: present, or PROT_NONE (the kernel counts those as resident, too)
  PageMask accessed; // of the present ones
  PageMask writable; // of the present ones
};

// Of the entries of the pages first, first + 1, …; first + entries.size() ≤ 512.
LeafPages scan_leaf(std::span<const Entry> entries, unsigned first = 0);
// The same, one entry at a time: the naive twin, and what runs for parts of a table and on CPUs without AVX2.
LeafPages scan_leaf_portable(std::span<const Entry> entries, unsigned first = 0);

// The kernel inverts the frame number of an entry that is not present, against speculation through it (arch/x86,
// pgtable-invert.h).
inline std::uint64_t frame_number(Entry entry) {
  return ((entry & kEntryPresent ? entry : ~entry) & kEntryFrame) >> 12;
}
inline bool is_mapped(Entry entry) {
  return (entry & (kEntryPresent | kEntryProtNone)) != 0;
}

} // namespace hotset
