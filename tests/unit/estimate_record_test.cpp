// SPDX-License-Identifier: Apache-2.0
#include "estimate/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hotset {
namespace {

Estimate whole() {
  Estimate e;
  e.target = {.id = {7, 100}, .comm = "x", .requested = 7};
  e.requested_s = 1;
  e.effective_s = 1.01;
  e.method = "reference";
  e.wss = WorkingSet{.bytes = 20, .low_bytes = 10, .high_bytes = 30, .confidence = 0.95};
  e.rss_bytes = 30;
  e.pss_bytes = 25;
  e.swap_bytes = 0;
  e.granularity_bytes = 4096;
  e.coverage = 1;
  e.cost = {.cpu_s = 0.1, .target_stall_s = 0.1};
  return e;
}

std::string broken(const Estimate& e) {
  Result<> result = check_invariants(e);
  return result ? "" : result.error().cause;
}

TEST(EstimateInvariants, hold_for_a_whole_estimate) {
  EXPECT_EQ(broken(whole()), "");
}

TEST(EstimateInvariants, low_wss_high_and_rss_are_in_this_order) {
  Estimate e = whole();
  e.wss->low_bytes = 21;
  EXPECT_EQ(broken(e), "low 21 is above the WSS 20");
  e = whole();
  e.wss->high_bytes = 19;
  EXPECT_EQ(broken(e), "the WSS 20 is above high 19");
  e = whole();
  e.rss_bytes = 29;
  EXPECT_EQ(broken(e), "high 30 is above the RSS 29");
}

TEST(EstimateInvariants, what_is_unknown_needs_a_flag) {
  for (auto forget : {+[](Estimate& e) { e.wss.reset(); }, +[](Estimate& e) { e.wss->confidence.reset(); },
                      +[](Estimate& e) { e.rss_bytes.reset(); }, +[](Estimate& e) { e.pss_bytes.reset(); },
                      +[](Estimate& e) { e.swap_bytes.reset(); }, +[](Estimate& e) { e.coverage.reset(); },
                      +[](Estimate& e) { e.requested_s.reset(); }, +[](Estimate& e) { e.effective_s.reset(); },
                      +[](Estimate& e) { e.cost.target_stall_s.reset(); }}) {
    Estimate e = whole();
    forget(e);
    EXPECT_THAT(broken(e), ::testing::HasSubstr("no flag"));
    e.flags.push_back({"why", "because"});
    EXPECT_EQ(broken(e), "");
  }
}

TEST(EstimateInvariants, nothing_that_is_not_a_number_gets_out) {
  for (double bad : {std::nan(""), std::numeric_limits<double>::infinity(), -1.0}) {
    for (auto put :
         {+[](Estimate& e, double v) { e.requested_s = v; }, +[](Estimate& e, double v) { e.effective_s = v; },
          +[](Estimate& e, double v) { e.coverage = v; }, +[](Estimate& e, double v) { e.cost.cpu_s = v; },
          +[](Estimate& e, double v) { e.cost.target_stall_s = v; },
          +[](Estimate& e, double v) { e.wss->confidence = v; }}) {
      Estimate e = whole();
      put(e, bad);
      EXPECT_NE(broken(e), "") << bad;
    }
  }
}

TEST(EstimateInvariants, a_share_is_at_most_one) {
  Estimate e = whole();
  e.coverage = 1.001;
  EXPECT_NE(broken(e), "");
}

TEST(ThreadFlag, is_there_only_when_a_thread_was_named) {
  EXPECT_FALSE(thread_flag({.id = {7, 1}, .comm = "x", .requested = 7}));
  EXPECT_FALSE(thread_flag({.id = {7, 1}, .comm = "x", .requested = 0}));
  EXPECT_EQ(thread_flag({.id = {7, 1}, .comm = "x", .requested = 9})->text, "9 is a thread: its process 7 is measured");
}

} // namespace
} // namespace hotset
