// SPDX-License-Identifier: Apache-2.0
// When a window is measured by a sample, and what it then leaves alone.
#include <gtest/gtest.h>

#include "access/tracker.h"
#include "unit/access_simulated.h"

namespace hotset {
namespace {

TEST(Tracker, a_sample_that_was_asked_for_is_drawn_from_long_runs_too) {
  SimulatedTarget target;
  target.add(64);
  Tracker tracker(1);
  const Aim sample{.method = Aim::Method::sample, .budget_us = 5000, .error_pages = 5000};
  ClearPlan plan;
  for (int window = 0; window < 8; ++window) { // in the first ones the sweep finds that nothing has gone cold
    plan = target.begin(tracker, sample);
    for (std::size_t i = 0; i < 64; ++i)
      target.touch(i, PageMask::all());
    const Answer answer = tracker.answer(target.census());
    EXPECT_LE(answer.low, target.truth());
    EXPECT_GE(answer.high, target.truth());
    tracker.learn(target.census());
  }
  EXPECT_EQ(plan.approach, ClearPlan::Approach::sample) << plan.reason;
  EXPECT_LT(plan.run_pages, 64 * 512 / 4);
}

// A library's few pages widen a sampled interval by next to nothing, and clearing them costs more than the sample.
TEST(Tracker, a_sample_settles_what_hardly_matters_to_it_seldom_and_says_so) {
  SimulatedTarget target;
  target.add(64);
  target.add(1, Mapping::file);
  target.tables[64].stuck = PageMask::all();
  Tracker tracker(1);
  const Aim sample{.method = Aim::Method::sample, .budget_us = 1e6, .error_pages = 8 * 20};
  int settled = 0;
  for (int window = 0; window < 48; ++window) {
    const ClearPlan plan = target.begin(tracker, sample);
    settled += plan.scoped_file;
    for (std::size_t i = 0; i < 64; ++i)
      target.touch(i, PageMask::range(0, 512));
    target.touch(64, PageMask::range(0, 10));
    const Answer answer = tracker.answer(target.census());
    EXPECT_LE(answer.low, target.truth());
    EXPECT_GE(answer.high, target.truth());
    tracker.learn(target.census());
  }
  EXPECT_GE(settled, 2);
  EXPECT_LE(settled, 5);
}

// A scoped clear settles hot and cold memory at once. What is held later is judged by what its own tables were then.
TEST(Tracker, held_pages_are_estimated_by_the_past_of_their_own_tables) {
  constexpr std::size_t kCold = 3;
  SimulatedTarget target;
  target.add(4, Mapping::file);
  for (SimulatedTarget::Table& table : target.tables)
    table.stuck = PageMask::all();
  target.add(1); // whose clearing flushes the TLB, so that it can be told
  Tracker tracker(1);
  const Aim exact{.method = Aim::Method::exact, .budget_us = 1e6};
  EXPECT_TRUE(target.begin(tracker, exact).scoped_file);
  for (std::size_t hot = 0; hot < kCold; ++hot)
    target.touch(hot, PageMask::all());
  tracker.learn(target.census());

  for (std::size_t hot = 0; hot < kCold; ++hot)
    target.unmap(hot, PageMask::all());
  target.touch(kCold, PageMask::all()); // once
  constexpr ScopedCosts kNever{.fixed_us = 1e15};
  EXPECT_FALSE(target.begin(tracker, exact, {}, kNever).scoped_file);
  const Answer answer = tracker.answer(target.census());
  EXPECT_EQ(answer.high, 512); // nobody knows
  EXPECT_EQ(answer.touched, 0) << "but nothing of it was touched when it could be told";
}

// What the start of a program set of its libraries is mostly there because its neighbour was read.
TEST(Tracker, of_held_pages_that_were_never_settled_half_are_expected_and_few_of_files) {
  constexpr ScopedCosts kNever{.fixed_us = 1e15};
  for (auto [mapping, expected] : {std::pair{Mapping::file, 512 / 16}, std::pair{Mapping::shmem, 512 / 2}}) {
    SimulatedTarget target;
    target.add(1, mapping);
    target.tables[0].stuck = PageMask::all();
    Tracker tracker(1);
    const Aim exact{.method = Aim::Method::exact, .budget_us = 1e6};
    target.begin(tracker, exact, {}, kNever);
    tracker.learn(target.census());
    target.begin(tracker, exact, {}, kNever);
    const Answer answer = tracker.answer(target.census());
    EXPECT_EQ(answer.low, 0);
    EXPECT_EQ(answer.high, 512);
    EXPECT_EQ(answer.touched, expected);
  }
}

} // namespace
} // namespace hotset
