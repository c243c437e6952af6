// SPDX-License-Identifier: Apache-2.0
#include "dataset/samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataset/quantile.h"
#include "dataset/scaler.h"
#include "synthetic.h"

namespace hotset {
namespace {

using ::testing::HasSubstr;

std::vector<const Feature*> paper() {
  return preset_features("paper").value();
}

TEST(Samples, of_the_present_tell_their_own_window_and_know_the_one_before) {
  const std::vector<Dataset> datasets = synthetic::many(synthetic::telling, 2, 10);
  const Samples samples = make_samples(datasets, paper(), 0).value();
  ASSERT_EQ(samples.size(), 18u);
  EXPECT_EQ(samples.datasets, 2u);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Sample& sample = samples.items[i];
    const std::vector<Row>& rows = datasets[sample.dataset].rows;
    EXPECT_EQ(sample.label_bytes, static_cast<double>(rows[sample.row].label_bytes));
    EXPECT_EQ(sample.last_label_bytes, static_cast<double>(rows[sample.row - 1].label_bytes));
    EXPECT_EQ(samples.features.row(i)[1], static_cast<double>(rows[sample.row].faults));
  }
}

TEST(Samples, of_the_future_never_cross_into_another_data_set) {
  const std::vector<Dataset> datasets = synthetic::many(synthetic::telling, 3, 10);
  for (std::size_t horizon : {std::size_t{1}, std::size_t{4}, std::size_t{9}}) {
    const Samples samples = make_samples(datasets, paper(), horizon).value();
    EXPECT_EQ(samples.size(), 3 * (10 - horizon));
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const Sample& sample = samples.items[i];
      const std::vector<Row>& rows = datasets[sample.dataset].rows;
      ASSERT_LT(sample.row + horizon, rows.size());
      EXPECT_EQ(sample.label_bytes, static_cast<double>(rows[sample.row + horizon].label_bytes));
      EXPECT_EQ(sample.last_label_bytes, static_cast<double>(rows[sample.row].label_bytes));
      EXPECT_EQ(samples.features.row(i)[1], static_cast<double>(rows[sample.row].faults));
    }
  }
  EXPECT_EQ(make_samples(datasets, paper(), 10).error().code, ErrorCode::bad_data);
}

TEST(Outliers, are_far_from_the_quartiles_of_their_own_data_set) {
  std::vector<Row> rows = synthetic::telling(1, 200).rows;
  rows[50].dt_s = 9;
  rows[60].faults = 1000000;
  rows[70].label_bytes = std::uint64_t{1} << 40;
  std::vector<bool> outliers = find_outliers(rows);
  for (std::size_t i = 0; i < rows.size(); ++i)
    EXPECT_EQ(outliers[i], i == 50 || i == 60 || i == 70) << i;
  EXPECT_TRUE(find_outliers({}).empty());
}

TEST(Outliers, of_a_column_that_hardly_changes_are_none) {
  std::vector<Row> rows(100);
  for (Row& row : rows)
    row.dt_s = 0.1;
  rows[99].faults = 5000; // the one burst of a quiet target is no error of measurement
  for (bool outlier : find_outliers(rows))
    EXPECT_FALSE(outlier);
}

TEST(Quantile, is_that_of_numpy) {
  const std::vector<double> values{1, 2, 4, 8};
  EXPECT_DOUBLE_EQ(quantile(values, 0), 1);
  EXPECT_DOUBLE_EQ(quantile(values, 0.5), 3);
  EXPECT_DOUBLE_EQ(quantile(values, 0.95), 7.4);
  EXPECT_DOUBLE_EQ(quantile(values, 1), 8);
}

TEST(Scaler, maps_the_training_rows_onto_the_unit_interval) {
  std::mt19937_64 random(3);
  Matrix matrix(3);
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < 100; ++i) {
    matrix.append(std::vector<double>{1e15 * synthetic::uniform(random), 42, synthetic::uniform(random) - 0.5});
    rows.push_back(i);
  }
  const MinMaxScaler scaler = MinMaxScaler::fit(matrix, rows);
  double least = 1, most = 0;
  for (std::size_t row : rows) {
    scaler.apply(matrix.row(row));
    for (double value : matrix.row(row)) {
      EXPECT_GE(value, 0);
      EXPECT_LE(value, 1);
    }
    EXPECT_EQ(matrix.row(row)[1], 0);
    least = std::min(least, matrix.row(row)[2]);
    most = std::max(most, matrix.row(row)[2]);
  }
  EXPECT_EQ(least, 0);
  EXPECT_EQ(most, 1);
  std::vector<double> beyond{2e15, 1e300, 3};
  scaler.apply(beyond);
  EXPECT_GT(beyond[0], 1);
  EXPECT_EQ(beyond[1], 0);
}

TEST(DataSetsTogether, are_each_given_once) {
  std::vector<Dataset> datasets{synthetic::telling(1, 20), synthetic::telling(2, 20), synthetic::telling(1, 5)};
  datasets[2].path = "copy.csv";
  Result<> checked = check_together(datasets, false);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, ErrorCode::usage);
  EXPECT_THAT(to_sentence(checked.error()), HasSubstr("telling-1.csv and copy.csv are one recording"));
}

TEST(DataSetsTogether, have_one_kind_of_label_and_unless_insisted_one_kind_of_fault) {
  std::vector<Dataset> datasets = synthetic::many(synthetic::telling, 2, 20);
  datasets[1].header.hook_semantics = "kernel-mode faults too";
  EXPECT_EQ(check_together(datasets, false).error().code, ErrorCode::bad_data);
  EXPECT_TRUE(check_together(datasets, true));
  datasets[1].header.label = "census";
  EXPECT_EQ(check_together(datasets, true).error().code, ErrorCode::bad_data);
}

} // namespace
} // namespace hotset
