// SPDX-License-Identifier: Apache-2.0
#include "access/snapshot.h"

namespace hotset {

PageCount SnapshotTotals::resident() const {
  PageCount sum;
  for (Mapping mapping : {Mapping::anonymous, Mapping::stack, Mapping::file, Mapping::shmem}) {
    const PageCount& part = by_mapping[static_cast<std::size_t>(mapping)];
    sum.present += part.present;
    sum.accessed += part.accessed;
    sum.huge += part.huge;
  }
  return sum;
}

SnapshotTotals totals(const Snapshot& snapshot) {
  SnapshotTotals sums;
  for (const Region& region : snapshot.regions) {
    PageCount& part = sums.by_mapping[static_cast<std::size_t>(region.mapping)];
    unsigned present = region.present.count();
    part.present += present;
    part.accessed += region.accessed.count();
    if (region.huge) part.huge += present;
  }
  return sums;
}

} // namespace hotset
