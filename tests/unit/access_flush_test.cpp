// SPDX-License-Identifier: Apache-2.0
// Touches through cached translations, which the bits don't show: the bounds must hold them all the same.
#include <gtest/gtest.h>

#include <algorithm>

#include "access/clear.h"
#include "access/tracker.h"
#include "unit/access_simulated.h"
#include "unit/fake_tree.h"

namespace hotset {
namespace {

constexpr Aim kPlenty{.budget_us = 1e9};

TEST(Tracker, a_scoped_clear_is_followed_by_a_flush_or_says_what_the_tlb_may_hide) {
  for (bool wide : {false, true}) {
    SimulatedTarget target;
    target.add(1);
    target.add(1, Mapping::file);
    target.tables[0].region.accessed = PageMask::range(0, 1) | (wide ? PageMask::range(500, 501) : PageMask{});
    target.tables[1].stuck = PageMask::all();
    Tracker tracker(1);
    ClearPlan plan = target.begin(tracker, kPlenty);
    EXPECT_TRUE(plan.scoped_file);
    Answer answer = tracker.answer(target.census());
    EXPECT_EQ(answer.low, 0);
    EXPECT_EQ(answer.high, wide ? 0 : 512) << "all that was settled: a TLB holds translations, not pages";
    EXPECT_EQ(answer.held.empty(), wide);
    EXPECT_EQ(plan.flushes.size(), wide ? 1U : 0U);
  }
}

// After a fork, and before it was looked up what the kernel passed over.
TEST(Tracker, a_run_flushes_nothing_that_is_not_known_to_have_cleared_its_ends) {
  for (bool knows : {true, false}) {
    SimulatedTarget target;
    target.add(1);
    target.add(1, Mapping::file);
    target.tables[1].stuck = PageMask::all();
    Tracker tracker(1);
    for (int i = 0; i < 2; ++i) {
      target.begin(tracker, kPlenty);
      target.touch(0, PageMask::all());
      target.touch(1, PageMask::all());
    }
    if (!knows) {
      target.tables[0].region.writable = {};
      target.tables[0].stuck = PageMask::all();
      target.judge_knows = false;
    }
    EXPECT_EQ(target.begin(tracker, kPlenty).flushes.size(), 1U);
    const Answer answer = tracker.answer(target.census());
    EXPECT_EQ(answer.high, knows ? 0 : 1024);
    EXPECT_EQ(std::ranges::count(answer.held, kHeldTlb.code, &Held::code), knows ? 0 : 1);
  }
}

TEST(Tracker, a_run_below_the_machines_ceiling_flushes_nothing) {
  SimulatedTarget target;
  target.add(1);
  target.add(1, Mapping::file);
  target.tables[0].region.accessed = PageMask::range(0, 1) | PageMask::range(500, 501);
  target.tables[1].stuck = PageMask::all();
  Tracker tracker(1, {.flush_pages = 502});
  EXPECT_TRUE(target.begin(tracker, kPlenty).flushes.empty());
  EXPECT_EQ(tracker.answer(target.census()).high, 512);
}

TEST(FlushPages, are_more_where_the_machine_was_tuned_so_and_never_fewer) {
  FakeTree tree;
  EXPECT_EQ(age_traits(tree.files()).flush_pages, kFlushPages);
  const std::pair<std::string_view, std::uint64_t> cases[] = {{"33\n", 64},
                                                              {"0\n", 64},
                                                              {"63\n", 64},
                                                              {"64\n", 65},
                                                              {"1000\n", 1001},
                                                              {"nonsense\n", 64},
                                                              {"18446744073709551615\n", std::uint64_t{1} << 32}};
  for (auto [text, pages] : cases) {
    tree.put("/sys/kernel/debug/x86/tlb_single_page_flush_ceiling", std::string(text));
    EXPECT_EQ(age_traits(tree.files()).flush_pages, pages) << text;
  }
}

TEST(AgeTraits, kernels_before_6_10_stop_at_parts_of_larger_folios) {
  FakeTree tree;
  EXPECT_TRUE(age_traits(tree.files()).stops_at_folios);
  const std::pair<std::string_view, bool> cases[] = {{"6.1.0-57-amd64\n", true},
                                                     {"5.14.0-503.el9\n", true},
                                                     {"6.9.12\n", true},
                                                     {"6.10.0\n", false},
                                                     {"6.10-rc1\n", false},
                                                     {"6.18.44\n", false},
                                                     {"7.0.1\n", false},
                                                     {"10.0\n", false},
                                                     {"nonsense\n", true},
                                                     {"6.\n", true},
                                                     {"6\n", true},
                                                     {".10\n", true}};
  for (auto [text, stops] : cases) {
    tree.put("/proc/sys/kernel/osrelease", std::string(text));
    EXPECT_EQ(age_traits(tree.files()).stops_at_folios, stops) << text;
  }
}

// A processor that never pushes a translation out: whatever is cached when clear_refs comes is touched unseen.
TEST(Tracker, what_the_tlb_hides_is_inside_the_bounds) {
  std::mt19937_64 random(11);
  for (int target_number = 0; target_number < 200; ++target_number) {
    SimulatedTarget target;
    target.keeps_translations = true;
    target.add(6);
    target.add(3, Mapping::file);
    target.add(2, Mapping::shmem);
    for (SimulatedTarget::Table& table : target.tables) {
      table.stuck = random_pages(random, static_cast<double>(random() % 4) / 4);
      table.region.writable -= table.stuck;
      table.cached = table.region.present;
    }
    Tracker tracker(random());
    PageMask hot[11], known[11];
    for (PageMask& pages : hot)
      pages = random() % 3 == 0 ? random_pages(random, 0.3) : PageMask{};
    for (int window = 0; window < 12; ++window) {
      Aim aim{.budget_us = random() % 2 ? 1e9 : 300, .error_pages = 10};
      // A page whose very first touch falls between the census and the scoped clear is beyond anyone's knowledge.
      target.begin(tracker, aim, {}, {.per_page_us = 0.001}, [&] {
        for (std::size_t i = 0; i < 11; ++i)
          target.touch(i, hot[i] & known[i]);
      });
      for (std::size_t i = 0; i < 11; ++i)
        target.touch(i, known[i] = hot[i]);
      Answer answer = tracker.answer(target.census());
      if (answer.confidence == 1) {
        EXPECT_LE(answer.low, target.truth()) << "window " << window;
        EXPECT_GE(answer.high, target.truth()) << "window " << window;
      }
      tracker.learn(target.census());
      if (window % 4 == 3) hot[random() % 11] = random_pages(random, 0.2);
    }
  }
}

TEST(Tracker, few_held_pages_wait_rather_than_that_many_hot_ones_are_hidden) {
  SimulatedTarget target;
  target.keeps_translations = true;
  target.add(4);
  target.tables[0].stuck = PageMask::range(0, 20); // copy-on-write after a fork, say
  target.tables[0].region.writable = {};
  Tracker tracker(1);
  for (int window = 0; window < 5; ++window) {
    ClearPlan plan = target.begin(tracker, kPlenty);
    EXPECT_FALSE(plan.scoped_anonymous);
    for (std::size_t i = 0; i < 4; ++i)
      target.touch(i, PageMask::range(0, 200));
    Answer answer = tracker.answer(target.census());
    EXPECT_LE(answer.low, 800);
    EXPECT_GE(answer.high, 800);
    EXPECT_LE(answer.high - answer.low, 20);
    tracker.learn(target.census());
  }
}

TEST(Tracker, held_pages_that_waited_long_are_settled_all_the_same) {
  SimulatedTarget target;
  target.keeps_translations = true;
  target.add(4);
  target.tables[0].stuck = PageMask::all();
  target.tables[0].region.writable = {};
  Tracker tracker(1);
  Answer answer;
  for (int window = 0; window < 8; ++window) {
    target.begin(tracker, kPlenty);
    for (std::size_t i = 1; i < 4; ++i)
      target.touch(i, PageMask::range(0, 400));
    answer = tracker.answer(target.census());
    EXPECT_LE(answer.low, 1200);
    EXPECT_GE(answer.high, 1200);
    tracker.learn(target.census());
  }
  EXPECT_TRUE(answer.exact());
}

TEST(Tracker, a_later_flush_brings_hidden_pages_back_to_light) {
  SimulatedTarget target;
  target.keeps_translations = true;
  target.add(1);
  target.add(1, Mapping::shmem);
  target.tables[0].region.accessed = PageMask::range(0, 1);
  target.tables[1].stuck = PageMask::all();
  Tracker tracker(1);
  target.touch(1, PageMask::range(0, 300));
  target.begin(tracker, kPlenty);
  target.touch(1, PageMask::range(0, 300));
  EXPECT_GE(tracker.answer(target.census()).high, 300);
  tracker.learn(target.census());
  target.touch(0, PageMask::range(0, 100));
  target.begin(tracker, kPlenty);
  target.touch(1, PageMask::range(0, 300));
  Answer answer = tracker.answer(target.census());
  EXPECT_EQ(answer.low, 300);
  EXPECT_EQ(answer.high, 300);
}

TEST(Tracker, what_the_tlb_may_hide_is_estimated_by_what_the_bits_showed_before) {
  SimulatedTarget target;
  target.keeps_translations = true;
  target.add(2, Mapping::shmem); // hot and cold
  target.add(1, Mapping::file);  // to be settled by a scoped clear
  target.tables[2].stuck = PageMask::all();
  Tracker tracker(1);
  const PageMask hot = PageMask::range(0, 400);
  constexpr ScopedCosts kNever{.fixed_us = 1e15};
  for (int window = 0; window < 8; ++window) { // MADV_COLD shows, and flushes
    target.begin(tracker, kPlenty, {}, kNever);
    target.touch(0, hot);
    tracker.learn(target.census());
  }
  for (int window = 0, after = 0; after < 3; ++window) {
    ASSERT_LT(window, 20);
    // Whoever clears it, it is cached again before the scoped clear.
    const ClearPlan plan = target.begin(tracker, kPlenty, {}, {}, [&] { target.touch(0, hot); });
    after += plan.scoped_file || after > 0;
    target.touch(0, hot);
    const Answer answer = tracker.answer(target.census());
    tracker.learn(target.census());
    if (after == 0) continue;
    EXPECT_EQ(answer.low, 0) << "no bit shows the touches";
    EXPECT_GE(answer.high, 400);
    EXPECT_NEAR(answer.touched, 400, 40) << "window " << window;
  }
}

// What is seen of the hidden pages is no longer to be expected of the others.
TEST(Tracker, what_is_seen_of_hidden_pages_is_taken_from_what_is_expected_of_them) {
  SimulatedTarget target;
  target.keeps_translations = true;
  target.add(2, Mapping::shmem);
  target.add(1, Mapping::file);
  target.tables[2].stuck = PageMask::all();
  Tracker tracker(1);
  const PageMask hot = PageMask::range(0, 400);
  constexpr ScopedCosts kNever{.fixed_us = 1e15};
  for (int window = 0; window < 8; ++window) {
    target.begin(tracker, kPlenty, {}, kNever);
    target.touch(0, hot);
    tracker.learn(target.census());
  }
  while (!target.begin(tracker, kPlenty, {}, {}, [&] { target.touch(0, hot); }).scoped_file) {
    target.touch(0, hot);
    tracker.learn(target.census());
  }
  target.tables[0].cached -= PageMask::range(0, 300); // pushed out
  target.touch(0, hot);
  const Answer answer = tracker.answer(target.census());
  EXPECT_EQ(answer.low, 300);
  EXPECT_NEAR(answer.touched, 400, 40);
}

} // namespace
} // namespace hotset
