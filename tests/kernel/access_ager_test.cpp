// SPDX-License-Identifier: Apache-2.0
// Clearing on the target's own processor: there, done, and nothing of ours changed.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string_view>
#include <vector>

#include "access/ager.h"
#include "census_test.h"
#include "workload/process.h"

namespace hotset {
namespace {

constexpr std::uint64_t kPages = 16384;
constexpr std::uint64_t kHotPages = kPages / 64; // the first ones

constexpr std::string_view kNeverRuns = "so much else runs that the target never did while it was looked at";

// What must be as it was.
struct Standing {
  int policy = ::sched_getscheduler(0), nice = ::getpriority(PRIO_PROCESS, 0);
  cpu_set_t allowed{};
  Standing() { ::sched_getaffinity(0, sizeof(allowed), &allowed); }
  friend bool operator==(const Standing& a, const Standing& b) {
    return a.policy == b.policy && a.nice == b.nice && CPU_EQUAL(&a.allowed, &b.allowed);
  }
};

class AgerTest : public WithCensus {
 protected:
  void SetUp() override {
    WithCensus::SetUp();
    if (!census) return;
    if (::sysconf(_SC_NPROCESSORS_ONLN) < 2)
      GTEST_SKIP() << "one processor: the target never runs while it is looked at";
    if (!Beside().run(static_cast<unsigned>(::sched_getcpu()), [] {}))
      GTEST_SKIP() << "no real-time priority for us here";
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
      Result<Snapshot> snapshot = census->read(*subject);
      EXPECT_TRUE(snapshot);
      if (snapshot && snapshot->processor) return snapshot->processor;
      clock.sleep_until(clock.now() + std::chrono::milliseconds(5));
    }
    return std::nullopt;
  }

  // Short runs all over the pages that the workload has touched once and never touches again: of several turns. The
  // newest pages may not be on the kernel's lists yet.
  [[nodiscard]] std::vector<hotset::Run> cold_runs() const {
    std::vector<hotset::Run> runs;
    for (std::uint64_t page = 2 * kHotPages; page + 512 < kPages; page += 16)
      runs.push_back({.address = workload->ready().address + page * 4096, .pages = 4});
    return runs;
  }

  // Of the pages of these runs.
  std::uint64_t accessed(const std::vector<hotset::Run>& runs) {
    Result<Snapshot> snapshot = census->read(*subject);
    EXPECT_TRUE(snapshot);
    std::uint64_t count = 0;
    for (const hotset::Run& run : runs)
      for (std::uint64_t address = run.address; address < run.end(); address += 4096)
        for (const Region& region : snapshot->regions)
          count += address - region.address < kTableBytes &&
                   (region.accessed & region.own()).test(static_cast<unsigned>((address - region.address) / 4096));
    return count;
  }

