// SPDX-License-Identifier: Apache-2.0
// Touches that the bits don't show, because of translations that stay cached.
//
// A scoped clear (clear_refs) leaves the TLB alone: a page whose translation is cached there can be touched for as long
// as the translation stays, without its bit being set. On an idle processor that is for ever. MADV_COLD flushes what it
// changed, and everything when that spans more than 33 pages (x86: tlb_single_page_flush_ceiling). So a scoped clear is
// followed by one run whose ends are set pages that far apart, outside of its scope; where there is none, the pages are
// remembered as hidden until some later clear flushes, and until then they widen the upper bound: all of them, for a
// TLB holds translations and not pages (512 pages for a huge one), so that its size says little.
#include <algorithm>

#include "access/tracker.h"
#include "access/tracker_join.h"

namespace hotset {
namespace {

// Whether both ends are 4 KiB pages of one mapping: a huge page counts as one, and each mapping is flushed by itself.
bool lies_in_small_pages(const Snapshot& now, const Run& run) {
  auto region_of = [&](std::uint64_t address) -> const Region* {
    const std::uint64_t table = address / kTableBytes * kTableBytes;
    const auto page = static_cast<unsigned>(address % kTableBytes / 4096);
    for (auto at = std::ranges::lower_bound(now.regions, table, {}, &Region::address);
         at != now.regions.end() && at->address == table; ++at)
      if (at->own().test(page)) return &*at;
    return nullptr;
  };
  const Region *first = region_of(run.address), *last = region_of(run.end() - 4096);
  return first && last && first->vma == last->vma && !first->huge && !last->huge;
}

} // namespace

PageMask Tracker::waits_for_scope(const Region& region, const Table& table) {
  return region.accessed & (may_be_folios(region) ? table.held | table.unknown : table.held);
}

std::optional<Run> Tracker::flush_in(const Region& region, const PageMask& unknown) const {
  if (region.huge || !is_measured(region) || may_be_folios(region)) return std::nullopt;
  PageMask set = unknown & region.own();
  if (!set.any()) return std::nullopt;
  unsigned first = set.next(0), pages = set.last() - first + 1;
  if (pages < traits_.flush_pages) return std::nullopt;
  return Run{region.address + first * std::uint64_t{4096}, pages};
}

void Tracker::choose_flush(ClearPlan& plan) {
  flushes_.clear();
  if (!plan.scoped_anonymous && !plan.scoped_file) return;
  const std::vector<std::uint64_t> spaces = scoped_spaces();
  for (const auto& [region, table] : warm_) {
    const std::uint64_t space = space_of(region->address);
    if (!flushes_.empty() && space_of(flushes_.back().address) == space) continue;
    if (is_file(*region) ? plan.scoped_file : plan.scoped_anonymous) continue;
    if (!std::ranges::binary_search(spaces, space)) continue;
    const std::optional<Run> flush = flush_in(*region, table->unknown);
    if (!flush) continue;
    flushes_.push_back(*flush);
    PageMask set = table->unknown & region->own();
    table->asked |= set;
    table->unknown -= set;
  }
  plan.flushes = flushes_;
}

std::vector<std::uint64_t> Tracker::scoped_spaces() const {
  std::vector<std::uint64_t> spaces;
  for (const Table& table : tables_)
    if (table.warm && table.settled.any() && (spaces.empty() || spaces.back() != space_of(table.address)))
      spaces.push_back(space_of(table.address));
  return spaces;
}

// Pages of a scope that were set a moment ago, whoever clears them: MADV_COLD comes first, and what is touched between
// it and the scoped clear is cached again. A window without a scoped clear has its flush among its ordinary runs.
void Tracker::expect_hidden(const Snapshot& now, const ClearPlan& plan) {
  scoped_[0] = plan.scoped_anonymous;
  scoped_[1] = plan.scoped_file;
  if (!plan.scoped_anonymous && !plan.scoped_file) {
    for (const Run& run : plan.runs) {
      const bool another = flushes_.empty() || space_of(flushes_.back().address) != space_of(run.address);
      if (another && run.pages >= traits_.flush_pages && lies_in_small_pages(now, run)) flushes_.push_back(run);
    }
    return;
  }
  const std::vector<std::uint64_t> spaces = scoped_spaces();
  for (const auto& [region, table] : warm_) {
    if (!(is_file(*region) ? plan.scoped_file : plan.scoped_anonymous)) continue;
    if (!std::ranges::binary_search(spaces, space_of(region->address))) continue;
    const PageMask added = ((table->settled | table->asked) & region->own()) - table->hidden;
    table->hidden |= added;
    // Of pages that MADV_COLD clears it is known how hot their tables were. The others, libraries most of all, were set
    // by something that is over, most often a program's start.
    if (table->tried && !may_be_folios(*region))
      table->hidden_hot += table->heat * static_cast<float>((added - table->passed).count());
  }
}

// After the clear was verified: where a flushing run did change both of its ends, nothing is hidden any more.
void Tracker::settle_flush() {
  std::vector<std::uint64_t> flushed;
  for (const Run& run : flushes_)
    if (is_cleared(run.address) && is_cleared(run.end() - 4096)) flushed.push_back(space_of(run.address));
  if (flushed.empty()) return;
  for (Table& table : tables_)
    if (table.warm && std::ranges::binary_search(flushed, space_of(table.address))) {
      table.hidden = {};
      table.hidden_hot = 0;
    }
}

// Whether MADV_COLD has cleared the page that was asked for: seen clear since, or known not to be passed over.
bool Tracker::is_cleared(std::uint64_t address) const {
  auto table = std::ranges::lower_bound(tables_, address / kTableBytes * kTableBytes, {}, &Table::address);
  auto page = static_cast<unsigned>(address % kTableBytes / 4096);
  return table != tables_.end() && ((table->asked & table->proven) - table->held).test(page);
}

} // namespace hotset
