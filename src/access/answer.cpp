// SPDX-License-Identifier: Apache-2.0
// Ending a window: what the bits say, and what is learned for the next one.
#include <algorithm>
#include <array>

#include "access/tracker.h"
#include "access/tracker_join.h"

namespace hotset {
namespace {

// The touched share of held pages while none was settled yet. Of a mapped file the kernel maps sixteen pages, set, when
// one is touched (fault_around_bytes), and most of what a program's start touches is not touched again.
constexpr double kUnknownRatio = 0.5, kFileRatio = 1.0 / 16;
constexpr double kPhaseChange = 0.5; // the sample is set again this much less than its tables' heat: the heat is stale

enum HeldReason : std::size_t { kLocked, kShared, kUndecided, kAround, kCached, kHeldReasons };
constexpr std::array<Held, kHeldReasons> kHeldOf{kHeldLocked, kHeldShared, kHeldUndecided, kHeldAround, kHeldTlb};

} // namespace

void Tracker::settle(const Snapshot& again, const Judge& judge) {
  join_tables(again, tables_, [&](const Region& region, Table& table) {
    PageMask asked = table.asked & region.own();
    if (!asked.any()) return;
    if (doubt(region, table)) table.others = true;
    PageMask cleared = (asked & region.present) - region.accessed;
    if (!scoped_[is_file(region)]) { // else clear_refs may have done it
      table.proven |= cleared;
      table.passed -= cleared;
    }
    // What is mapped here only, MADV_COLD does clear, if it gets there: then it was touched when it is set again.
    const PageMask ours = region.shared && table.others ? PageMask{} : region.exclusive();
    const PageMask sure = ours & table.proven & PageMask::range(0, stop_in(region, table));
    const PageMask doubtful = (asked & region.accessed) - sure;
    if (!doubtful.any()) return;
    const std::optional<Judged> judged = judge(region, doubtful);
    table.held |= judged ? judged->passed & doubtful : doubtful;
    if (!judged) return;
    // What others may map is ours alone by now, but the last of them may have ended after the clear: it must have been
    // found so in an earlier window, too.
    table.held |= doubtful - ours - table.proven;
    table.small = (table.small - PageMask::range(region.first, doubtful.last() + 1)) | judged->small;
    table.passed |= judged->passed & doubtful;
    table.proven -= judged->passed;
    table.proven |= doubtful - judged->passed;
  });
  forget_unmapped(again);
  settle_flush();
}

// Splitting a folio of a file, MADV_COLD leaves its pages unmapped: they will be mapped anew, with their neighbours.
void Tracker::forget_unmapped(const Snapshot& again) {
  for (Mapped& mapped : mapped_) {
    auto table = std::ranges::lower_bound(tables_, mapped.address, {}, &Table::address);
    if (table == tables_.end() || table->address != mapped.address || !table->asked.any()) continue;
    PageMask present;
    for (const Region& region : regions_at(again, mapped.address))
      present |= region.present;
    mapped.pages &= present;
  }
}

Verdict Tracker::verdict(const Region& now) const {
  PageMask around = mapped_around(now);
  Verdict verdict{.touched = now.accessed - around,
                  .maybe = around,
                  .around = around,
                  .maybe_touched = kAroundRatio * around.count()};
  auto table = std::ranges::lower_bound(tables_, now.address, {}, &Table::address);
  if (table == tables_.end() || table->address != now.address) return verdict;
  verdict.sampled = table->unknown | drawn_pages(static_cast<std::uint32_t>(table - tables_.begin()));
  verdict.sampled &= now.own();
  around -= verdict.sampled;
  verdict.maybe = verdict.around = around;
  verdict.maybe_touched = kAroundRatio * around.count();
  const PageMask present = now.present - verdict.sampled, accessed = now.accessed - verdict.sampled;
  const PageMask held = (present & table->held) - around; // still set, or aged by the kernel
  verdict.touched = accessed - table->held - around;
  verdict.maybe |= held;
  verdict.hidden = (table->hidden & present) - accessed;
  verdict.maybe_touched += held_ratio(now, *table) * held.count();
  verdict.hidden_touched = std::min(unseen(now, *table), static_cast<double>(verdict.hidden.count()));
  return verdict;
}

// Set pages of the region that may have been mapped, set, in this window for the sake of a neighbour.
PageMask Tracker::mapped_around(const Region& now) const {
  PageMask pages = around_faults(now);
  if (!pages.any()) return pages;
  auto before = std::ranges::lower_bound(mapped_, now.address, {}, &Mapped::address);
  for (; before != mapped_.end() && before->address == now.address; ++before)
    if (before->content == now.content) pages -= before->pages;
  return pages;
}

PageMask Tracker::drawn_pages(std::uint32_t table) const {
  PageMask pages;
  auto part = std::ranges::lower_bound(drawn_, table, {}, &Unit::table);
  for (; part != drawn_.end() && part->table == table; ++part)
    pages |= part->pages;
  return pages;
}

Answer Tracker::answer(const Snapshot& now) const {
  Answer answer;
  std::uint64_t unknown = 0;
  std::array<std::uint64_t, kHeldReasons> held{};
  double held_hot = 0, cached_hot = 0; // of them, expected to have been touched
  auto count = [&](const Region& region, const Table* table) {
    std::uint64_t present = region.present.count();
    PageCount& part = answer.by_mapping[static_cast<std::size_t>(region.mapping)];
    part.present += present;
    if (region.huge) part.huge += present;
    if (region.mapping == Mapping::hugetlb) answer.hugetlb += present;
    if (region.mapping == Mapping::special) answer.special += present;
    if (region.mapping == Mapping::hugetlb || region.mapping == Mapping::special) return;
    answer.resident += present;
    if (region.huge) answer.huge += present;
    const PageMask around = mapped_around(region);
    PageMask touched = region.accessed - around;
    if (around.any()) {
      held[kAround] += around.count();
      held_hot += kAroundRatio * around.count();
    }
    if (table && table->warm) {
      const PageMask set = region.accessed - around;
      const PageMask stuck = set & table->held, left = set & table->unknown;
      touched -= stuck | left;
      unknown += left.count();
      if (region.locked) {
        held[kLocked] += stuck.count();
      } else {
        held[kUndecided] += (stuck - table->passed).count();
        held[kShared] += (stuck & table->passed).count();
      }
      held_hot += held_ratio(region, *table) * stuck.count();
      // These are not set; if they were touched, through the TLB, the bits don't show it.
      if (table->hidden.any()) {
        held[kCached] += ((table->hidden & region.present) - region.accessed).count();
        cached_hot += unseen(region, *table);
      }
      answer.aged += (((table->unknown | table->held) & region.present) - region.accessed).count();
    }
    std::uint64_t known = touched.any() ? touched.count() : 0;
    part.accessed += known;
    answer.known += known;
  };
  join_tables(
      now, tables_, [&](const Region& region, const Table& table) { count(region, &table); },
      [&](const Region& region) { count(region, nullptr); });

  double stuck = 0;
  for (std::size_t reason = 0; reason < kHeldReasons; ++reason) {
    if (reason != kCached) stuck += static_cast<double>(held[reason]);
    if (held[reason] > 0) answer.held.push_back({kHeldOf[reason].code, kHeldOf[reason].text, held[reason]});
  }
  const double known = static_cast<double>(answer.known), left = static_cast<double>(unknown);
  if (units_.empty()) {
    answer.low = known;
    answer.high = known + left + stuck;
    answer.touched = known + spread_.ratio * left + held_hot + cached_hot;
  } else {
    const std::vector<Draw> drawn = draws(now);
    double found = 0, maybe = 0;
    for (const Draw& draw : drawn) {
      found += draw.low;
      maybe += draw.high - draw.low;
    }
    Interval total = interval(drawn);
    double most = found + maybe + left; // no other page is set
    double elsewhere = std::max(0.0, stuck - maybe);
    answer.low = known + std::clamp(total.low, found, most) - found;
    answer.high = known + std::clamp(total.high, found, most) - found + elsewhere;
    answer.touched = known + std::clamp(drawn_total(drawn, frame_), found, most) - found + cached_hot;
    if (stuck > 0) answer.touched += held_hot / stuck * elsewhere;
    answer.confidence = confidence_;
    answer.frame = frame_;
    answer.units = units_.size();
  }
  // A bit that the kernel itself cleared may have been set in the window before that.
  answer.high += static_cast<double>(answer.aged + held[kCached]);
  const double resident = static_cast<double>(answer.resident);
  answer.high = std::min(answer.high, resident);
  answer.low = std::min(answer.low, answer.high);
  answer.touched = std::clamp(answer.touched, answer.low, answer.high);
  if (answer.exact()) answer.confidence = 1;
  return answer;
}

// The touched share of held pages of a region. Hot and cold memory wait for the same scoped clear, and what it settles
// most of may be the hot: so by what it was of their own table when it could be told last.
double Tracker::held_ratio(const Region& region, const Table& table) const {
  if (table.held_heat >= 0) return static_cast<double>(table.held_heat);
  return held_ratio_[is_file(region)].value_or(may_be_folios(region) ? kFileRatio : kUnknownRatio);
}

// Pages whose touches the TLB is expected to hide in this window: what was expected less what is seen.
double Tracker::unseen(const Region& now, const Table& table) {
  const PageMask hidden = table.hidden & now.present;
  const PageMask silent = hidden - now.accessed;
  if (!silent.any()) return 0;
  // Of a table that several mappings share, or of which some pages are counted elsewhere, this region's part.
  const double part = static_cast<double>(hidden.count()) / table.hidden.count();
  const double left = static_cast<double>(table.hidden_hot) * part - (hidden & now.accessed).count();
  return std::clamp(left, 0.0, static_cast<double>(silent.count()));
}

double Answer::coverage() const {
  if (resident == 0) return 1;
  std::uint64_t stuck = 0;
  for (const Held& part : held)
    stuck += part.pages;
  return 1 - static_cast<double>(std::min(stuck, resident)) / static_cast<double>(resident);
}

std::vector<Draw> Tracker::draws(const Snapshot& now) const {
  std::vector<Draw> drawn;
  drawn.reserve(units_.size());
  for (const Unit& unit : units_) {
    const Table& table = tables_[unit.table];
    PageMask accessed, around;
    for (const Region& region : regions_at(now, table.address)) {
      accessed |= region.accessed;
      around |= mapped_around(region);
    }
    accessed &= unit.pages;
    PageMask maybe = accessed | (table.hidden & unit.pages);
    drawn.push_back(
        {.size = unit.pages.count(), .low = (accessed - table.held - around).count(), .high = maybe.count()});
  }
  return drawn;
}

Interval Tracker::interval(std::span<const Draw> drawn) const {
  std::uint64_t hits = 0;
  bool pages = true;
  for (const Draw& draw : drawn) {
    pages = pages && draw.size == 1 && draw.low == draw.high;
    hits += draw.low;
  }
  if (pages) return hypergeometric_interval(frame_, drawn.size(), hits, confidence_);
  return betting_interval(drawn, frame_, confidence_, history_);
}

// Of pages whose touches the TLB may hide nothing is learned: that they are clear says nothing.
void Tracker::learn(const Snapshot& now) {
  std::uint64_t settled[2] = {0, 0}, settled_again[2] = {0, 0};
  join_tables(now, tables_, [&](const Region& region, Table& table) {
    if (!table.warm) return;
    const PageMask told = region.own() - table.hidden - mapped_around(region);
    if (const unsigned here = (table.settled & told).count(); here > 0) {
      const unsigned again = (table.settled & told & region.accessed).count();
      table.held_heat = static_cast<float>(again) / static_cast<float>(here);
      settled[is_file(region)] += here;
      settled_again[is_file(region)] += again;
    }
    PageMask asked = (table.asked & told) - table.held;
    if (unsigned pages = asked.count(); pages > 0) {
      float again = static_cast<float>((asked & region.accessed).count()) / static_cast<float>(pages);
      table.heat = table.tried ? table.heat + (again - table.heat) / 2 : again;
      table.tried = true;
    }
  });
  for (int file : {0, 1})
    if (settled[file] > 0)
      held_ratio_[file] = static_cast<double>(settled_again[file]) / static_cast<double>(settled[file]);
  if (units_.empty()) return;

  const std::vector<Draw> drawn = draws(now);
  double expected = 0, seen = 0;
  for (std::size_t i = 0; i < units_.size(); ++i) {
    expected += tables_[units_[i].table].heat;
    seen += static_cast<double>(drawn[i].low) / drawn[i].size;
  }
  spread_.learn(drawn, block_pages_);
  // A hot set that moved leaves its old tables set and believed hot: have them swept.
  if (seen < kPhaseChange * expected)
    for (Table& table : tables_)
      table.heat = std::min(table.heat, 0.5F);
}

} // namespace hotset
