// SPDX-License-Identifier: Apache-2.0
// Tells which pages MADV_COLD passes over: those that are mapped elsewhere, too, those that are not on the kernel's LRU
// lists (a page just faulted in waits in a small per-CPU batch before it gets there), and those that are parts of a
// larger folio, which it would have to split first, and often can't. In older kernels that ends its way through the
// page table, and it passes over all behind (AgeTraits).
//
// Looking that up is dear, so it is limited for each window; what is not looked up is asked about again later.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "access/judged.h"
#include "access/pagemap.h"
#include "access/runs.h"
#include "access/snapshot.h"

namespace hotset {

class Judge {
 public:
  Judge(FrameFlags flags, const AgeTraits& traits) : flags_(std::move(flags)), traits_(traits) {}

  // A window begins: the limits are whole again. An open page map would stay with the memory from before an exec.
  void restart();
  // Of pages of the region that stayed set; nothing when it can't be told now. `address`: of the region's table in the
  // process (in a group's census it is another).
  std::optional<Judged> judge(pid_t pid, std::uint64_t address, const Region& region, const PageMask& pages);

 private:
  struct Page {
    unsigned page; // of the table
    PagemapEntry entry;
    std::uint64_t flags = 0;
  };

  [[nodiscard]] std::optional<std::vector<Page>> look_up(pid_t pid, std::uint64_t address, const PageMask& pages);

  FrameFlags flags_;
  AgeTraits traits_;
  pid_t pid_ = 0;
  std::optional<Pagemap> pagemap_; // of pid_; opened when it is needed
  std::size_t tables_ = 0, frames_ = 0;
};

} // namespace hotset
