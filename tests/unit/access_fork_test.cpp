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

// The same where it was forked after they had been found its own.
TEST(Tracker, pages_of_our_own_are_so_no_longer_after_a_fork_that_is_over_by_now) {
  for (bool forks : {false, true}) {
    SimulatedTarget target = forked();
    Tracker tracker(1);
    for (int i = 0; i < 2; ++i)
      target.begin(tracker, kPlenty, {}, kNeverScoped, [&] { target.touch(0, PageMask::all()); });
    EXPECT_EQ(tracker.answer(target.census()).low, 512);
    for (SimulatedTarget::Table& table : target.tables) {
      table.stuck = PageMask::all();
      if (forks) ++table.region.forks;
    }
    target.begin(tracker, kPlenty, {}, kNeverScoped, [&] { end_child(target); });
    const Answer answer = tracker.answer(target.census());
    EXPECT_EQ(answer.low, forks ? 0 : 512) << "without a number of forks (before Linux 5.11) it can't be told";
    EXPECT_EQ(answer.high, 512);
  }
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
    Tracker tracker(1, {.stops_at_folios = stops});
    for (int i = 0; i < 3; ++i) {
      target.begin(tracker, kPlenty);
      target.touch(0, PageMask::range(0, 200));
    }
    EXPECT_TRUE(tracker.answer(target.census()).exact());
    EXPECT_EQ(tracker.answer(target.census()).touched, 200);
    // Page 50 goes, and a part of a larger folio comes in its place; MADV_COLD gets no further.
    target.unmap(0, PageMask::range(50, 51));
    target.begin(tracker, kPlenty);
    target.touch(0, PageMask::range(0, 200));
    target.tables[0].folio = PageMask::range(50, 51);
    target.tables[0].stuck = PageMask::range(50, kTablePages);
    target.begin(tracker, kPlenty);
    const Answer answer = tracker.answer(target.census());
    EXPECT_EQ(answer.low, stops ? 0 : 149) << "one that goes on has cleared what it ever cleared";
    EXPECT_EQ(answer.high, 150);
  }
}

} // namespace
} // namespace hotset