  std::optional<WorkloadProcess> workload;
  std::optional<Census::Subject> subject;
};

TEST_F(AgerTest, works_where_the_target_runs_and_stays_where_it_was) {
  const std::optional<unsigned> where = processor();
  if (!where) GTEST_SKIP() << kNeverRuns;
  const Standing before;
  const pid_t caller = ::gettid();
  Beside beside;
  for (int again = 0; again < 3; ++again) {
    int there = -1, policy = -1;
    pid_t worker = 0;
    ASSERT_TRUE(beside.run(*where, [&] {
      there = ::sched_getcpu();
      policy = ::sched_getscheduler(0);
      worker = ::gettid();
    }));
    EXPECT_EQ(there, static_cast<int>(*where));
    EXPECT_EQ(policy, SCHED_FIFO);
    EXPECT_NE(worker, caller);
    EXPECT_TRUE(Standing() == before);
  }
}

TEST_F(AgerTest, clears_the_same_there_in_turns_with_the_target) {
  const std::vector<hotset::Run> runs = cold_runs();
  ASSERT_GE(accessed(runs), 4 * runs.size() - 8); // the kernel itself may age some
  const std::optional<unsigned> where = processor();
  if (!where) GTEST_SKIP() << kNeverRuns;
  const Standing before;
  // The price of an interrupt is not known at first; so many runs are worth it at any.
  Ager ager;
  const Nanoseconds began = clock.now();
  Result<ClearReport> report = ager.age(subject->pidfd(), runs, where);
  const Nanoseconds passed = clock.now() - began;
  ASSERT_TRUE(report) << to_sentence(report.error());
  EXPECT_TRUE(report->beside);
  EXPECT_EQ(report->runs, runs.size());
  EXPECT_EQ(report->refused, 0);
  EXPECT_EQ(accessed(runs), 0);
  // An emulated processor can be kept waiting by the host, and its kernel takes that for ours.
  if (!std::getenv("HOTSET_GUEST")) {
    EXPECT_GT(to_seconds(passed), 1.4 * to_seconds(report->took)) << "half of the time is the target's";
  }
  EXPECT_TRUE(Standing() == before);
}

TEST_F(AgerTest, a_long_run_among_the_short_ones_is_cleared_as_well) {
  const std::optional<unsigned> where = processor();
  if (!where) GTEST_SKIP() << kNeverRuns;
  std::vector<hotset::Run> runs = cold_runs();
  runs.resize(200);
  runs.insert(runs.begin() + 100, {.address = workload->ready().address + 8000 * 4096, .pages = 2 * kLongestThere});
  Ager ager;
  Result<ClearReport> report = ager.age(subject->pidfd(), runs, where);
  ASSERT_TRUE(report) << to_sentence(report.error());
  EXPECT_TRUE(report->beside);
  EXPECT_EQ(report->runs, 201);
  EXPECT_EQ(accessed(runs), 0);
}

TEST_F(AgerTest, refused_runs_are_counted_there_as_well) {
  const std::optional<unsigned> where = processor();
  if (!where) GTEST_SKIP() << kNeverRuns;
  std::vector<hotset::Run> runs = cold_runs();
  const std::size_t good = runs.size();
  for (std::uint64_t i = 0; i < 300; ++i) // where nothing is mapped: first, and among the others
    runs.insert(runs.begin() + (i < 200 ? 0 : static_cast<std::ptrdiff_t>(2 * i)),
                {.address = (i + 1) << 12, .pages = 1});
  Ager ager;
  Result<ClearReport> report = ager.age(subject->pidfd(), runs, where);
  ASSERT_TRUE(report) << to_sentence(report.error());
  EXPECT_TRUE(report->beside);
  EXPECT_EQ(report->runs, good);
  EXPECT_EQ(report->refused, 300);
}

TEST_F(AgerTest, keeps_to_the_processors_that_are_ours) {
  const std::optional<unsigned> where = processor();
  if (!where) GTEST_SKIP() << kNeverRuns;
  const Standing before;
  cpu_set_t others = before.allowed;
  CPU_CLR(*where, &others);
  if (CPU_COUNT(&others) == 0) GTEST_SKIP() << "this process may use one processor only";
  ASSERT_EQ(::sched_setaffinity(0, sizeof(others), &others), 0);
  Ager ager;
  Result<ClearReport> report = ager.age(subject->pidfd(), cold_runs(), where);
  ::sched_setaffinity(0, sizeof(before.allowed), &before.allowed);
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->beside);
  EXPECT_EQ(report->runs, cold_runs().size());
  EXPECT_EQ(ager.costs(where).per_run_us, ager.costs(std::nullopt).per_run_us)
      << "what is planned with is what is paid";
  EXPECT_FALSE(Beside().run(CPU_SETSIZE, [] { FAIL(); }));
}

TEST_F(AgerTest, a_target_of_real_time_priority_is_left_to_itself) {
  if (!processor()) GTEST_SKIP() << kNeverRuns;
  const sched_param priority{.sched_priority = 1};
  ASSERT_EQ(::sched_setscheduler(workload->pid(), SCHED_RR, &priority), 0);
  for (int looks = 0; looks < 20; ++looks) {
    Result<Snapshot> snapshot = census->read(*subject);
    ASSERT_TRUE(snapshot);
    EXPECT_FALSE(snapshot->processor);
  }
}

} // namespace
} // namespace hotset
