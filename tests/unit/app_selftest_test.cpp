// SPDX-License-Identifier: Apache-2.0
#include "app/selftest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hotset {
namespace {

using testing::ElementsAre;
using testing::EndsWith;

SelftestResult result_of(bool huge) {
  SelftestResult result{
      .cell = {.pattern = "sequential", .rss_bytes = 1 << 24, .hot = 0.1, .huge = huge}, .method = "exact", .why = ""};
  result.covered = result.windows = 5;
  return result;
}

TEST(SelftestSummary, says_how_many_windows_it_leaves_out) {
  SelftestSummary summary;
  for (bool huge : {false, true, false})
    summary.add(result_of(huge));
  EXPECT_THAT(
      summary.lines(),
      ElementsAre(EndsWith("within in 10 of 10 windows; 5 more of huge pages are left out, which count whole")));
}

TEST(SelftestSummary, says_nothing_of_huge_pages_where_none_were_measured) {
  SelftestSummary summary;
  summary.add(result_of(false));
  EXPECT_THAT(summary.lines(), ElementsAre(EndsWith("within in 5 of 5 windows")));
}

} // namespace
} // namespace hotset
