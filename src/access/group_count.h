// SPDX-License-Identifier: Apache-2.0
// The working set of several processes together, each page of memory counted once.
//
// A page that one entry alone maps is counted where it is mapped: by the tracker, which knows it exactly or speaks for
// it by sample. Every other page is looked at entry by entry and counted by its frame. The sample's population never
// holds a page that was known to be shared when the window began; what became shared meanwhile could be counted by
// both, and is taken off the lower bound. So the sample's interval, which is one for the whole group, and the certain
// bounds of the rest add up, and the confidence of the sum is that of the sample.
//
// Pure: what the page tables say comes in, numbers come out.
#pragma once

#include <cstdint>

#include "access/census.h"
#include "access/frame_set.h"
#include "access/snapshot.h"
#include "access/tracker.h"

namespace hotset {

// Since when a process is in the group, which says what its Accessed bits mean.
enum class Standing {
  tracked, // since before the window: the tracker knows what was set when it began
  born,    // began its life in the window: what is set was touched in it
  joined,  // it lived before and came in the window: what is set may have been touched earlier
};

struct GroupAnswer {
  Answer total;                    // `known`, `huge`, … are counted over pages of memory, too
  std::uint64_t shared = 0;        // of the resident pages: mapped by more than one entry of the group
  std::uint64_t ended = 0;         // pages that only entries which are gone may have touched: in the upper bound
  std::uint64_t joined = 0;        // pages set in processes that came from elsewhere: in the upper bound
  std::size_t frame_set_bytes = 0; // what counting each page once took
};

// Notes which pages of memory the region maps, and how often: as the window begins.
void note_frames(const Region& region, const Entries& entries, FrameSet& frames);
// Fills region.elsewhere from what was noted.
void mark_shared(Region& region, const Entries& entries, const FrameSet& frames);

// One reading of all processes, at the end of a window or in the middle of it.
class GroupCount {
 public:
  // `tracker`: the window's. `begun`: the frames noted when it began. Both must outlive this.
  GroupCount(const Tracker& tracker, const FrameSet& begun) : tracker_(&tracker), begun_(&begun) {}

  // The region with its address as the tracker knows it, in any order: processes are read as they stand, and one that
  // went to another program got a place behind all others. A page is resident if any region maps it.
  void add(const Region& region, const Entries& entries, Standing standing);
  // Call once, after all of add(). `entries_lost`: some of the window's entries are gone with what their bits said,
  // for a process ended or went to another program.
  [[nodiscard]] GroupAnswer answer(bool entries_lost);
  // What was noted, for the next window.
  [[nodiscard]] FrameSet take_frames() { return std::move(frames_); }

 private:
  const Tracker* tracker_;
  const FrameSet* begun_;
  FrameSet frames_;
  Snapshot alone_;                // regions cut to the pages that the tracker counts
  std::uint64_t alone_pages_ = 0; // of them, those that are not in frames_
  std::uint64_t alone_huge_ = 0;  // of those, mapped by 2 MiB entries
  std::uint64_t shared_huge_ = 0;
  std::uint64_t sampled_entries_ = 0; // that put a bit into FrameBlock::sampled
  // The same of FrameBlock::maybe and ::hidden, and how many of these entries are expected to have been used.
  std::uint64_t maybe_entries_ = 0, hidden_entries_ = 0;
  double maybe_touched_ = 0, hidden_touched_ = 0;
  std::uint64_t aged_ = 0, joined_ = 0;
  std::uint64_t hugetlb_ = 0, special_ = 0;
};

} // namespace hotset
