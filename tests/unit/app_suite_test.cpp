// SPDX-License-Identifier: Apache-2.0
#include "app/suite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace hotset {
namespace {

using testing::Contains;
using testing::HasSubstr;

TEST(PaperSuite, has_more_than_20_data_sets_of_more_than_1200_samples) {
  const Suite* paper = find_suite("paper").value();
  EXPECT_GT(suite_entries("hotset").size(), 20U);
  EXPECT_GT(paper->samples, 1200U);
}

TEST(PaperSuite, covers_every_published_size_reused_and_fresh) {
  std::vector<SuiteEntry> entries = suite_entries("hotset");
  for (int exponent = 7; exponent <= 22; ++exponent)
    for (std::string_view allocation : {"--reuse", "--fresh"})
      EXPECT_THAT(entries, Contains(testing::Field(
                               &SuiteEntry::command,
                               testing::AllOf(Contains("2^" + std::to_string(exponent)), Contains(allocation)))));
}

TEST(Suite, names_each_file_once) {
  std::set<std::string> names;
  for (const SuiteEntry& entry : suite_entries("hotset"))
    EXPECT_TRUE(names.insert(entry.file).second) << entry.file;
}

TEST(Suite, says_before_it_starts_how_long_its_windows_and_what_comes_on_top_take) {
  const Suite* paper = find_suite("paper").value();
  const Nanoseconds windows = paper->interval * suite_entries("hotset").size() * paper->samples;
  EXPECT_GT(usual_time(*paper), windows);
  EXPECT_LT(usual_time(*paper), windows * 5 / 4);
}

TEST(Suite, that_is_unknown_is_refused_with_the_names_there_are) {
  EXPECT_THAT(to_sentence(find_suite("x").error()), HasSubstr("paper"));
}

} // namespace
} // namespace hotset
