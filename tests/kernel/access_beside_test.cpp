// SPDX-License-Identifier: Apache-2.0
// Clearing on the target's own processor: there, done, and back with all that was ours.
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <optional>
#include <vector>

#include "access/beside.h"
#include "access/clear.h"
#include "census_test.h"
#include "workload/process.h"

namespace hotset {
namespace {

constexpr std::uint64_t kPages = 16384;
constexpr std::uint64_t kHotPages = kPages / 64; // the first ones

class BesideTest : public WithCensus {
 protected:
  void SetUp() override {
    WithCensus::SetUp();
    if (!census) return;
    if (::sysconf(_SC_NPROCESSORS_ONLN) < 2)
      GTEST_SKIP() << "one processor: the target never runs while it is looked at";
    WorkloadSpec spec = default_spec(**find_pattern("sequential"));
    spec.rss_bytes = kPages * 4096;
    spec.hot = 1.0 / 64;
    Result<WorkloadProcess> started = WorkloadProcess::start(spec);
    ASSERT_TRUE(started) << to_sentence(started.error());
    workload.emplace(*std::move(started));
    Result<Census::Subject> attached = census->attach({workload->pid(), 0});
    ASSERT_TRUE(attached) << to_sentence(attached.error());
    subject.emplace(*std::move(attached));
  }

  // Where the workload runs: it always does, but for moments.
  std::optional<unsigned> processor() {
    for (int looks = 0; looks < 1000; ++looks) {
      EXPECT_TRUE(census->read(*subject));
      if (census->processor()) return census->processor();
      clock.sleep_until(clock.now() + std::chrono::milliseconds(5));
    }
    return std::nullopt;
  }

  // Short runs all over the pages that the workload has touched once and never touches again.
  [[nodiscard]] std::vector<hotset::Run> cold_runs() const {
    std::vector<hotset::Run> runs;
    for (std::uint64_t page = 2 * kHotPages; page + 8 < kPages; page += 64)
      runs.push_back({.address = workload->ready().address + page * 4096, .pages = 4});
    return runs;
  }

  // Of the pages of these runs.
  std::uint64_t accessed(const std::vector<hotset::Run>& runs) {
    std::uint64_t count = 0;
    Result<Snapshot> snapshot = census->read(*subject);
    EXPECT_TRUE(snapshot);
    for (const Region& region : snapshot->regions)
      for (unsigned page = region.accessed.next(0); page < kTablePages; page = region.accessed.next(page + 1))
        for (const hotset::Run& run : runs) {
          const std::uint64_t address = region.address + page * std::uint64_t{4096};
          count += address >= run.address && address < run.end();
        }
    return count;
  }

  std::optional<WorkloadProcess> workload;
  std::optional<Census::Subject> subject;
};

struct Place {
  int policy = ::sched_getscheduler(0);
  cpu_set_t allowed{};
  Place() { ::sched_getaffinity(0, sizeof(allowed), &allowed); }
};

TEST_F(BesideTest, goes_where_the_target_runs_and_comes_back) {
  const std::optional<unsigned> where = processor();
  ASSERT_TRUE(where);
  const Place before;
  {
    const Beside beside = Beside::go(where, cold_runs());
    ASSERT_TRUE(beside.there());
    EXPECT_EQ(static_cast<unsigned>(::sched_getcpu()), *where);
    EXPECT_EQ(::sched_getscheduler(0), SCHED_FIFO);
  }
  const Place after;
  EXPECT_EQ(after.policy, before.policy);
  EXPECT_TRUE(CPU_EQUAL(&after.allowed, &before.allowed));
}

TEST_F(BesideTest, clears_the_same_and_lets_the_target_run) {
  const std::vector<hotset::Run> runs = cold_runs();
  ASSERT_EQ(accessed(runs), 4 * runs.size());
  const std::optional<unsigned> where = processor();
  ASSERT_TRUE(where);
  const Place before;
  Result<ClearReport> report = age_runs(subject->pidfd(), runs, where);
  ASSERT_TRUE(report) << to_sentence(report.error());
  EXPECT_EQ(report->runs, runs.size());
  EXPECT_EQ(report->refused, 0);
  EXPECT_EQ(accessed(runs), 0);
  EXPECT_EQ(::sched_getscheduler(0), before.policy);
  Result<WorkloadSummary> summary = workload->stop();
  ASSERT_TRUE(summary);
  EXPECT_GT(summary->touches, 0);
}

TEST_F(BesideTest, keeps_to_the_processors_that_are_ours) {
  const std::optional<unsigned> where = processor();
  ASSERT_TRUE(where);
  const Place before;
  cpu_set_t others = before.allowed;
  CPU_CLR(*where, &others);
  if (CPU_COUNT(&others) == 0) GTEST_SKIP() << "this process may use one processor only";
  ASSERT_EQ(::sched_setaffinity(0, sizeof(others), &others), 0);
  EXPECT_FALSE(Beside::go(where, cold_runs()).there());
  EXPECT_TRUE(age_runs(subject->pidfd(), cold_runs(), where));
  ::sched_setaffinity(0, sizeof(before.allowed), &before.allowed);
}

TEST_F(BesideTest, a_target_of_real_time_priority_is_left_to_itself) {
  ASSERT_TRUE(processor());
  const sched_param priority{.sched_priority = 1};
  ASSERT_EQ(::sched_setscheduler(workload->pid(), SCHED_RR, &priority), 0);
  for (int looks = 0; looks < 20; ++looks) {
    ASSERT_TRUE(census->read(*subject));
    EXPECT_FALSE(census->processor());
  }
}

} // namespace
} // namespace hotset
