// SPDX-License-Identifier: Apache-2.0
// Page frames by number: what the page tables of several processes say about one and the same page of memory.
//
// A page that two processes map has two entries, each with an Accessed bit of its own. It is there once, was touched if
// any entry says so, and is known to be untouched only if every entry does. So each entry puts what it says into its
// frame's bits, and the totals are counted over frames.
//
// Only pages that others may map have to pass through here; a page that one entry alone maps is counted where it is.
// Bits are kept per 512 frames, the frames of a huge page, once one of them was put in: 448 bytes per 2 MiB of physical
// memory, so at most 0.03 % of the machine's memory, however many processes map it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "access/page_mask.h"

namespace hotset {

struct FrameBlock {
  PageMask present{}; // mapped
  PageMask again{};   // by more than one entry
  PageMask touched{}; // in the window, for certain
  PageMask maybe{};   // touched or not, nobody knows
  PageMask around{};  // of them, those that a page fault may have mapped for the sake of a neighbour
  PageMask hidden{};  // may have been touched through a translation that stayed in the TLB
  PageMask sampled{}; // in the population of a sample, and set
};

class FrameSet {
 public:
  FrameSet() = default;
  FrameSet(FrameSet&& other) noexcept : blocks_(std::move(other.blocks_)) { other.clear(); }
  FrameSet& operator=(FrameSet&& other) noexcept {
    blocks_ = std::move(other.blocks_);
    last_ = {};
    other.clear();
    return *this;
  }
  void clear() {
    blocks_.clear();
    last_ = {};
  }
  // The block of frames [512 · number, 512 · (number + 1)).
  FrameBlock& block(std::uint64_t number) {
    if (last_.block == nullptr || last_.number != number) last_ = {number, &blocks_[number]};
    return *last_.block;
  }
  // Null when none of its frames was put in.
  [[nodiscard]] const FrameBlock* find(std::uint64_t number) const {
    if (last_.block == nullptr || last_.number != number) {
      auto found = blocks_.find(number);
      last_ = {number, found == blocks_.end() ? nullptr : const_cast<FrameBlock*>(&found->second)};
    }
    return last_.block;
  }
  [[nodiscard]] const std::unordered_map<std::uint64_t, FrameBlock>& blocks() const { return blocks_; }
  // Of its own memory; the nodes of the map and its table included, as far as they can be told.
  [[nodiscard]] std::size_t bytes() const {
    return blocks_.size() * (sizeof(FrameBlock) + 2 * sizeof(std::uint64_t)) + blocks_.bucket_count() * sizeof(void*);
  }

 private:
  // Neighbours in a page table are often neighbours in memory: what was looked for last, null when it is not there.
  struct Last {
    std::uint64_t number = 0;
    FrameBlock* block = nullptr;
  };
  std::unordered_map<std::uint64_t, FrameBlock> blocks_; // its nodes stay where they are
  mutable Last last_;
};

} // namespace hotset
