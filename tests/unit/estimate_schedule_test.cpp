// SPDX-License-Identifier: Apache-2.0
#include "estimate/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hotset {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

// A clock that can be interrupted at a given time.
class TestClock final : public Clock {
 public:
  Nanoseconds now() override { return now_; }
  Nanoseconds wall() override { return now_; }
  bool sleep_until(Nanoseconds deadline) override {
    now_ = std::max(now_, std::min(deadline, interrupt_at));
    return now_ < interrupt_at;
  }
  void advance(Nanoseconds by) { now_ += by; }

  Nanoseconds interrupt_at = Nanoseconds::max();

 private:
  Nanoseconds now_{};
};

// A meter that notes when windows begin and how long they are when they are read.
class NotingMeter final : public Meter {
 public:
  explicit NotingMeter(TestClock& clock) : clock_(clock) {}

  Result<> begin() override {
    begins.push_back(clock_.now());
    clock_.advance(cost);
    start_ = clock_.now();
    return {};
  }
  Result<Estimate> read() override {
    if (clock_.now() >= gone_at) return fail(ErrorCode::gone, "read", "x", "the process has ended");
    reads.push_back(clock_.now());
    Estimate estimate;
    estimate.effective_s = to_seconds(clock_.now() - start_);
    clock_.advance(cost);
    return estimate;
  }

  Nanoseconds cost{};
  Nanoseconds gone_at = Nanoseconds::max();
  std::vector<Nanoseconds> begins, reads;

 private:
  TestClock& clock_;
  Nanoseconds start_{};
};

struct ScheduleTest : ::testing::Test {
  Outcome run(const Schedule& schedule) {
    Watcher watcher{.target_alive = [&] { return clock.now() < meter.gone_at; },
                    .waiting = [&](const Wait&) { ++waits; },
                    .reading = [&](const Estimate& estimate) -> Result<bool> {
                      estimates.push_back(estimate);
                      return estimates.size() < most;
                    }};
    return run_schedule(schedule, meter, clock, watcher).value();
  }
  std::vector<double> requested() {
    std::vector<double> all;
    for (const Estimate& estimate : estimates)
      all.push_back(estimate.requested_s.value_or(-1));
    return all;
  }

  TestClock clock;
  NotingMeter meter{clock};
  std::vector<Estimate> estimates;
  std::size_t most = 1000;
  int waits = 0;
};

TEST_F(ScheduleTest, repeat_gives_each_reading_a_window_of_its_own) {
  Outcome outcome = run({.mode = Mode::repeat, .window = 1s, .interval = {}, .count = 3, .duration = {}});
  EXPECT_EQ(outcome.ending, Ending::complete);
  EXPECT_EQ(outcome.readings, 3u);
  EXPECT_THAT(meter.begins, ElementsAre(0s, 1s, 2s));
  EXPECT_THAT(meter.reads, ElementsAre(1s, 2s, 3s));
  EXPECT_THAT(requested(), ElementsAre(1, 1, 1));
}

TEST_F(ScheduleTest, interval_counts_from_start_to_start) {
  meter.cost = 10ms;
  run({.mode = Mode::repeat, .window = 1s, .interval = 5s, .count = 3, .duration = {}});
  ASSERT_EQ(meter.begins.size(), 3u);
  EXPECT_NEAR(to_seconds(meter.begins[2] - meter.begins[1]), 5, 0.05);
  EXPECT_NEAR(to_seconds(meter.reads[2] - meter.begins[2]), 1, 0.05);
}

TEST_F(ScheduleTest, cumulative_begins_once_and_reads_a_growing_window) {
  run({.mode = Mode::cumulative, .window = 1s, .interval = {}, .count = 3, .duration = {}});
  EXPECT_THAT(meter.begins, ElementsAre(0s));
  EXPECT_THAT(meter.reads, ElementsAre(1s, 2s, 3s));
  EXPECT_THAT(requested(), ElementsAre(1, 2, 3));
}

TEST_F(ScheduleTest, profile_doubles_its_window) {
  run({.mode = Mode::profile, .window = 100ms, .interval = {}, .count = 4, .duration = {}});
  EXPECT_THAT(meter.begins, ElementsAre(0s));
  EXPECT_THAT(meter.reads, ElementsAre(100ms, 200ms, 400ms, 800ms));
  EXPECT_THAT(requested(), ElementsAre(0.1, 0.2, 0.4, 0.8));
}

TEST_F(ScheduleTest, snapshot_never_begins_a_window) {
  run({.mode = Mode::snapshot, .window = 1s, .interval = 2s, .count = 3, .duration = {}});
  EXPECT_TRUE(meter.begins.empty());
  EXPECT_THAT(meter.reads, ElementsAre(0s, 2s, 4s));
  EXPECT_THAT(requested(), ElementsAre(-1, -1, -1));
}

