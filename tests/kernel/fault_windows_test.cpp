// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <thread>

#include "fault/target_faults.h"
#include "fault/window.h"
#include "fault_target.h"

namespace hotset {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr FaultLoad kLoad{.threads = 2, .waves = 1, .faults = 100'000, .seconds = 1};

TEST(TargetFaults, windows_add_up_to_what_the_kernel_counted) {
  FaultTarget target = FaultTarget::start(kLoad);
  TargetFaults faults = TargetFaults::start(target.id(), {}).value();
  std::uint64_t before = target.stat_faults();
  std::thread runner([&] { target.run(); });
  SystemClock clock;
  std::uint64_t sum = 0, by_sample = 0;
  Nanoseconds end = faults.begin();
  for (int i = 0; i < 10; ++i) {
    if (i == 5) runner.join();
    TargetWindow window = faults.next_window(clock.now() + milliseconds(100), clock.now() + milliseconds(10)).value();
    EXPECT_EQ(window.begin, end);
    EXPECT_GT(window.end, window.begin);
    EXPECT_LE(window.peak_faults, window.faults);
    by_sample += window.ended_by == WindowEnd::sample ? 1 : 0;
    end = window.end;
    sum += window.faults;
  }
  EXPECT_GT(by_sample, 0U);
  std::uint64_t stat = target.stat_faults() - before;
  EXPECT_GE(sum + 200, stat);
  EXPECT_LE(sum, stat + stat / 100 + 200);
}

TEST(TargetFaults, a_quiet_process_has_windows_of_zero_faults_that_end_at_the_deadline) {
  FaultTarget target = FaultTarget::start(kLoad);
  TargetFaults faults = TargetFaults::start(target.id(), {}).value();
  SystemClock clock;
  Nanoseconds deadline = clock.now() + milliseconds(50);
  TargetWindow window = faults.next_window(deadline, clock.now()).value();
  EXPECT_EQ(window.ended_by, WindowEnd::deadline);
  EXPECT_GE(window.end, deadline);
  EXPECT_EQ(window.faults, 0U);
  EXPECT_EQ(window.emissions, 0U);
}

TEST(FaultWindow, counts_each_process_of_a_name_within_the_window_ended_ones_included) {
  FaultTarget lives = FaultTarget::start(kLoad, "window-test"), ends = FaultTarget::start(kLoad, "window-test");
  FaultOptions options;
  options.filter = {.kind = FaultFilter::Kind::comm, .process = {}, .comm = "window-test"};
  SystemClock clock;
  FaultWindow faults = FaultWindow::start(options, clock).value();
  ProcessId ended = ends.id();
  lives.run();
  ends.run();
  ends.end();
  FaultWindowCounts first = faults.next(clock.now()).value();
  ASSERT_EQ(first.processes.size(), 2U);
  for (const ProcessFaults& process : first.processes) {
    EXPECT_EQ(process.comm, "window-test");
    EXPECT_GT(process.faults, 100U);
    EXPECT_TRUE(process.process == ended || process.process == lives.id());
  }
  FaultWindowCounts quiet = faults.next(clock.now()).value();
  EXPECT_TRUE(quiet.processes.empty());
  EXPECT_EQ(quiet.begin, first.end);
  lives.run();
  EXPECT_EQ(faults.next(clock.now())->processes.size(), 1U);
}

} // namespace
} // namespace hotset
