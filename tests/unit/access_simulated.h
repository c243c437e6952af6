// SPDX-License-Identifier: Apache-2.0
// A simulated page table: pages with Accessed bits, a kernel that clears what it is asked to (and passes over what the
// real one does), and a workload whose touches are recorded, so that the truth of every window is known.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "access/tracker.h"

namespace hotset {

struct SimulatedTarget {
  struct Table {
    Region region{};    // the census sees a copy of this
    PageMask stuck{};   // MADV_COLD passes over these
    PageMask folio{};   // parts of a larger one: it passes over these, too
    PageMask touched{}; // in the running window
    PageMask cached{};  // translations that stay in the TLB
  };
  std::vector<Table> tables;
  bool judge_knows = true;
  bool stops_at_folios = false;    // MADV_COLD goes no further then
  bool keeps_translations = false; // an idle processor with a TLB that nothing is pushed out of

  // Adds adjacent tables of one mapping, every page present and set: a target fresh after its start.
  void add(std::size_t count, Mapping mapping = Mapping::anonymous, bool huge = false) {
    std::uint32_t vma = tables.empty() ? 0 : tables.back().region.vma + 1;
    for (std::size_t i = 0; i < count; ++i) {
      Table table;
      table.region.address = (tables.size() + 1 + vma) * kTableBytes;
      table.region.vma = vma;
      table.region.mapping = mapping;
      table.region.huge = huge;
      table.region.shared = mapping == Mapping::shmem;
      table.region.present = table.region.accessed = table.region.writable = PageMask::all();
      tables.push_back(table);
    }
  }
  void touch(std::size_t table, const PageMask& pages) {
    PageMask mask = tables[table].region.huge && pages.any() ? PageMask::all() : pages;
    tables[table].region.present |= mask;
    tables[table].region.accessed |= mask - tables[table].cached;
    tables[table].touched |= mask;
    if (keeps_translations) tables[table].cached |= mask;
  }
  // munmap: what was touched before is gone from both the truth and the census.
  void unmap(std::size_t table, const PageMask& pages) {
    tables[table].cached -= pages;
    tables[table].region.present -= pages;
    tables[table].region.accessed -= pages;
    tables[table].touched -= pages;
  }
  [[nodiscard]] Snapshot census() const {
    Snapshot snapshot;
    for (const Table& table : tables)
      if (table.region.present.any()) snapshot.regions.push_back(table.region);
    return snapshot;
  }
  // `between`: what the target does after MADV_COLD and before a scoped clear.
  void clear(const ClearPlan& plan, const std::function<void()>& between = [] {}) {
    for (const Run& run : plan.runs)
      age(run);
    between();
    for (Table& table : tables) {
      bool file = table.region.mapping == Mapping::file || table.region.mapping == Mapping::shmem;
      if (file ? plan.scoped_file : plan.scoped_anonymous) table.region.accessed = {};
    }
    for (const Run& run : plan.flushes)
      age(run);
  }
  // MADV_COLD: clears, and flushes from the first page that it changed to the last, or everything.
  void age(const Run& run) {
    std::uint64_t first = ~std::uint64_t{0}, last = 0;
    each_part(run.address, run.end(), [&](Table& table, const PageMask& part) {
      PageMask changed = (table.region.accessed & part) - table.stuck - passed_for_folio(table, part);
      table.region.accessed -= changed;
      if (!changed.any()) return;
      first = std::min(first, table.region.address + changed.next(0) * std::uint64_t{4096});
      last = table.region.address + changed.last() * std::uint64_t{4096};
    });
    if (last < first) return;
    if (last - first >= 33 * 4096)
      for (Table& table : tables)
        table.cached = {};
    else
      each_part(first, last + 4096, [](Table& table, const PageMask& part) { table.cached -= part; });
  }
  [[nodiscard]] PageMask passed_for_folio(const Table& table, const PageMask& part) const {
    const PageMask folio = part & table.folio;
    return stops_at_folios ? PageMask::range(folio.next(0), kTablePages) : folio;
  }
  void each_part(std::uint64_t from, std::uint64_t to, auto&& visit) {
    for (std::uint64_t address = from; address < to;) {
      std::uint64_t end = std::min(to, address / kTableBytes * kTableBytes + kTableBytes);
      if (Table* at = find(address))
        visit(*at, PageMask::range(static_cast<unsigned>(address % kTableBytes / 4096),
                                   static_cast<unsigned>((end - 1) % kTableBytes / 4096 + 1)));
      address = end;
    }
  }
  [[nodiscard]] Tracker::Judge judge() {
    return [this](const Region& region, const PageMask& pages) -> std::optional<Judged> {
      if (!judge_knows) return std::nullopt;
      const Table& table = *find(region.address);
      return Judged{.passed = pages & (table.stuck | passed_for_folio(table, PageMask::all())),
                    .small = stops_at_folios ? (PageMask::range(0, pages.last() + 1) & region.present) - table.folio
                                             : PageMask{}};
    };
  }
  // Begins a window as the product does.
  ClearPlan begin(
      Tracker& tracker, const Aim& aim, const ClearCosts& costs = {}, const ScopedCosts& scoped = {},
      const std::function<void()>& between = [] {}) {
    ClearPlan plan = tracker.begin(census(), aim, costs, scoped);
    clear(plan, between);
    tracker.settle(census(), judge());
    for (Table& table : tables)
      table.touched = {};
    return plan;
  }
  [[nodiscard]] double truth() const {
    double sum = 0;
    for (const Table& table : tables)
      sum += table.touched.count();
    return sum;
  }
  [[nodiscard]] Table* find(std::uint64_t address) {
    for (Table& table : tables)
      if (table.region.address == address / kTableBytes * kTableBytes) return &table;
    return nullptr;
  }
};

// Each page with probability p, by words of random bits: 1/256 steps.
inline PageMask random_pages(std::mt19937_64& random, double p) {
  PageMask mask;
  auto threshold = static_cast<unsigned>(p * 256 + 0.5);
  for (auto& word : mask.words) {
    // Bit by bit from the lowest: P = threshold / 256 by and/or of random words.
    std::uint64_t bits = threshold >= 256 ? ~std::uint64_t{0} : 0;
    for (unsigned bit = 0; threshold < 256 && bit < 8; ++bit)
      bits = (threshold >> bit) & 1 ? bits | random() : bits & random();
    word = bits;
  }
  return mask;
}

} // namespace hotset
