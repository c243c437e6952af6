// SPDX-License-Identifier: Apache-2.0
#include "access/group_count.h"

#include <algorithm>

#include "access/tracker_join.h"

namespace hotset {
namespace {

// Of what is set in a process that came from elsewhere in the window nobody knows when it was touched.
constexpr double kJoinedRatio = 0.5;

// Pages that another entry may map, too: in a group, all that is not writable private memory.
PageMask shareable(const Region& region) {
  return region.present - region.exclusive();
}

// The frames behind `pages`. A huge page is one call, whole(block number), its pages the block's frames; other pages
// are one call each, single(block number, page, frame of the block).
template <class Whole, class Single>
void for_each_frame(const Region& region, const PageMask& pages, const Entries& entries, Whole&& whole,
                    Single&& single) {
  if (!pages.any()) return;
  if (region.huge) {
    whole(frame_number(entries[0]) / kTablePages);
    return;
  }
  for (unsigned page = pages.next(0); page < kTablePages; page = pages.next(page + 1)) {
    const std::uint64_t frame = frame_number(entries[page]);
    single(frame / kTablePages, page, static_cast<unsigned>(frame % kTablePages));
  }
}

void note(FrameBlock& block, const PageMask& frames) {
  block.again |= block.present & frames;
  block.present |= frames;
}

void note(FrameBlock& block, unsigned frame) {
  if (block.present.test(frame)) block.again.set(frame);
  block.present.set(frame);
}

} // namespace

void note_frames(const Region& region, const Entries& entries, FrameSet& frames) {
  if (!is_measured(region)) return;
  const PageMask pages = shareable(region);
  for_each_frame(
      region, pages, entries, [&](std::uint64_t number) { note(frames.block(number), pages); },
      [&](std::uint64_t number, unsigned, unsigned frame) { note(frames.block(number), frame); });
}

void mark_shared(Region& region, const Entries& entries, const FrameSet& frames) {
  region.elsewhere = {};
  if (!is_measured(region)) return;
  const PageMask pages = shareable(region);
  for_each_frame(
      region, pages, entries,
      [&](std::uint64_t number) {
        const FrameBlock* block = frames.find(number);
        if (block && (block->again & pages).any()) region.elsewhere = pages; // cleared whole or not at all
      },
      [&](std::uint64_t number, unsigned page, unsigned frame) {
        const FrameBlock* block = frames.find(number);
        if (block && block->again.test(frame)) region.elsewhere.set(page);
      });
}

void GroupCount::add(const Region& region, const Entries& entries, Standing standing) {
  if (!is_measured(region)) {
    (region.mapping == Mapping::hugetlb ? hugetlb_ : special_) += region.present.count();
    return;
  }
  Verdict verdict;
  PageMask alone; // counted by the tracker
  if (standing == Standing::tracked) {
    verdict = tracker_->verdict(region);
    alone = region.exclusive() | (verdict.sampled & region.present);
  } else if (standing == Standing::born) {
    verdict.maybe = verdict.around = around_faults(region);
    verdict.maybe_touched = kAroundRatio * verdict.maybe.count();
    verdict.touched = region.accessed - verdict.maybe;
    alone = region.exclusive();
  } else {
    verdict.maybe = region.accessed;
    verdict.maybe_touched = kJoinedRatio * region.accessed.count();
    joined_ += region.accessed.count();
  }
  const PageMask here = standing == Standing::joined ? PageMask{} : region.exclusive();
  const PageMask by_frame = region.present - here;
  const PageMask sampled = verdict.sampled & region.accessed & by_frame;

  alone_pages_ += here.count();
  if (region.huge) alone_huge_ += here.count();
  if (alone.any()) {
    Region part = region;
    part.present &= alone;
    part.accessed &= alone;
    part.writable &= alone;
    alone_.regions.push_back(part);
  }
  if (!by_frame.any()) return;
  sampled_entries_ += sampled.count();
  auto expect = [&](const PageMask& pages, double touched, std::uint64_t& count, double& sum) {
    const unsigned part = (pages & by_frame).count();
    if (part == 0) return;
    count += part;
    sum += touched * part / pages.count();
  };
  expect(verdict.maybe, verdict.maybe_touched, maybe_entries_, maybe_touched_);
  expect(verdict.hidden, verdict.hidden_touched, hidden_entries_, hidden_touched_);
  if (standing == Standing::tracked) aged_ += ((verdict.maybe - region.accessed) & by_frame).count();
  for_each_frame(
      region, by_frame, entries,
      [&](std::uint64_t number) {
        FrameBlock& block = frames_.block(number);
        shared_huge_ += (by_frame - block.present).count();
        note(block, by_frame);
        block.touched |= verdict.touched & by_frame;
        block.maybe |= verdict.maybe & by_frame;
        block.around |= verdict.around & by_frame;
        block.hidden |= verdict.hidden & by_frame;
        block.sampled |= sampled;
      },
      [&](std::uint64_t number, unsigned page, unsigned frame) {
        FrameBlock& block = frames_.block(number);
        note(block, frame);
        if (verdict.touched.test(page)) block.touched.set(frame);
        if (verdict.maybe.test(page)) block.maybe.set(frame);
        if (verdict.around.test(page)) block.around.set(frame);
        if (verdict.hidden.test(page)) block.hidden.set(frame);
        if (sampled.test(page)) block.sampled.set(frame);
      });
}

GroupAnswer GroupCount::answer(bool entries_lost) {
  std::uint64_t present = 0, touched = 0, maybe = 0, around = 0, hidden = 0, sampled = 0;
  GroupAnswer group;
  for (const auto& [number, block] : frames_.blocks()) {
    const PageMask open = block.maybe - block.touched;
    present += block.present.count();
    touched += block.touched.count();
    maybe += open.count();
    around += (open & block.around).count();
    hidden += (block.hidden - block.touched - block.maybe).count();
    sampled += (block.sampled - block.touched).count();
    group.shared += block.again.count();
    if (!entries_lost) continue;
    if (const FrameBlock* before = begun_->find(number))
      group.ended += ((before->again & block.present) - block.touched - block.maybe).count();
  }
  // Pages of the sample that are mapped twice by now, or touched by another entry as well: counted twice in the sum.
  const auto twice = static_cast<double>(sampled_entries_ - sampled);

  sort_by_address(alone_);
  group.total = tracker_->answer(alone_);
  Answer& total = group.total;
  const double known = static_cast<double>(touched), open = static_cast<double>(maybe);
  total.resident = alone_pages_ + present;
  total.huge = alone_huge_ + shared_huge_;
  total.known += touched;
  total.low = std::max(known, total.low + known - twice);
  total.high += known + open + static_cast<double>(hidden + group.ended);
  total.touched += known - twice;
  // By entry it is known what is expected; a page may have several.
  if (maybe_entries_ > 0) total.touched += maybe_touched_ / static_cast<double>(maybe_entries_) * open;
  if (hidden_entries_ > 0)
    total.touched += hidden_touched_ / static_cast<double>(hidden_entries_) * static_cast<double>(hidden);
  total.aged += aged_;
  total.hugetlb = hugetlb_;
  total.special = special_;
  auto hold = [&](std::string_view code, std::string_view text, std::uint64_t pages) {
    if (pages == 0) return;
    auto same = std::ranges::find(total.held, code, &Held::code);
    if (same == total.held.end()) same = total.held.insert(same, {code, text, 0});
    same->pages += pages;
  };
  hold(kHeldShared.code, kHeldShared.text, maybe - around);
  hold(kHeldAround.code, kHeldAround.text, around);
  hold(kHeldTlb.code, kHeldTlb.text, hidden);

  const auto resident = static_cast<double>(total.resident);
  total.high = std::min(total.high, resident);
  total.low = std::min(total.low, total.high);
  total.touched = std::clamp(total.touched, total.low, total.high);
  if (total.units == 0 || total.exact()) total.confidence = 1;
  group.joined = joined_;
  group.frame_set_bytes = frames_.bytes();
  return group;
}

} // namespace hotset