TEST_F(ScheduleTest, duration_ends_every_mode) {
  for (Mode mode : {Mode::repeat, Mode::cumulative, Mode::snapshot}) {
    meter.reads.clear();
    Outcome outcome = run({.mode = mode, .window = 1s, .interval = {}, .count = {}, .duration = 10s});
    EXPECT_EQ(outcome.ending, Ending::complete);
    EXPECT_GE(meter.reads.size(), 10u);
    EXPECT_LE(meter.reads.size(), 11u) << "a snapshot is taken at both ends";
  }
}

TEST_F(ScheduleTest, what_measuring_costs_does_not_take_a_reading_away_from_the_duration) {
  meter.cost = 20ms;
  Outcome outcome = run({.mode = Mode::repeat, .window = 1s, .interval = {}, .count = {}, .duration = 10s});
  EXPECT_EQ(outcome.readings, 10u);
}

TEST_F(ScheduleTest, interrupt_reads_what_there_is_and_says_so) {
  clock.interrupt_at = 2500ms;
  Outcome outcome = run({.mode = Mode::repeat, .window = 1s, .interval = {}, .count = {}, .duration = {}});
  EXPECT_EQ(outcome.ending, Ending::interrupted);
  EXPECT_THAT(meter.reads, ElementsAre(1s, 2s, 2500ms));
  EXPECT_FALSE(has_flag(estimates[1], "interrupted"));
  EXPECT_TRUE(has_flag(estimates[2], "interrupted"));
  EXPECT_DOUBLE_EQ(*estimates[2].effective_s, 0.5);
}

TEST_F(ScheduleTest, interrupt_in_a_pause_reads_nothing) {
  clock.interrupt_at = 3s;
  Outcome outcome = run({.mode = Mode::repeat, .window = 1s, .interval = 10s, .count = {}, .duration = {}});
  EXPECT_EQ(outcome.ending, Ending::interrupted);
  EXPECT_EQ(outcome.readings, 1u);
}

TEST_F(ScheduleTest, end_of_the_target_is_noticed_in_the_middle_of_a_long_window) {
  meter.gone_at = 3s;
  Outcome outcome = run({.mode = Mode::repeat, .window = 1h, .interval = {}, .count = {}, .duration = {}});
  EXPECT_EQ(outcome.ending, Ending::target_gone);
  EXPECT_EQ(outcome.readings, 0u);
  EXPECT_LE(clock.now(), 4s);
}

TEST_F(ScheduleTest, end_of_the_target_at_the_reading_is_the_same_ending) {
  meter.gone_at = 200ms;
  Outcome outcome = run({.mode = Mode::repeat, .window = 100ms, .interval = {}, .count = {}, .duration = {}});
  EXPECT_EQ(outcome.ending, Ending::target_gone);
  EXPECT_EQ(outcome.readings, 1u);
}

TEST_F(ScheduleTest, window_that_measuring_stretched_is_flagged) {
  meter.cost = 60ms;
  run({.mode = Mode::cumulative, .window = 50ms, .interval = {}, .count = 2, .duration = {}});
  EXPECT_FALSE(has_flag(estimates[0], "window_stretched"));
  meter.cost = 300ms;
  estimates.clear();
  run({.mode = Mode::cumulative, .window = 50ms, .interval = {}, .count = 2, .duration = {}});
  EXPECT_TRUE(has_flag(estimates[1], "window_stretched"));
}

TEST_F(ScheduleTest, reader_that_wants_no_more_ends_it) {
  most = 2;
  Outcome outcome = run({.mode = Mode::repeat, .window = 1s, .interval = {}, .count = {}, .duration = {}});
  EXPECT_EQ(outcome.ending, Ending::stopped);
  EXPECT_EQ(outcome.readings, 2u);
}

TEST_F(ScheduleTest, progress_is_told_while_waiting) {
  run({.mode = Mode::repeat, .window = 10s, .interval = {}, .count = 1, .duration = {}});
  EXPECT_GE(waits, 10);
}

TEST(Schedule, that_does_not_fit_together_is_a_usage_error) {
  auto code = [](Schedule schedule) { return check_schedule(schedule).error().code; };
  EXPECT_EQ(code({.mode = Mode::repeat, .window = 1s, .interval = {}, .count = 0, .duration = {}}), ErrorCode::usage);
  EXPECT_EQ(code({.mode = Mode::repeat, .window = 1s, .interval = 10ms, .count = {}, .duration = {}}),
            ErrorCode::usage);
  EXPECT_EQ(code({.mode = Mode::cumulative, .window = 1s, .interval = 1s, .count = {}, .duration = {}}),
            ErrorCode::usage);
  EXPECT_EQ(code({.mode = Mode::profile, .window = 1s, .interval = {}, .count = {}, .duration = {}}), ErrorCode::usage);
  EXPECT_EQ(code({.mode = Mode::profile, .window = 1s, .interval = {}, .count = 40, .duration = {}}), ErrorCode::usage);
  EXPECT_EQ(code({.mode = Mode::profile, .window = 1s, .interval = {}, .count = 1u << 31, .duration = {}}),
            ErrorCode::usage);
  EXPECT_TRUE(check_schedule({.mode = Mode::profile, .window = 1ms, .interval = {}, .count = 20, .duration = {}}));
}

} // namespace
} // namespace hotset
