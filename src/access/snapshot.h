// SPDX-License-Identifier: Apache-2.0
// What a census found: for each 2 MiB of the target's address space that has a page table, which pages are mapped and
// which of them have their Accessed bit set.
//
// A region is the part of one leaf table that belongs to one mapping (VMA); neighbouring mappings can share a table and
// then give two regions of the same address with disjoint pages. 288 bytes a region: about 144 KB per GiB.
//
// The regions of several processes can stand side by side in one snapshot: each process has its addresses in a space of
// its own, 128 TiB apart (group_meter.h).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "access/page_mask.h"
#include "base/clock.h"

namespace hotset {

// How the pages of a mapping come to be. Order and values are shared with bpf/census.h.
enum class Mapping : std::uint8_t { anonymous, stack, file, shmem, hugetlb, special };
inline constexpr std::size_t kMappings = 6;

inline constexpr std::uint64_t kTableBytes = std::uint64_t{kTablePages} * 4096;

// The number of the address space in a snapshot of several. A process that has memory beyond 128 TiB, which it has to
// ask for, has more than one; that is no harm.
inline constexpr std::uint64_t kSpaceBytes = std::uint64_t{1} << 47;
inline std::uint64_t space_of(std::uint64_t address) {
  return address / kSpaceBytes;
}

struct Region {
  std::uint64_t address = 0; // of page 0 of the table: a multiple of 2 MiB
  std::uint32_t vma = 0;     // ordinal of the mapping in its snapshot, ascending with the address
  Mapping mapping = Mapping::anonymous;
  bool huge = false;     // one entry maps all the pages: their bits are all set or all clear
  bool locked = false;   // mlock: the kernel refuses to age it
  bool shared = false;   // MAP_SHARED: pages can be mapped by others even where they are writable
  bool alone = false;    // the only mapping of its file, at a glance: see exclusive()
  bool of_group = false; // of processes read one after the other: what is alone now may be counted by its frame there
  std::uint16_t first = 0, last = kTablePages; // the pages that lie inside the mapping
  std::uint32_t forks = 0;                     // another number after each fork that shared the memory
  std::uint32_t content = 0; // tells what mappings show at an address: a file, moved memory; 0: nothing to tell
  PageMask present{}, accessed{}, writable{};
  // Known to be mapped by another entry, too; a census of one process does not know it.
  PageMask elsewhere{};

  [[nodiscard]] PageMask own() const { return PageMask::range(first, last); }
  // Pages that this entry alone maps: writable private memory (a fork takes the write permission away on both sides),
  // and shared memory that is mapped once.
  [[nodiscard]] PageMask exclusive() const {
    if (shared) return alone && !of_group && mapping == Mapping::shmem ? present : PageMask{};
    return writable & present;
  }
};

struct Snapshot {
  Nanoseconds begin{}, end{};  // when the reading began and ended (Clock::now)
  std::vector<Region> regions; // ascending by (address, first)
  // On which the process's main thread ran then, at ordinary priority; nothing when it did not run. Not of several.
  std::optional<unsigned> processor;
};

struct PageCount {
  std::uint64_t present = 0, accessed = 0, huge = 0; // pages; huge: those of present that 2 MiB entries map
};

struct SnapshotTotals {
  PageCount by_mapping[kMappings]{};

  // What smaps calls Rss and Referenced: everything but hugetlb and special mappings.
  [[nodiscard]] PageCount resident() const;
};

SnapshotTotals totals(const Snapshot& snapshot);

} // namespace hotset
