// SPDX-License-Identifier: Apache-2.0
// Simulated processes that share memory: page tables whose entries name frames, a kernel that passes over what is
// mapped twice, and a record of which frame was touched, so that the truth of the whole group is known.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "access/group_count.h"
#include "unit/access_simulated.h"

namespace hotset {

struct SimulatedProcess {
  struct Table {
    Region region{};
    std::array<Entry, kTablePages> frames{};
  };
  std::uint64_t space = 0;
  Standing standing = Standing::tracked;
  std::vector<Table> tables;
  bool alive = true;
};

struct SimulatedGroup {
  std::vector<SimulatedProcess> processes;
  std::vector<int> mapped = std::vector<int>(4096); // entries by frame
  std::vector<bool> touched;                        // frames, in the running window
  Entry next_frame = 4096;
  FrameSet begun;
  bool some_ended = false;

  SimulatedProcess& add_process(Standing standing = Standing::tracked) {
    processes.push_back({.space = processes.size(), .standing = standing, .tables = {}});
    return processes.back();
  }
  // A table of new frames, all present, set, and writable if private.
  void add_table(std::size_t process, Mapping mapping, bool shared, bool huge = false) {
    SimulatedProcess& owner = processes[process];
    SimulatedProcess::Table table;
    table.region = {.address = owner.space * kSpaceBytes + (owner.tables.size() * 2 + 1) * kTableBytes,
                    .vma = static_cast<std::uint32_t>(owner.tables.size() * 1024),
                    .mapping = mapping,
                    .huge = huge,
                    .shared = shared};
    table.region.present = table.region.accessed = PageMask::all();
    if (mapping == Mapping::anonymous || mapping == Mapping::shmem) table.region.writable = PageMask::all();
    next_frame = (next_frame + kTablePages - 1) / kTablePages * kTablePages;
    for (Entry& frame : table.frames) {
      frame = next_frame++;
      mapped.resize(next_frame);
      ++mapped[frame];
    }
    owner.tables.push_back(table);
  }
  // The same memory in another process, or again in the same one.
  void map_also(std::size_t from, std::size_t table, std::size_t to, const PageMask& pages = PageMask::all()) {
    SimulatedProcess& owner = processes[to];
    SimulatedProcess::Table copy = processes[from].tables[table];
    copy.region.address = owner.space * kSpaceBytes + (owner.tables.size() * 2 + 1) * kTableBytes;
    copy.region.present &= pages;
    copy.region.accessed &= pages;
    copy.region.writable &= pages;
    for (unsigned page = copy.region.present.next(0); page < kTablePages; page = copy.region.present.next(page + 1))
      ++mapped[copy.frames[page]];
    owner.tables.push_back(copy);
  }
  // Private memory becomes copy-on-write on both sides, and the child's bits are clear.
  void fork(std::size_t parent, Standing standing) {
    add_process(standing);
    const std::size_t child = processes.size() - 1;
    for (std::size_t i = 0; i < processes[parent].tables.size(); ++i) {
      if (!processes[parent].tables[i].region.shared) processes[parent].tables[i].region.writable = {};
      map_also(parent, i, child);
      processes[child].tables.back().region.accessed = {};
    }
  }
  void touch(std::size_t process, std::size_t table, const PageMask& pages) {
    SimulatedProcess::Table& at = processes[process].tables[table];
    touched.resize(mapped.size());
    const PageMask mask = at.region.huge && pages.any() ? PageMask::all() : pages & at.region.present;
    at.region.accessed |= mask;
    for (unsigned page = mask.next(0); page < kTablePages; page = mask.next(page + 1))
      touched[at.frames[page]] = true;
  }
  void end(std::size_t process) {
    processes[process].alive = false;
    unmap_all(process);
  }
  // Another program in an address space behind all others, with one table of its own that nothing has touched.
  void exec(std::size_t process) {
    unmap_all(process);
    processes[process].tables.clear();
    processes[process].space = processes.size() + 100;
    processes[process].standing = Standing::born;
    add_table(process, Mapping::anonymous, false);
    processes[process].tables[0].region.accessed = {};
  }
  void unmap_all(std::size_t process) {
    touched.resize(mapped.size());
    some_ended = some_ended || processes[process].standing == Standing::tracked;
    for (SimulatedProcess::Table& table : processes[process].tables)
      for (unsigned page = table.region.present.next(0); page < kTablePages; page = table.region.present.next(page + 1))
        if (--mapped[table.frames[page]] == 0) touched[table.frames[page]] = false;
  }
  [[nodiscard]] static std::array<Entry, kTablePages> entries(const SimulatedProcess::Table& table) {
    std::array<Entry, kTablePages> made{};
    for (unsigned page = 0; page < kTablePages; ++page)
      if (table.region.present.test(page)) made[page] = table.frames[page] << 12 | kEntryPresent;
    return made;
  }
  template <class Visit>
  void each_table(Visit&& visit) {
    for (SimulatedProcess& process : processes)
      for (SimulatedProcess::Table& table : process.tables)
        if (process.alive) visit(process, table);
  }
  [[nodiscard]] Snapshot census(Standing most = Standing::tracked) {
    Snapshot snapshot;
    each_table([&](SimulatedProcess& process, SimulatedProcess::Table& table) {
      if (process.standing <= most) snapshot.regions.push_back(table.region);
    });
    return snapshot;
  }
  void age(const Run& run) {
    each_table([&](SimulatedProcess&, SimulatedProcess::Table& table) {
      Region& region = table.region;
      if (run.end() <= region.address || run.address >= region.address + kTableBytes) return;
      for (unsigned page = 0; page < kTablePages; ++page) {
        std::uint64_t address = region.address + page * std::uint64_t{4096};
        if (address < run.address || address >= run.end() || mapped[table.frames[page]] > 1) continue;
        region.accessed -= PageMask::range(page, page + 1);
      }
    });
  }
  ClearPlan begin(Tracker& tracker, const Aim& aim, const ClearCosts& costs, const ScopedCosts& scoped) {
    begun.clear();
    for (SimulatedProcess& process : processes)
      process.standing = Standing::tracked;
    each_table([&](SimulatedProcess&, SimulatedProcess::Table& table) {
      const std::array<Entry, kTablePages> made = entries(table);
      note_frames(table.region, Entries(made.data(), table.region), begun);
    });
    each_table([&](SimulatedProcess&, SimulatedProcess::Table& table) {
      const std::array<Entry, kTablePages> made = entries(table);
      mark_shared(table.region, Entries(made.data(), table.region), begun);
    });
    ClearPlan plan = tracker.begin(census(), aim, costs, scoped);
    for (const Run& run : plan.runs)
      age(run);
    const std::vector<std::uint64_t> spaces = tracker.scoped_spaces();
    each_table([&](SimulatedProcess& process, SimulatedProcess::Table& table) {
      bool file = table.region.mapping == Mapping::file || table.region.mapping == Mapping::shmem;
      bool settled = std::ranges::binary_search(spaces, process.space);
      if (settled && (file ? plan.scoped_file : plan.scoped_anonymous)) table.region.accessed = {};
    });
    for (const Run& run : plan.flushes)
      age(run);
    tracker.settle(census(), [&](const Region& region, const PageMask& pages) -> std::optional<Judged> {
      PageMask passed;
      each_table([&](SimulatedProcess&, SimulatedProcess::Table& table) {
        if (table.region.address != region.address) return;
        for (unsigned page = pages.next(0); page < kTablePages; page = pages.next(page + 1))
          if (mapped[table.frames[page]] > 1) passed.set(page);
      });
      return Judged{.passed = passed};
    });
    touched.assign(mapped.size(), false);
    some_ended = false;
    return plan;
  }
  [[nodiscard]] GroupAnswer answer(const Tracker& tracker) {
    GroupCount count(tracker, begun);
    each_table([&](SimulatedProcess& process, SimulatedProcess::Table& table) {
      std::array<Entry, kTablePages> made = entries(table);
      count.add(table.region, Entries(made.data(), table.region), process.standing);
    });
    return count.answer(some_ended);
  }
  [[nodiscard]] double truth() const { return static_cast<double>(std::ranges::count(touched, true)); }
  [[nodiscard]] double resident() const {
    return static_cast<double>(std::ranges::count_if(mapped, [](int entries) { return entries > 0; }));
  }
};

} // namespace hotset
