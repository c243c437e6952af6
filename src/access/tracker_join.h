// SPDX-License-Identifier: Apache-2.0
// What the tracker's parts share: walking the regions of a census beside the remembered tables, both ascending by
// address, and what a region's mapping means for clearing.
#pragma once

#include <algorithm>
#include <cstddef>

#include "access/snapshot.h"

namespace hotset {

// Regions of one table stay in their order.
inline void sort_by_address(Snapshot& snapshot) {
  if (!std::ranges::is_sorted(snapshot.regions, {}, &Region::address))
    std::ranges::stable_sort(snapshot.regions, {}, &Region::address);
}

// Calls visit(region, table) for every region whose address has a table, in order; `otherwise(region)` for the rest.
template <class Tables, class Visit, class Otherwise>
void join_tables(const Snapshot& snapshot, Tables& tables, Visit&& visit, Otherwise&& otherwise) {
  std::size_t at = 0;
  for (const Region& region : snapshot.regions) {
    while (at < tables.size() && tables[at].address < region.address)
      ++at;
    if (at < tables.size() && tables[at].address == region.address)
      visit(region, tables[at]);
    else
      otherwise(region);
  }
}

template <class Tables, class Visit>
void join_tables(const Snapshot& snapshot, Tables& tables, Visit&& visit) {
  join_tables(snapshot, tables, visit, [](const Region&) {});
}

// The regions of the table at `address`.
inline auto regions_at(const Snapshot& snapshot, std::uint64_t address) {
  return std::ranges::equal_range(snapshot.regions, address, {}, &Region::address);
}

// The pages of the region and those of its table that lie in no mapping of this snapshot: all but what the
// neighbours in the table own.
inline PageMask owned_pages(const Snapshot& snapshot, const Region& region) {
  PageMask pages = PageMask::all();
  if (region.first == 0 && region.last == kTablePages) return pages;
  for (const Region& other : regions_at(snapshot, region.address))
    if (&other != &region) pages -= other.own();
  return pages;
}

// clear_refs tells "file" and "anonymous" apart by this.
inline bool is_file(const Region& region) {
  return region.mapping == Mapping::file || region.mapping == Mapping::shmem;
}
// Pages of files may be parts of large folios, which MADV_COLD on a single page would split.
inline bool may_be_folios(const Region& region) {
  return region.mapping == Mapping::file;
}
// Whose set pages, where they were mapped just now, need not have been touched: a fault maps the neighbours of its page
// as well, set, if they are in the page cache (fault_around_bytes; in newer kernels also the rest of a large folio, and
// what it maps for a write it marks as written). A private page that can be written to is a copy, made for itself.
// Memory that was moved (mremap) keeps its bits.
inline PageMask around_faults(const Region& region) {
  if (!is_file(region)) return region.content != 0 ? region.accessed : PageMask{};
  if (region.huge) return {};
  return region.shared ? region.accessed : region.accessed - region.writable;
}
// Of such pages, the share that is expected to have been touched: who reads whole files touches all, who reads single
// records one in sixteen.
inline constexpr double kAroundRatio = 0.5;
inline bool is_measured(const Region& region) {
  return region.mapping != Mapping::hugetlb && region.mapping != Mapping::special;
}

} // namespace hotset
