// SPDX-License-Identifier: Apache-2.0
// Pages of files that a page fault mapped for the sake of their neighbour.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "access/tracker.h"
#include "unit/access_simulated.h"
#include "unit/access_simulated_group.h"

namespace hotset {
namespace {

constexpr Aim kPlenty{.budget_us = 1e9};

TEST(Tracker, pages_mapped_around_a_fault_are_bounded_and_known_from_the_next_window_on) {
  for (Mapping mapping : {Mapping::file, Mapping::shmem, Mapping::anonymous}) {
    SimulatedTarget target;
    target.add(2, mapping);
    for (SimulatedTarget::Table& table : target.tables)
      table.region.accessed = {};
    target.unmap(0, PageMask::range(0, 64));
    Tracker tracker(1);
    target.begin(tracker, kPlenty);
    target.touch(0, PageMask::range(0, 16));    // of these a single one, if they are of a file
    target.touch(0, PageMask::range(100, 103)); // mapped before
    target.touch(0, PageMask::range(20, 22));
    target.tables[0].region.writable = PageMask::range(20, 22); // copied for a write to private memory
    const bool file = mapping != Mapping::anonymous, shared = mapping == Mapping::shmem;
    const unsigned known = shared ? 3 : file ? 5 : 21;
    Answer answer = tracker.answer(target.census());
    EXPECT_EQ(answer.low, known);
    EXPECT_EQ(answer.high, 21);
    EXPECT_EQ(answer.touched, known + (21 - known) / 2.0);
    ASSERT_EQ(answer.held.size(), file ? 1U : 0U);
    for (const Held& held : answer.held)
      EXPECT_EQ(held.code, kHeldAround.code);
    const Verdict verdict = tracker.verdict(target.tables[0].region);
    EXPECT_EQ(verdict.touched.count(), known);
    EXPECT_EQ(verdict.maybe.count(), 21U - known);

    target.begin(tracker, kPlenty);
    target.touch(0, PageMask::range(0, 4));
    answer = tracker.answer(target.census());
    EXPECT_EQ(answer.low, 4);
    EXPECT_EQ(std::ranges::count(answer.held, kHeldAround.code, &Held::code), 0);
  }
}

TEST(Tracker, a_table_that_came_in_the_window_is_mapped_around_faults_too) {
  SimulatedTarget target;
  target.add(1);
  Tracker tracker(1);
  target.begin(tracker, kPlenty);
  target.add(1, Mapping::file);
  target.tables[1].region.present = target.tables[1].region.accessed = PageMask::range(16, 32);
  target.tables[1].region.writable = {};
  const Answer answer = tracker.answer(target.census());
  EXPECT_EQ(answer.low, 0);
  EXPECT_EQ(answer.high, 16);
}

// Another file comes to the same place, and pages that the clear itself took out of the page table come back.
TEST(Tracker, what_was_mapped_before_is_told_from_what_only_has_its_address) {
  for (bool remapped : {true, false}) {
    SimulatedTarget target;
    target.add(1, Mapping::file);
    target.tables[0].region.writable = {};
    Tracker tracker(1);
    constexpr ScopedCosts kNeverScoped{.fixed_us = 1e15};
    target.begin(tracker, kPlenty, {}, kNeverScoped, [&] {
      if (!remapped) target.unmap(0, PageMask::range(0, 16)); // MADV_COLD split their folio
    });
    if (remapped) {
      target.unmap(0, PageMask::all());
      target.tables[0].region.content = 2;
    }
    target.touch(0, PageMask::range(0, 16));
    const Answer answer = tracker.answer(target.census());
    EXPECT_EQ(answer.low, 0);
    EXPECT_EQ(answer.high, 16);
  }
}

// Two tables: one is moved within the window, bits and all, the other one was moved before and stays.
TEST(Tracker, memory_that_was_moved_in_the_window_is_bounded_and_what_was_moved_before_is_known) {
  SimulatedTarget target;
  target.add(2);
  target.tables[1].region.content = 9;
  Tracker tracker(1);
  target.begin(tracker, kPlenty);
  target.tables[0].region.address += 100 * kTableBytes;
  target.tables[0].region.content = 7;
  std::swap(target.tables[0], target.tables[1]);              // ascending
  target.tables[1].region.accessed = PageMask::range(0, 300); // nobody touched them
  target.touch(0, PageMask::range(0, 40));
  Answer answer = tracker.answer(target.census());
  EXPECT_EQ(answer.low, 40);
  EXPECT_EQ(answer.high, 340);
  ASSERT_EQ(answer.held.size(), 1U);
  EXPECT_EQ(answer.held[0].code, kHeldAround.code);

  target.begin(tracker, kPlenty);
  target.touch(1, PageMask::range(0, 10));
  EXPECT_EQ(tracker.answer(target.census()).low, 10);
}

// As after an exec: an address that was known before says nothing of what is there now.
TEST(Tracker, what_it_forgot_is_new) {
  SimulatedTarget target;
  target.add(1);
  target.add(1, Mapping::file);
  target.tables[1].region.writable = {};
  Tracker tracker(1);
  target.begin(tracker, kPlenty);
  for (SimulatedTarget::Table& table : target.tables)
    table.region.accessed = PageMask::range(0, 100);
  tracker.forget();
  const Answer answer = tracker.answer(target.census());
  EXPECT_EQ(answer.low, 100);
  EXPECT_EQ(answer.high, 200);
}

// What a sample finds mapped around a fault is no hit that speaks for the rest, and nothing is held for two reasons.
TEST(Tracker, pages_mapped_around_a_fault_are_no_hits_of_a_sample) {
  SimulatedTarget target;
  target.add(64, Mapping::file);
  for (SimulatedTarget::Table& table : target.tables)
    table.region.writable = {};
  Tracker tracker(1);
  const Aim sample{.method = Aim::Method::sample, .budget_us = 500, .error_pages = 600};
  target.begin(tracker, sample, {}, {.fixed_us = 1e15});
  for (SimulatedTarget::Table& table : target.tables) {
    table.region.content = 2;
    table.region.accessed = PageMask::all();
  }
  const Answer answer = tracker.answer(target.census());
  ASSERT_GT(answer.units, 0U);
  EXPECT_EQ(answer.low, 0);
  EXPECT_EQ(answer.high, 64 * 512);
  std::uint64_t held = 0;
  for (const Held& part : answer.held)
    held += part.pages;
  EXPECT_LE(held, 64U * 512);
}

// A process that was born in the window maps its libraries anew; another one has touched some of the same pages.
TEST(GroupCount, what_a_born_process_maps_around_its_faults_is_settled_by_who_is_known_to_have_touched_it) {
  for (bool settled : {false, true}) {
    SimulatedGroup group;
    group.add_process();
    group.add_table(0, Mapping::file, false);
    group.processes[0].tables[0].region.accessed = {};
    Tracker tracker(1);
    group.begin(tracker, kPlenty, {}, {});
    if (settled) group.touch(0, 0, PageMask::range(0, 40));
    group.add_process(Standing::born);
    group.map_also(0, 0, 1, PageMask::range(32, 48));
    group.processes[1].tables[0].region.accessed = PageMask::range(32, 48);
    const GroupAnswer answer = group.answer(tracker);
    EXPECT_EQ(answer.total.low, settled ? 40 : 0);
    EXPECT_EQ(answer.total.high, settled ? 48 : 16);
    ASSERT_EQ(answer.total.held.size(), 1U);
    EXPECT_EQ(answer.total.held[0].code, kHeldAround.code);
    EXPECT_EQ(answer.total.held[0].pages, settled ? 8U : 16U);
  }
}

} // namespace
} // namespace hotset
