// SPDX-License-Identifier: Apache-2.0
#include "dataset/features.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/units.h"

namespace hotset {
namespace {

double value_of(std::string_view name, const History& history) {
  for (const Feature& feature : features())
    if (feature.name == name) return feature.value(history);
  ADD_FAILURE() << "no feature " << name;
  return 0;
}

Row window(double dt_s, std::uint64_t faults, std::uint64_t rss_bytes = 1 << 20) {
  Row row;
  row.dt_s = dt_s;
  row.faults = faults;
  row.rss_bytes = rss_bytes;
  return row;
}

TEST(Features, have_names_of_their_own) {
  std::set<std::string_view> names;
  for (const Feature& feature : features())
    EXPECT_TRUE(names.insert(feature.name).second) << feature.name;
}

TEST(Features, of_the_paper_are_the_published_pair) {
  Result<std::vector<const Feature*>> chosen = preset_features("paper");
  ASSERT_TRUE(chosen);
  ASSERT_EQ(chosen->size(), 2u);
  EXPECT_EQ((*chosen)[0]->name, "dt_s");
  EXPECT_EQ((*chosen)[1]->name, "faults");
  EXPECT_EQ(preset_features("papier").error().code, ErrorCode::usage);
}

TEST(Features, are_finite_whatever_the_window_holds) {
  for (const Row& row : {Row{}, window(0, 5, 0), window(1e-9, kLargestValue, 1), window(1e15, 0, kLargestValue)}) {
    History history;
    history.push(row);
    for (const Feature& feature : features())
      EXPECT_TRUE(std::isfinite(feature.value(history))) << feature.name;
  }
}

TEST(Features, do_not_look_at_the_answer) {
  History one, other;
  Row row = window(0.1, 7);
  one.push(row);
  row.label_bytes = 12345;
  row.truth_bytes = 777;
  other.push(row);
  for (const Feature& feature : features())
    EXPECT_EQ(feature.value(one), feature.value(other)) << feature.name;
}

TEST(Features, follow_the_last_windows) {
  History history;
  for (int i = 0; i < 30; ++i)
    history.push(window(0.5, i < 25 ? 10 : 0, 1000 + static_cast<std::uint64_t>(i)));
  EXPECT_EQ(history.windows.size(), kHistoryWindows);
  EXPECT_EQ(value_of("faults_total", history), 250);
  EXPECT_EQ(value_of("quiet_windows", history), 5);
  EXPECT_EQ(value_of("fault_rate", history), 0);
  EXPECT_EQ(value_of("fault_rate_5", history), 0);
  EXPECT_DOUBLE_EQ(value_of("fault_rate_20", history), 15 * 10 / (20 * 0.5));
  EXPECT_EQ(value_of("fault_rate_peak", history), 20);
  EXPECT_EQ(value_of("rss_change_bytes", history), 1);
  EXPECT_EQ(value_of("rss_change_20_bytes", history), 19);
}

TEST(FeatureHash, changes_with_the_order) {
  std::vector<const Feature*> chosen = preset_features("paper").value();
  const std::string hash = feature_hash(chosen);
  std::swap(chosen[0], chosen[1]);
  EXPECT_NE(feature_hash(chosen), hash);
}

TEST(NamedFeatures, refuses_what_this_program_does_not_have) {
  const std::vector<std::string> names{"dt_s", "mood"};
  Result<std::vector<const Feature*>> chosen = named_features(names);
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error().code, ErrorCode::bad_data);
}

} // namespace
} // namespace hotset
