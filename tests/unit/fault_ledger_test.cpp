// SPDX-License-Identifier: Apache-2.0
#include "fault/ledger.h"

#include <gtest/gtest.h>

namespace hotset {
namespace {

using std::chrono::nanoseconds;

fault_sample sample(std::uint32_t pid, std::uint64_t start, std::uint64_t time, std::uint64_t total) {
  return {.process = {start, pid, 0}, .time_ns = time, .since_ns = 100, .total = total, .comm = "cat"};
}

TEST(SampleLedger, gives_the_faults_since_the_sample_before) {
  SampleLedger ledger(1);
  FaultSample first = ledger.store(sample(7, 1, 200, 10)).value();
  EXPECT_EQ(first.faults, 10U);
  EXPECT_EQ(first.begin, nanoseconds(100)) << "the first one counts from the start";
  EXPECT_EQ(first.comm, "cat");
  FaultSample second = ledger.store(sample(7, 1, 300, 25)).value();
  EXPECT_EQ(second.faults, 15U);
  EXPECT_EQ(second.begin, nanoseconds(200));
  EXPECT_EQ(second.time, nanoseconds(300));
  EXPECT_EQ(second.total, 25U);
}

TEST(SampleLedger, a_lost_sample_comes_with_the_next) {
  SampleLedger ledger(1);
  ASSERT_TRUE(ledger.store(sample(7, 1, 200, 10)));
  // The sample at 300 with total 25 was dropped on the way.
  FaultSample next = ledger.store(sample(7, 1, 400, 40)).value();
  EXPECT_EQ(next.faults, 30U);
  EXPECT_EQ(next.begin, nanoseconds(200));
}

TEST(SampleLedger, a_sample_below_min_value_is_counted_and_its_faults_come_with_the_next) {
  SampleLedger ledger(5);
  EXPECT_FALSE(ledger.store(sample(7, 1, 200, 4)));
  EXPECT_EQ(ledger.below_min_value(), 1U);
  FaultSample next = ledger.store(sample(7, 1, 300, 6)).value();
  EXPECT_EQ(next.faults, 6U);
  EXPECT_EQ(next.begin, nanoseconds(100));
}

TEST(SampleLedger, a_sample_that_was_overtaken_is_not_counted_twice) {
  SampleLedger ledger(1);
  ASSERT_TRUE(ledger.store(sample(7, 1, 300, 25)));
  EXPECT_FALSE(ledger.store(sample(7, 1, 200, 10)));
  EXPECT_FALSE(ledger.store(sample(7, 1, 300, 25)));
  EXPECT_EQ(ledger.below_min_value(), 0U);
}

TEST(SampleLedger, a_pid_that_is_used_again_starts_anew) {
  SampleLedger ledger(1);
  ASSERT_TRUE(ledger.store(sample(7, 1, 200, 1000)));
  EXPECT_EQ(ledger.store(sample(7, 2, 300, 3)).value().faults, 3U);
  EXPECT_EQ(ledger.processes(), 2U);
}

TEST(SampleLedger, forgets_a_process_that_ended) {
  SampleLedger ledger(1);
  ASSERT_TRUE(ledger.store(sample(7, 1, 200, 10)));
  ledger.forget({.pid = 7, .start_ticks = 1});
  EXPECT_EQ(ledger.processes(), 0U);
}

TEST(SampleLedger, takes_a_name_that_fills_all_sixteen_bytes) {
  fault_sample full = sample(7, 1, 200, 10);
  std::fill_n(full.comm, sizeof(full.comm), 'x');
  EXPECT_EQ(SampleLedger(1).store(full).value().comm, std::string(16, 'x'));
}

} // namespace
} // namespace hotset
