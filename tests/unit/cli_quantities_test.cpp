// SPDX-License-Identifier: Apache-2.0
#include "cli/quantities.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hotset {
namespace {

TEST(LookBack, is_in_whole_seconds_and_five_minutes_are_all_that_there_is) {
  EXPECT_EQ(parse_look_back("1s").value(), 1U);
  EXPECT_EQ(parse_look_back("1ms").value(), 1U);
  EXPECT_EQ(parse_look_back("1.5s").value(), 2U);
  EXPECT_EQ(parse_look_back("299s").value(), 299U);
  EXPECT_EQ(parse_look_back("5m").value(), 299U);
  EXPECT_EQ(parse_look_back("300.5s").error().code, ErrorCode::usage);
  EXPECT_EQ(parse_look_back("0s").error().code, ErrorCode::usage);
  EXPECT_THAT(to_sentence(parse_look_back("6m").error()), testing::HasSubstr("5m at the most"));
}

TEST(LookBack, of_a_part_of_a_second_says_what_is_taken) {
  testing::internal::CaptureStdout(); // where the log goes when nobody has set it up
  EXPECT_EQ(parse_look_back("0.4s").value(), 1U);
  EXPECT_EQ(parse_look_back("1.5s").value(), 2U);
  EXPECT_EQ(parse_look_back("2s").value(), 2U);
  const std::string said = testing::internal::GetCapturedStdout();
  EXPECT_THAT(said, testing::HasSubstr("--last 0.4s is taken as 1 second:"));
  EXPECT_THAT(said, testing::HasSubstr("--last 1.5s is taken as 2 seconds:"));
  EXPECT_THAT(said, testing::Not(testing::HasSubstr("--last 2s")));
}

TEST(MeasuredWindow, is_a_day_at_most) {
  EXPECT_EQ(parse_window("24h").value(), std::chrono::hours(24));
  EXPECT_EQ(parse_window("24.1h").error().code, ErrorCode::usage);
  EXPECT_EQ(parse_window("0").error().code, ErrorCode::usage);
}

TEST(Interval, is_from_a_millisecond_to_a_day) {
  EXPECT_EQ(parse_interval("1ms").value(), std::chrono::milliseconds(1));
  EXPECT_EQ(parse_interval("24h").value(), std::chrono::hours(24));
  for (const char* text : {"1ns", "999us", "24.1h", "0", "soon"})
    EXPECT_EQ(parse_interval(text).error().code, ErrorCode::usage) << text;
}

TEST(AtLeastOne, is_said_in_one_line_of_what_is_no_such_count) {
  CLI::Validator validator = at_least_one();
  for (std::string good : {"1", "17", "2^20"})
    EXPECT_EQ(validator(good), "");
  for (std::string bad : {"0", "-1", "1.5", "many", "99999999999999999999999"})
    EXPECT_EQ(validator(bad), "'" + bad + "' is not a whole number of at least 1");
}

} // namespace
} // namespace hotset
