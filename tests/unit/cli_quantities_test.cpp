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

TEST(AtLeastOne, is_said_in_one_line_of_what_is_no_such_count) {
  CLI::Validator validator = at_least_one();
  for (std::string good : {"1", "17", "2^20"})
    EXPECT_EQ(validator(good), "");
  for (std::string bad : {"0", "-1", "1.5", "many", "99999999999999999999999"})
    EXPECT_EQ(validator(bad), "'" + bad + "' is not a whole number of at least 1");
}

} // namespace
} // namespace hotset
