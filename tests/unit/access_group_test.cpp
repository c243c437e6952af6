// SPDX-License-Identifier: Apache-2.0
// Several processes as one working set, against simulated page tables that share frames.
#include "access/group_count.h"

#include <gtest/gtest.h>

#include <functional>

#include "unit/access_simulated_group.h"

namespace hotset {
namespace {

constexpr Aim kPlenty{.budget_us = 1e9};
constexpr ScopedCosts kNeverScoped{.fixed_us = 1e15};

// Each with private memory, a library, and shared memory that all map.
SimulatedGroup servers(std::size_t processes, std::size_t private_tables = 2) {
  SimulatedGroup group;
  for (std::size_t i = 0; i < processes; ++i) {
    group.add_process();
    if (i == 0) {
      group.add_table(0, Mapping::file, false);
      group.add_table(0, Mapping::shmem, true);
    } else {
      group.map_also(0, 0, i);
      group.map_also(0, 1, i);
    }
    for (std::size_t t = 0; t < private_tables; ++t)
      group.add_table(i, Mapping::anonymous, false);
  }
  return group;
}

TEST(GroupCount, counts_a_shared_page_once_whoever_touched_it) {
  SimulatedGroup group = servers(4);
  Tracker tracker(1);
  group.begin(tracker, kPlenty, {}, {});
  group.touch(0, 1, PageMask::range(0, 100));
  group.touch(1, 1, PageMask::range(50, 150));
  group.touch(2, 1, PageMask::range(100, 150));
  group.touch(3, 2, PageMask::range(0, 7));
  GroupAnswer answer = group.answer(tracker);
  EXPECT_EQ(answer.total.touched, 150 + 7);
  EXPECT_TRUE(answer.total.exact());
  EXPECT_EQ(answer.total.resident, (2 + 4 * 2) * 512);
  EXPECT_EQ(answer.shared, 2U * 512);
  EXPECT_EQ(answer.total.confidence, 1);
}

TEST(GroupCount, one_process_alone_is_what_the_tracker_says) {
  std::mt19937_64 random(1);
  SimulatedGroup group = servers(1, 6);
  Tracker tracker(1);
  for (int window = 0; window < 10; ++window) {
    group.begin(tracker, kPlenty, {}, {});
    for (std::size_t t = 0; t < 8; ++t)
      group.touch(0, t, random_pages(random, 0.2));
    Answer alone = tracker.answer(group.census());
    GroupAnswer answer = group.answer(tracker);
    EXPECT_EQ(answer.total.touched, alone.touched);
    EXPECT_EQ(answer.total.low, alone.low);
    EXPECT_EQ(answer.total.high, alone.high);
    EXPECT_EQ(answer.total.resident, alone.resident);
    EXPECT_EQ(answer.shared, 0U);
    tracker.learn(group.census());
  }
}

// A page mapped twice whose two bits could not be cleared: set in one process for sure, in the other who knows.
TEST(GroupCount, a_bit_that_is_unknown_in_one_process_matters_only_if_no_other_settles_it) {
  SimulatedGroup group = servers(2);
  Tracker tracker(1);
  group.processes[1].tables[1].region.accessed = {};
  group.begin(tracker, kPlenty, {}, kNeverScoped);
  group.touch(1, 1, PageMask::range(0, 100));
  GroupAnswer answer = group.answer(tracker);
  EXPECT_EQ(answer.total.low, 100) << "seen by the process whose bits were clear";
  EXPECT_EQ(answer.total.high, 2 * 512) << "the library and the shared memory are set in the other";
  ASSERT_EQ(answer.total.held.size(), 1U);
  EXPECT_EQ(answer.total.held[0].code, "shared");
  EXPECT_EQ(answer.total.held[0].pages, 2U * 512 - 100);
}

TEST(GroupCount, pages_known_to_be_shared_are_neither_aged_in_vain_nor_sampled) {
  SimulatedGroup group = servers(3);
  Tracker tracker(1);
  ClearPlan plan = group.begin(tracker, kPlenty, {}, kNeverScoped);
  EXPECT_EQ(plan.run_pages, 3U * 2 * 512);
}

TEST(GroupCount, a_shared_huge_page_is_512_pages_once) {
  SimulatedGroup group = servers(2, 0);
  group.add_table(0, Mapping::shmem, true, true);
  group.map_also(0, 2, 1);
  Tracker tracker(1);
  group.begin(tracker, kPlenty, {}, {});
  group.touch(1, 2, PageMask::range(5, 6));
  GroupAnswer answer = group.answer(tracker);
  EXPECT_EQ(answer.total.touched, 512);
  EXPECT_EQ(answer.total.huge, 512U);
  EXPECT_EQ(answer.total.resident, 3U * 512);
}

TEST(GroupCount, a_process_born_in_the_window_touched_all_that_is_set_in_it) {
  SimulatedGroup group = servers(1);
  Tracker tracker(1);
  group.begin(tracker, kPlenty, {}, {});
  group.touch(0, 2, PageMask::range(0, 10));
  group.fork(0, Standing::born);
  group.touch(1, 2, PageMask::range(5, 30)); // the parent's pages, still shared
  group.touch(1, 3, PageMask::range(0, 4));
  GroupAnswer answer = group.answer(tracker);
  EXPECT_EQ(answer.total.touched, 30 + 4);
  EXPECT_TRUE(answer.total.exact());
  EXPECT_EQ(answer.total.resident, 4U * 512);
}

TEST(GroupCount, a_process_that_comes_from_elsewhere_only_widens_the_bounds) {
  SimulatedGroup group = servers(1);
  Tracker tracker(1);
  group.begin(tracker, kPlenty, {}, {});
  group.add_process(Standing::joined);
  group.add_table(1, Mapping::anonymous, false);
  group.map_also(0, 1, 1);
  group.processes[1].tables[1].region.accessed = PageMask::all();
  group.touch(0, 1, PageMask::range(0, 3));
  group.touch(1, 0, PageMask::range(0, 10));
  GroupAnswer answer = group.answer(tracker);
  EXPECT_EQ(answer.total.low, 3);
  EXPECT_EQ(answer.total.high, 512 + 512);
  EXPECT_EQ(answer.joined, 2U * 512);
}

TEST(GroupCount, what_an_ended_process_may_have_touched_is_in_the_upper_bound) {
  SimulatedGroup group = servers(3);
  Tracker tracker(1);
  group.begin(tracker, kPlenty, {}, {});
  group.touch(1, 1, PageMask::range(0, 50));
  group.touch(1, 2, PageMask::range(0, 10)); // its own memory, gone with it
  group.end(1);
  group.touch(0, 1, PageMask::range(40, 60));
  GroupAnswer answer = group.answer(tracker);
  EXPECT_EQ(group.truth(), 60);
  EXPECT_EQ(answer.total.low, 20);
  EXPECT_EQ(answer.total.high, 2 * 512);
  EXPECT_EQ(answer.ended, 2U * 512 - 20);
}

// An exec gives a process a new place behind all others, while it stays where it is among the processes.
TEST(GroupCount, processes_may_come_in_any_order) {
  SimulatedGroup group = servers(4, 20);
  Tracker tracker(1);
  group.begin(tracker, {.method = Aim::Method::sample, .budget_us = 500}, {}, kNeverScoped);
  for (std::size_t t = 2; t < 22; ++t)
    group.touch(1, t, PageMask::range(0, 40));
  const Answer ascending = group.answer(tracker).total;
  std::ranges::swap(group.processes[1], group.processes[3]);
  const Answer mixed = group.answer(tracker).total;
  EXPECT_GT(ascending.units, 0U);
  EXPECT_EQ(mixed.known, ascending.known);
  EXPECT_EQ(mixed.touched, ascending.touched);
  EXPECT_EQ(mixed.low, ascending.low);
  EXPECT_EQ(mixed.high, ascending.high);
}

// Its entries are gone, as those of a process that ended.
TEST(GroupCount, what_a_process_touched_before_it_went_to_another_program_is_in_the_upper_bound) {
  SimulatedGroup group = servers(3);
  Tracker tracker(1);
  group.begin(tracker, kPlenty, {}, {});
  group.touch(1, 1, PageMask::range(0, 50));
  group.exec(1);
  group.touch(1, 0, PageMask::range(0, 512));
  GroupAnswer answer = group.answer(tracker);
  EXPECT_EQ(group.truth(), 50 + 512);
  EXPECT_EQ(answer.total.low, 512);
  EXPECT_EQ(answer.total.high, 2 * 512 + 512);
  EXPECT_EQ(answer.ended, 2U * 512);
}

// A TLB holds translations, not pages: one may hide all of a huge page.
TEST(GroupCount, all_that_a_clear_without_a_flush_may_hide_widens_the_upper_bound) {
  SimulatedGroup group = servers(2, 0);
  for (int i = 0; i < 20; ++i) {
    group.add_table(0, Mapping::shmem, true, true);
    group.map_also(0, group.processes[0].tables.size() - 1, 1);
  }
  Tracker tracker(1);
  ClearPlan plan = group.begin(tracker, kPlenty, {}, {});
  EXPECT_TRUE(plan.scoped_file);
  EXPECT_TRUE(plan.flushes.empty());
  GroupAnswer answer = group.answer(tracker);
  EXPECT_EQ(answer.total.low, 0);
  EXPECT_EQ(answer.total.high, 22 * 512);
}

// A fork after the window began makes the sample's population shared: it must not be counted twice for certain.
TEST(GroupCount, a_fork_in_the_window_does_not_break_the_bounds) {
  SimulatedGroup group = servers(1, 40);
  Tracker tracker(1);
  group.begin(tracker, {.method = Aim::Method::sample, .budget_us = 500}, {}, kNeverScoped);
  for (std::size_t t = 2; t < 42; ++t)
    group.touch(0, t, PageMask::range(0, 256));
  group.fork(0, Standing::born);
  for (std::size_t t = 2; t < 42; ++t)
    group.touch(1, t, PageMask::range(128, 384));
  GroupAnswer answer = group.answer(tracker);
  EXPECT_LE(answer.total.low, group.truth());
  EXPECT_GE(answer.total.high, group.truth());
  EXPECT_LE(answer.total.high, answer.total.resident);
}

TEST(GroupCount, memory_of_the_frame_set_does_not_grow_with_the_processes) {
  SimulatedGroup two = servers(2), many = servers(40, 0);
  Tracker tracker(1);
  two.begin(tracker, kPlenty, {}, {});
  const std::size_t bytes = two.answer(tracker).frame_set_bytes;
  Tracker other(1);
  many.begin(other, kPlenty, {}, {});
  EXPECT_EQ(many.answer(other).frame_set_bytes, bytes);
  EXPECT_LT(bytes, 2048U);
}

TEST(FrameNumber, of_an_entry_that_is_not_present_is_stored_inverted) {
  EXPECT_EQ(frame_number((Entry{0x1234} << 12) | kEntryPresent), 0x1234U);
  EXPECT_EQ(frame_number((~(Entry{0x1234} << 12) & kEntryFrame) | kEntryProtNone), 0x1234U);
}

struct Scene {
  std::string_view name;
  double share;  // of private pages that are touched
  double shared; // of shared pages
  double budget_us;
  bool scoped; // clear_refs is affordable
  bool lively; // processes fork and end
};

// Of ten windows each. Where nothing is drawn a few prove as much; and under a sanitizer, ten times slower, it is not
// the coverage that is looked at.
int runs_of(const Scene& scene) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_UNDEFINED__)
  constexpr int kSampled = 100;
#elif defined(__has_feature)
  constexpr int kSampled = __has_feature(address_sanitizer) ? 100 : 1000;
#else
  constexpr int kSampled = 1000;
#endif
  return scene.budget_us < 1e6 ? kSampled : 200;
}

