// SPDX-License-Identifier: Apache-2.0
// Shared memory that one process alone maps.
#include <gtest/gtest.h>

#include "access/tracker.h"
#include "unit/access_simulated.h"

namespace hotset {
namespace {

constexpr Aim kPlenty{.budget_us = 1e9};

TEST(Tracker, shared_memory_that_is_mapped_once_needs_no_judge) {
  for (bool alone : {false, true}) {
    SimulatedTarget target;
    target.add(2, Mapping::shmem);
    for (SimulatedTarget::Table& table : target.tables)
      table.region.alone = alone;
    target.judge_knows = false;
    Tracker tracker(1);
    Answer answer;
    for (int window = 0; window < 2; ++window) {
      ClearPlan plan = tracker.begin(target.census(), kPlenty, {}, {.fixed_us = 1e15});
      target.clear(plan);
      if (window > 0) target.touch(0, PageMask::range(0, 100)); // before what was cleared is looked at
      tracker.settle(target.census(), target.judge());
      target.touch(0, PageMask::range(0, 100));
      answer = tracker.answer(target.census());
      tracker.learn(target.census());
    }
    EXPECT_EQ(answer.exact(), alone);
    EXPECT_EQ(answer.high, 100);
    EXPECT_EQ(answer.low, alone ? 100 : 0);
  }
}

TEST(Tracker, shared_memory_must_be_found_to_be_mapped_once_by_two_readings) {
  SimulatedTarget target;
  target.add(1, Mapping::shmem);
  target.judge_knows = false;
  Tracker tracker(1);
  for (bool at_first : {true, false}) {
    target.tables[0].region.alone = at_first;
    target.clear(tracker.begin(target.census(), kPlenty, {}, {.fixed_us = 1e15}));
    target.tables[0].region.alone = true;
    if (!at_first) target.touch(0, PageMask::range(0, 100));
    tracker.settle(target.census(), target.judge());
    target.touch(0, PageMask::range(0, 100));
    tracker.learn(target.census());
  }
  EXPECT_EQ(tracker.answer(target.census()).low, 0);
}

} // namespace
} // namespace hotset
