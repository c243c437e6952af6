// SPDX-License-Identifier: Apache-2.0
// The estimator against a simulated page table: what it says must be true of every case, and how often its interval may
// be wrong is counted over at least 10,000 windows.
#include "access/tracker.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "unit/access_simulated.h"

namespace hotset {
namespace {

constexpr Aim kPlenty{.budget_us = 1e9};
constexpr ScopedCosts kNeverScoped{.fixed_us = 1e15};

TEST(Tracker, is_exact_when_everything_in_question_was_cleared) {
  std::mt19937_64 random(1);
  SimulatedTarget target;
  target.add(8);
  Tracker tracker(1);
  for (int window = 0; window < 20; ++window) {
    ClearPlan plan = target.begin(tracker, kPlenty);
    EXPECT_EQ(plan.approach, ClearPlan::Approach::exact);
    for (std::size_t i = 0; i < 8; ++i)
      target.touch(i, random_pages(random, 0.1));
    Answer answer = tracker.answer(target.census());
    EXPECT_TRUE(answer.exact());
    EXPECT_EQ(answer.touched, target.truth());
    EXPECT_EQ(answer.confidence, 1);
    EXPECT_EQ(answer.coverage(), 1);
  }
}

TEST(Tracker, clears_only_what_was_accessed) {
  SimulatedTarget target;
  target.add(8);
  Tracker tracker(1);
  target.begin(tracker, kPlenty);
  target.touch(3, PageMask::range(100, 120));
  ClearPlan plan = target.begin(tracker, kPlenty);
  ASSERT_EQ(plan.runs.size(), 1);
  EXPECT_EQ(plan.runs[0].pages, 20);
  EXPECT_EQ(tracker.asked_tables(), std::vector{target.tables[3].region.address});
}

TEST(Tracker, one_clear_and_many_reads_give_a_growing_profile) {
  SimulatedTarget target;
  target.add(4);
  Tracker tracker(1);
  target.begin(tracker, kPlenty);
  for (unsigned i = 1; i <= 4; ++i) {
    target.touch(0, PageMask::range(0, i * 10));
    EXPECT_EQ(tracker.answer(target.census()).touched, i * 10);
  }
}

TEST(Tracker, pages_mapped_during_the_window_count_and_unmapped_ones_do_not) {
  SimulatedTarget target;
  target.add(4);
  Tracker tracker(1);
  target.unmap(1, PageMask::range(0, 256));
  target.begin(tracker, kPlenty);
  target.touch(0, PageMask::range(0, 50));
  target.unmap(0, PageMask::range(0, 20));
  target.touch(1, PageMask::range(0, 64)); // page faults
  target.add(1);                           // a mapping that the window's first census never saw
  target.tables.back().region.accessed = {};
  target.touch(4, PageMask::range(0, 7));
  Answer answer = tracker.answer(target.census());
  EXPECT_EQ(answer.touched, 30 + 64 + 7);
  EXPECT_TRUE(answer.exact());
  EXPECT_EQ(answer.resident, 4 * 512 - 256 + 64 + 512 - 20);
}

TEST(Tracker, what_cannot_be_cleared_is_held_with_bounds_and_a_reason) {
  SimulatedTarget target;
  target.add(4);
  target.tables[0].stuck = PageMask::range(0, 100);
  target.tables[0].region.writable = {};
  target.tables[1].region.locked = true;
  target.tables[1].stuck = PageMask::all();
  Tracker tracker(1);
  target.begin(tracker, kPlenty, {}, kNeverScoped);
  target.touch(2, PageMask::range(0, 10));
  target.touch(0, PageMask::range(0, 10));
  Answer answer = tracker.answer(target.census());
  EXPECT_EQ(answer.low, 10);
  EXPECT_EQ(answer.high, 10 + 100 + 512);
  EXPECT_EQ(answer.confidence, 1);
  ASSERT_EQ(answer.held.size(), 2);
  EXPECT_EQ(answer.held[0].code, "locked");
  EXPECT_EQ(answer.held[1].code, "shared");
  EXPECT_EQ(answer.held[1].pages, 100);
  EXPECT_NEAR(answer.coverage(), 1 - 612.0 / 2048, 1e-9);
}

TEST(Tracker, a_held_page_that_was_clear_at_the_beginning_is_known) {
  SimulatedTarget target;
  target.add(2);
  target.tables[0].stuck = PageMask::all();
  target.tables[0].region.writable = {};
  target.tables[0].region.accessed = PageMask::range(0, 50);
  Tracker tracker(1);
  target.begin(tracker, kPlenty, {}, kNeverScoped);
  target.touch(0, PageMask::range(0, 60));
  Answer answer = tracker.answer(target.census());
  EXPECT_EQ(answer.low, 10);
  EXPECT_EQ(answer.high, 60);
}

TEST(Tracker, unknown_is_not_zero_when_the_judge_does_not_know) {
  SimulatedTarget target;
  target.add(2);
  target.tables[0].stuck = PageMask::range(0, 100);
  target.judge_knows = false;
  Tracker tracker(1);
  target.begin(tracker, kPlenty, {}, kNeverScoped);
  Answer answer = tracker.answer(target.census());
  EXPECT_EQ(answer.low, 0);
  EXPECT_EQ(answer.high, 100);
  ASSERT_EQ(answer.held.size(), 1);
  EXPECT_EQ(answer.held[0].code, "undecided");
}

TEST(Tracker, a_page_set_again_between_clear_and_verification_was_touched) {
  SimulatedTarget target;
  target.add(1);
  Tracker tracker(1);
  ClearPlan plan = tracker.begin(target.census(), kPlenty, {}, {});
  target.clear(plan);
  target.touch(0, PageMask::range(0, 30)); // before settle() reads again
  tracker.settle(target.census(), target.judge());
  Answer answer = tracker.answer(target.census());
  EXPECT_EQ(answer.touched, 30);
  EXPECT_TRUE(answer.exact());
}

TEST(Tracker, a_scoped_clear_settles_what_is_held_once_the_budget_allows_it) {
  SimulatedTarget target;
  target.add(4);
  target.add(2, Mapping::file);
  for (std::size_t i : {4U, 5U})
    target.tables[i].stuck = PageMask::all();
  Tracker tracker(1);
  ScopedCosts scoped;
  Aim tight{.budget_us = scoped.of(1024) / 2}; // a half of it a window: every fourth
  int settled = 0;
  for (int window = 0; window < 12; ++window) {
    ClearPlan plan = target.begin(tracker, tight);
    target.touch(4, PageMask::range(0, 100));
    Answer answer = tracker.answer(target.census());
    EXPECT_LE(answer.low, target.truth());
    EXPECT_GE(answer.high, target.truth());
    if (plan.scoped_file) {
      EXPECT_EQ(answer.by_mapping[static_cast<std::size_t>(Mapping::file)].accessed, 100);
      ++settled;
    }
    tracker.learn(target.census());
  }
  EXPECT_EQ(settled, 3);
}

TEST(Tracker, hugetlb_and_device_mappings_are_reported_and_not_counted) {
  SimulatedTarget target;
  target.add(1);
  target.add(1, Mapping::hugetlb);
  target.add(1, Mapping::special);
  Tracker tracker(1);
  target.begin(tracker, kPlenty);
  Answer answer = tracker.answer(target.census());
  EXPECT_EQ(answer.resident, 512);
  EXPECT_EQ(answer.hugetlb, 512);
  EXPECT_EQ(answer.special, 512);
  EXPECT_EQ(answer.high, 0);
}

TEST(Tracker, huge_pages_are_cleared_and_counted_whole) {
  SimulatedTarget target;
  target.add(6, Mapping::anonymous, true);
  Tracker tracker(1);
  ClearPlan plan = target.begin(tracker, kPlenty);
  ASSERT_EQ(plan.runs.size(), 1);
  EXPECT_EQ(plan.runs[0].pages, 6 * 512);
  target.touch(2, PageMask::range(5, 6));
  Answer answer = tracker.answer(target.census());
  EXPECT_EQ(answer.touched, 512);
  EXPECT_EQ(answer.huge, 6 * 512);
}

TEST(Tracker, bits_that_the_kernel_clears_itself_are_seen) {
  SimulatedTarget target;
  target.add(16);
  Tracker tracker(1);
  Aim sample{.method = Aim::Method::sample, .budget_us = 50};
  target.begin(tracker, sample);
  for (auto& table : target.tables)
    table.region.accessed -= PageMask::range(0, 256); // reclaim at work
  Answer answer = tracker.answer(target.census());
  EXPECT_GT(answer.aged, 0);
  EXPECT_GE(answer.high, answer.aged); // they may have been touched before that
}

// --- simulations ---

struct Simulation {
  std::string name;
  std::function<void(SimulatedTarget&)> build;
  // One window's touches. `window` counts from 0 for each fresh target.
  std::function<void(SimulatedTarget&, std::mt19937_64&, int window)> work;
  Aim aim{.method = Aim::Method::sample, .budget_us = 150};
  int windows = 10;          // of one target before a fresh one
  double bias_of_rss = 0.01; // mean error allowed
};

struct Tally {
  double covered = 0, windows = 0, error = 0;
  double last_width = 0, last_windows = 0; // of each target's last window, in pages
};

Tally simulate(const Simulation& simulation, int total = 10'000) {
  std::mt19937_64 random(42);
  Tally tally;
  double resident = 1;
  for (std::uint64_t run = 0; tally.windows < total; ++run) {
    SimulatedTarget target;
    simulation.build(target);
    Tracker tracker(run);
    for (int window = 0; window < simulation.windows; ++window) {
      target.begin(tracker, simulation.aim);
      simulation.work(target, random, window);
      Snapshot now = target.census();
      Answer answer = tracker.answer(now);
      double truth = target.truth();
      EXPECT_LE(answer.low, answer.touched);
      EXPECT_LE(answer.touched, answer.high);
      EXPECT_LE(answer.high, static_cast<double>(answer.resident));
      tally.covered += answer.low <= truth && truth <= answer.high;
      if (answer.confidence == 1) {
        EXPECT_LE(answer.low, truth) << window;
        EXPECT_GE(answer.high, truth) << window;
      }
      tally.error += answer.touched - truth;
      resident = static_cast<double>(answer.resident);
      if (window + 1 == simulation.windows) {
        tally.last_width += answer.high - answer.low;
        ++tally.last_windows;
      }
      ++tally.windows;
      tracker.learn(now);
    }
  }
  tally.covered /= tally.windows;
  tally.error /= tally.windows * resident;
  tally.last_width /= tally.last_windows * resident;
  return tally;
}

std::vector<Simulation> simulations() {
  auto build = [](SimulatedTarget& target) { target.add(16); };
  auto evenly = [](double p) {
    return [p](SimulatedTarget& target, std::mt19937_64& random, int) {
      for (std::size_t i = 0; i < target.tables.size(); ++i)
        target.touch(i, random_pages(random, p));
    };
  };
  auto tables = [](std::size_t hot, double p) {
    return [hot, p](SimulatedTarget& target, std::mt19937_64& random, int) {
      for (std::size_t i = 0; i < hot; ++i)
        target.touch(i * 5 % target.tables.size(), random_pages(random, p));
    };
  };
  std::vector<Simulation> all{
      {"every_page_alike_half_touched", build, evenly(0.5)},
      {"every_page_alike_a_64th_touched", build, evenly(1.0 / 64)},
      {"a_few_hot_tables", build, tables(3, 1.0)},
      {"a_few_warm_tables", build, tables(4, 0.3)},
      {"all_hot", build, evenly(1.0)},
      {"all_cold", build, evenly(0.0)},
  };
  all.push_back(
      {"hot_pages_scattered_the_same_in_every_window", build, [](SimulatedTarget& target, std::mt19937_64&, int) {
         for (std::size_t i = 0; i < target.tables.size(); ++i)
           for (unsigned page = static_cast<unsigned>(i) % 7; page < kTablePages; page += 37)
             target.touch(i, PageMask::range(page, page + 1));
       }});
  all.push_back({"phase_change", build, [](SimulatedTarget& target, std::mt19937_64& random, int window) {
                   std::size_t from = window < 5 ? 0 : 8;
                   for (std::size_t i = from; i < from + 8; ++i)
                     target.touch(i, random_pages(random, 0.75));
                 }});
  all.push_back({"pages_come_and_go", build, [](SimulatedTarget& target, std::mt19937_64& random, int) {
                   for (std::size_t i = 0; i < target.tables.size(); ++i) {
                     target.touch(i, random_pages(random, 0.125));
                     target.unmap(i, random_pages(random, 0.125));
                     target.touch(i, random_pages(random, 0.0625));
                   }
                 }});
  all.push_back({"huge_and_small_pages",
                 [](SimulatedTarget& target) {
                   target.add(8);
                   target.add(40, Mapping::anonymous, true);
                 },
                 [](SimulatedTarget& target, std::mt19937_64& random, int) {
                   for (std::size_t i = 0; i < 8; ++i)
                     target.touch(i, random_pages(random, 0.25));
                   for (std::size_t i = 8; i < target.tables.size(); ++i)
                     if (random() % 3 == 0) target.touch(i, PageMask::range(1, 2));
                 }});
  all.push_back({"a_part_that_cannot_be_cleared",
                 [](SimulatedTarget& target) {
                   target.add(16);
                   for (std::size_t i = 0; i < 16; i += 3) {
                     target.tables[i].stuck = PageMask::range(0, 200);
                     target.tables[i].region.writable = {};
                   }
                 },
                 evenly(0.25), Aim{.method = Aim::Method::sample, .budget_us = 150, .error_pages = 1e5}, 10, 0.06});
  all.push_back({"exact_method_that_must_take_several_rounds", build, tables(3, 0.5),
                 Aim{.method = Aim::Method::exact, .budget_us = 200}});
  all.push_back({"a_small_target", [](SimulatedTarget& target) { target.add(1); }, evenly(0.5),
                 Aim{.method = Aim::Method::sample, .budget_us = 20}});
  return all;
}

class TrackerCoverage : public testing::TestWithParam<Simulation> {};

TEST_P(TrackerCoverage, holds_the_truth_as_often_as_it_says_and_the_estimate_is_centred) {
  const Simulation& simulation = GetParam();
  Tally tally = simulate(simulation);
  RecordProperty("covered", std::to_string(100 * tally.covered));
  RecordProperty("windows", std::to_string(static_cast<int>(tally.windows)));
  EXPECT_GE(tally.covered, 0.94);
  EXPECT_LT(std::abs(tally.error), simulation.bias_of_rss);
}

INSTANTIATE_TEST_SUITE_P(Each, TrackerCoverage, testing::ValuesIn(simulations()),
                         [](const auto& simulation) { return simulation.param.name; });

TEST(TrackerSimulation, a_small_working_set_in_a_large_resident_set_becomes_exact) {
  Simulation simulation{"", [](SimulatedTarget& target) { target.add(64); },
                        [](SimulatedTarget& target, std::mt19937_64&, int) {
                          target.touch(7, PageMask::range(0, 200));
                          target.touch(40, PageMask::range(100, 140));
                        },
                        Aim{.budget_us = 150}};
  simulation.windows = 40;
  Tally tally = simulate(simulation, 400);
  EXPECT_EQ(tally.last_width, 0);
}

} // namespace
} // namespace hotset