// What the naive twin says, the set of touched frames, lies in the interval.
class GroupCoverage : public testing::TestWithParam<Scene> {};

TEST_P(GroupCoverage, holds_the_truth_at_least_as_often_as_it_says) {
  const Scene& scene = GetParam();
  std::mt19937_64 random(7);
  int windows = 0, inside = 0, sampled = 0;
  double error = 0, width = 0;
  for (int run = 0, runs = runs_of(scene); run < runs; ++run) {
    SimulatedGroup group = servers(4, 12);
    Tracker tracker(random());
    for (int window = 0; window < 10; ++window) {
      ClearPlan plan = group.begin(tracker, {.method = Aim::Method::automatic, .budget_us = scene.budget_us}, {},
                                   scene.scoped ? ScopedCosts{} : kNeverScoped);
      sampled += plan.units > 0;
      for (std::size_t p = 0; p < group.processes.size(); ++p) {
        if (!group.processes[p].alive) continue;
        for (std::size_t t = 0; t < group.processes[p].tables.size(); ++t)
          group.touch(p, t, random_pages(random, t < 2 ? scene.shared : scene.share));
      }
      if (scene.lively && window % 3 == 1) group.fork(random() % 2, Standing::born);
      if (scene.lively && window % 3 == 2) group.end(group.processes.size() - 1);
      GroupAnswer answer = group.answer(tracker);
      const double truth = group.truth();
      ++windows;
      inside += answer.total.low <= truth && truth <= answer.total.high;
      if (answer.total.confidence == 1) {
        EXPECT_LE(answer.total.low, truth) << window;
        EXPECT_GE(answer.total.high, truth) << window;
      }
      EXPECT_EQ(static_cast<double>(answer.total.resident), group.resident());
      error += answer.total.touched - truth;
      width += answer.total.high - answer.total.low;
      tracker.learn(group.census());
    }
  }
  RecordProperty("covered", std::to_string(100.0 * inside / windows));
  RecordProperty("windows", std::to_string(windows));
  RecordProperty("width", std::to_string(width / windows));
  RecordProperty("error", std::to_string(error / windows));
  EXPECT_GE(inside, windows * 0.94) << error / windows << " off, " << width / windows << " wide";
  EXPECT_EQ(sampled > 0, scene.budget_us < 1e6);
}

INSTANTIATE_TEST_SUITE_P(Each, GroupCoverage,
                         testing::Values(Scene{"everything_cleared", 0.1, 0.3, 1e9, true, false},
                                         Scene{"nothing_shared_settled", 0.1, 0.3, 1e9, false, false},
                                         Scene{"sampled", 0.5, 0.3, 1000, true, false},
                                         Scene{"sampled_and_held", 0.5, 0.3, 1000, false, false},
                                         Scene{"small_share", 0.02, 0.02, 800, true, false},
                                         Scene{"lively", 0.3, 0.3, 1e9, true, true},
                                         Scene{"lively_and_sampled", 0.3, 0.3, 1000, false, true}),
                         [](const auto& scene) { return std::string(scene.param.name); });

} // namespace
} // namespace hotset
