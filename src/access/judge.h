// SPDX-License-Identifier: Apache-2.0
// Tells which pages MADV_COLD passes over: those that are mapped elsewhere, too, those that are not on the kernel's LRU
// lists (a page just faulted in waits in a small per-CPU batch before it gets there), and those that are parts of a
// larger folio, which it would have to split first, and often can't.
//
// Looking that up is dear, so it is limited for each window; what is not looked up is asked about again later.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "access/page_mask.h"
#include "access/pagemap.h"

namespace hotset {

class Judge {
 public:
  explicit Judge(FrameFlags flags) : flags_(std::move(flags)) {}

  // A window begins: the limits are whole again. An open page map would stay with the memory from before an exec.
  void restart();
  // Of the pages of the table at `address`, those that are passed over; nothing when it can't be told now. `huge`: one
  // entry maps them all.
  std::optional<PageMask> passed_over(pid_t pid, std::uint64_t address, const PageMask& pages, bool huge);

 private:
  // Whether MADV_COLD clears the page, as far as that can be told: of the flags `asked`, it has to have kOnLru alone.
  bool clearable(const PagemapEntry& entry, std::uint64_t asked);

  FrameFlags flags_;
  pid_t pid_ = 0;
  std::optional<Pagemap> pagemap_; // of pid_; opened when it is needed
  std::size_t tables_ = 0, frames_ = 0;
};

} // namespace hotset
