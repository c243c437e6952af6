// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

#include "base/fd.h"
#include "base/interrupt.h"

namespace hotset {
namespace {

using namespace std::chrono_literals;

TEST(UtcText, is_iso_8601_with_milliseconds) {
  EXPECT_EQ(utc_text(0ns), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(utc_text(std::chrono::seconds(1767323045) + 678ms + 999us), "2026-01-02T03:04:05.678Z");
}

TEST(FakeClock, moves_only_when_told) {
  FakeClock clock;
  Nanoseconds before = clock.now();
  EXPECT_TRUE(clock.sleep_until(before + 5s));
  EXPECT_EQ(clock.now() - before, 5s);
  EXPECT_TRUE(clock.sleep_until(before));
  EXPECT_EQ(clock.now() - before, 5s) << "time never goes back";
}

TEST(SystemClock, sleeps_at_least_until_the_deadline) {
  SystemClock clock;
  Nanoseconds deadline = clock.now() + 2ms;
  EXPECT_TRUE(clock.sleep_until(deadline));
  EXPECT_GE(clock.now(), deadline);
}

TEST(SystemClock, sleeps_no_longer_than_there_is_a_reader_of_what_is_printed) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  Fd read_end(ends[0]), write_end(ends[1]);
  SystemClock clock;
  const Nanoseconds before = clock.now();
  watch_reader(write_end.get());
  EXPECT_TRUE(clock.sleep_until(before + 1ms));
  EXPECT_FALSE(end_requested());
  read_end.reset();
  EXPECT_FALSE(clock.sleep_until(before + 30s));
  EXPECT_TRUE(end_requested());
  watch_reader(-1);
  EXPECT_LT(clock.now(), before + 20s);
  EXPECT_FALSE(end_requested());
}

TEST(Seconds, survive_the_round_trip) {
  EXPECT_EQ(from_seconds(to_seconds(1234567ns)), 1234567ns);
}

} // namespace
} // namespace hotset
