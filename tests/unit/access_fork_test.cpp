// SPDX-License-Identifier: Apache-2.0
// Memory that a fork shares, and what is left of that: who else maps a page can change at any moment.
#include <gtest/gtest.h>

#include "access/tracker.h"
#include "unit/access_simulated.h"

namespace hotset {
namespace {

constexpr Aim kPlenty{.budget_us = 1e9};
constexpr ScopedCosts kNeverScoped{.fixed_us = 1e15};

// Two tables whose pages a child shares: the entries lost the write permission.
SimulatedTarget forked(Mapping mapping = Mapping::anonymous) {
  SimulatedTarget target;
  target.add(2, mapping);
  for (SimulatedTarget::Table& table : target.tables) {
    table.region.writable = {};
    table.region.forks = 1;
  }
  return target;
}

// What the child's pages become when it ends between the clear, which passes over them, and the look at what it did.
void end_child(SimulatedTarget& target) {
  for (SimulatedTarget::Table& table : target.tables)
    table.stuck = {};
}

TEST(Tracker, a_fork_turns_proven_pages_doubtful_again) {
  SimulatedTarget target;
  target.add(2);
  Tracker tracker(1);
  for (int i = 0; i < 3; ++i) {
    target.begin(tracker, kPlenty, {}, kNeverScoped);
    target.touch(0, PageMask::range(0, 40));
  }
  // The child shares every page, which the parent's entries show by having lost the write permission.
  for (auto& table : target.tables) {
    table.stuck = PageMask::all();
    table.region.writable = {};
  }
  target.begin(tracker, kPlenty, {}, kNeverScoped);
  Answer answer = tracker.answer(target.census());
  EXPECT_EQ(answer.low, 0);
  EXPECT_EQ(answer.high, 40);
}

// A server whose child has saved its memory and ends, or another process that has mapped the same file.
TEST(Tracker, pages_whose_last_sharer_ends_after_the_clear_are_not_taken_for_touched) {
  for (Mapping mapping : {Mapping::anonymous, Mapping::file, Mapping::shmem}) {
    SimulatedTarget target = forked(mapping);
    Tracker tracker(1);
    for (SimulatedTarget::Table& table : target.tables)
      table.stuck = PageMask::all();
    target.begin(tracker, kPlenty, {}, kNeverScoped, [&] { end_child(target); });
    Answer answer = tracker.answer(target.census());
    EXPECT_EQ(answer.low, 0);
    EXPECT_EQ(answer.high, 1024);
    tracker.learn(target.census());

    target.begin(tracker, kPlenty, {}, kNeverScoped, [&] { target.touch(0, PageMask::range(0, 40)); });
    answer = tracker.answer(target.census());
    EXPECT_TRUE(answer.exact()) << "they are its own, for the second time";
    EXPECT_EQ(answer.touched, 40);
  }
}

// The same where that came after they had been found its own: a fork of private memory, another mapping of the file.
TEST(Tracker, pages_of_our_own_are_so_no_longer_when_others_have_come_that_are_gone_by_now) {
  struct Case {
    Mapping mapping;
    bool shared;
  };
  for (auto [mapping, shared] : {Case{Mapping::anonymous, false}, Case{Mapping::file, false},
                                 Case{Mapping::shmem, true}, Case{Mapping::file, true}}) {
    SimulatedTarget target = forked(mapping);
    for (SimulatedTarget::Table& table : target.tables)
      table.region.shared = table.region.alone = shared;
    Tracker tracker(1);
    for (int i = 0; i < 2; ++i)
      target.begin(tracker, kPlenty, {}, kNeverScoped, [&] { target.touch(0, PageMask::all()); });
    EXPECT_EQ(tracker.answer(target.census()).low, 512);
    for (SimulatedTarget::Table& table : target.tables) {
      table.stuck = PageMask::all();
      if (shared)
        table.region.alone = false;
      else
        table.region.forks += 2;
    }
    target.begin(tracker, kPlenty, {}, kNeverScoped, [&] { end_child(target); });
    const Answer answer = tracker.answer(target.census());
    EXPECT_EQ(answer.low, 0);
    EXPECT_EQ(answer.high, 512);
  }
}

// Of several processes nothing is ours by being mapped once; that others have come is seen all the same.
TEST(Tracker, of_a_group_too_what_was_proven_ends_when_others_come_or_another_file) {
  for (bool another : {false, true}) {
    SimulatedTarget target = forked(Mapping::shmem);
    for (SimulatedTarget::Table& table : target.tables)
      table.region.alone = table.region.of_group = true;
    Tracker tracker(1);
    for (int i = 0; i < 3; ++i)
      target.begin(tracker, kPlenty, {}, kNeverScoped, [&] { target.touch(0, PageMask::all()); });
    EXPECT_EQ(tracker.answer(target.census()).low, 512);
    for (SimulatedTarget::Table& table : target.tables) {
      table.stuck = PageMask::all();
      if (another)
        table.region.content = 7;
      else
        table.region.alone = false;
    }
    target.begin(tracker, kPlenty, {}, kNeverScoped, [&] { end_child(target); });
    EXPECT_EQ(tracker.answer(target.census()).low, 0);
  }
}

// A child that is forked when the tables have been read maps the parent's shared memory, too.
TEST(Tracker, a_fork_within_the_clear_shares_shared_memory) {
  SimulatedTarget target = forked(Mapping::shmem);
  for (SimulatedTarget::Table& table : target.tables)
    table.region.alone = true;
  Tracker tracker(1);
  for (int i = 0; i < 2; ++i)
    target.begin(tracker, kPlenty, {}, kNeverScoped, [&] { target.touch(0, PageMask::all()); });
  EXPECT_EQ(tracker.answer(target.census()).low, 512);
  target.tables[0].stuck = PageMask::all();
  target.begin(tracker, kPlenty, {}, kNeverScoped, [&] {
    end_child(target);
    for (SimulatedTarget::Table& table : target.tables)
      table.region.forks += 2;
  });
  EXPECT_EQ(tracker.answer(target.census()).low, 0);
}

// A huge page that was cleared whole is mapped page by page now; it still is one folio, which can't be split.
TEST(Tracker, a_huge_page_that_is_taken_apart_is_looked_at_anew) {
  SimulatedTarget target;
  target.add(1, Mapping::anonymous, true);
  Tracker tracker(1);
  for (int i = 0; i < 2; ++i) {
    target.begin(tracker, kPlenty, {}, kNeverScoped);
    target.touch(0, PageMask::range(0, 1));
  }
  target.tables[0].region.huge = false;
  target.tables[0].stuck = PageMask::all();
  target.begin(tracker, kPlenty, {}, kNeverScoped);
  EXPECT_EQ(tracker.answer(target.census()).low, 0);
}

// A neighbour in the same table goes, and another one comes to its place.
TEST(Tracker, what_was_proven_of_a_mapping_is_forgotten_with_it) {
  SimulatedTarget target;
  target.add(2);
  target.tables[1].region.address = target.tables[0].region.address;
  target.tables[0].region.last = target.tables[1].region.first = 256;
  target.tables[1].region.vma = 1;
  for (SimulatedTarget::Table& table : target.tables)
    table.region.present = table.region.accessed = table.region.writable = table.region.own();
  Tracker tracker(1);
  Snapshot both = target.census();
  tracker.begin(both, kPlenty, {}, kNeverScoped);
  Snapshot cleared = both;
  for (Region& region : cleared.regions)
    region.accessed = {};
  tracker.settle(cleared, target.judge());
  Snapshot one = both;
  one.regions.pop_back();
  tracker.begin(one, kPlenty, {}, kNeverScoped);
  tracker.settle(one, target.judge());
  tracker.begin(both, kPlenty, {}, kNeverScoped);
  bool asked = false;
  tracker.settle(both, [&](const Region& region, const PageMask& pages) {
    asked = asked || region.first == 256;
    return Judged{.passed = pages};
  });
  EXPECT_TRUE(asked);
}

// It is forked when the page tables have been read, and over before they are read again.
TEST(Tracker, a_fork_within_the_clear_is_seen_when_the_tables_are_read_again) {
  SimulatedTarget target = forked();
  Tracker tracker(1);
  for (int i = 0; i < 2; ++i)
    target.begin(tracker, kPlenty, {}, kNeverScoped, [&] { target.touch(0, PageMask::all()); });
  target.tables[0].stuck = PageMask::all();
  target.begin(tracker, kPlenty, {}, kNeverScoped, [&] {
    end_child(target);
    for (SimulatedTarget::Table& table : target.tables)
      ++table.region.forks;
  });
  EXPECT_EQ(tracker.answer(target.census()).low, 0);
}

// Where MADV_COLD stops at a part of a larger folio, what lies behind stays set although it was cleared in earlier
// windows.
TEST(Tracker, what_lies_behind_a_part_of_a_larger_folio_is_no_proof_of_touches) {
  for (bool stops : {false, true}) {
    SimulatedTarget target;
    target.add(2);
    target.stops_at_folios = stops;
    Tracker tracker(1, {.stops_at_folios = stops});
    auto window = [&] {
      target.begin(tracker, kPlenty, {}, kNeverScoped);
      return tracker.answer(target.census());
    };
    for (int i = 0; i < 3; ++i) {
      window();
      target.touch(0, PageMask::range(0, 200));
    }
    EXPECT_TRUE(tracker.answer(target.census()).exact());
    EXPECT_EQ(tracker.answer(target.census()).touched, 200);
    // Page 50 goes, and a part of a larger folio comes in its place.
    target.unmap(0, PageMask::range(50, 51));
    window();
    target.touch(0, PageMask::range(0, 200));
    target.tables[0].folio = PageMask::range(50, 51);
    Answer answer = window();
    EXPECT_EQ(answer.low, 0);
    EXPECT_EQ(answer.high, stops ? 150 : 1);
    target.tables[0].folio = {};
    for (int i = 0; i < 17; ++i)
      answer = window();
    EXPECT_EQ(answer.high, 0) << "tried again now and then";
  }
}

} // namespace
} // namespace hotset
