// SPDX-License-Identifier: Apache-2.0
// The tables of the code and the tables of the documentation say the same.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "dataset/dataset.h"
#include "dataset/features.h"
#include "model/evaluate.h"
#include "model/parameters.h"

namespace hotset {
namespace {

using ::testing::HasSubstr;

std::string document(const char* name) {
  return Files(HOTSET_SOURCE_DIR).read(name).value();
}

TEST(DatasetDocument, has_every_column_and_every_feature) {
  const std::string text = document("/docs/dataset.md");
  for (const DatasetColumn& column : dataset_columns())
    EXPECT_THAT(text, HasSubstr(fmt::format("| `{}` | {} | {}", column.name, column.unit, column.meaning)));
  for (const Feature& feature : features())
    EXPECT_THAT(text, HasSubstr(fmt::format("| `{}` | {} | {}", feature.name, feature.unit, feature.meaning)));
}

TEST(ModelDocument, has_every_parameter_setting_and_baseline) {
  const std::string text = document("/docs/model.md");
  const Parameters published;
  for (const Parameter& parameter : parameter_table())
    EXPECT_THAT(text, HasSubstr(fmt::format("| `{}` | {} | `{}` | {} – {}", parameter.name, published.*parameter.field,
                                            parameter.lightgbm, parameter.low, parameter.high)));
  for (Setting setting : {Setting::seen, Setting::unseen, Setting::by_row, Setting::left_out})
    EXPECT_THAT(text, HasSubstr(fmt::format("| `{}` |", setting_text(setting).name)));
  for (const Predictor& predictor : predictors().subspan(1))
    EXPECT_THAT(text, HasSubstr(fmt::format("| {} |", predictor.heading)));
}

TEST(SchemaDocument, has_every_error_and_every_method) {
  const std::string text = document("/docs/schemas.md");
  for (const ErrorMetric& metric : error_metrics())
    EXPECT_THAT(text, HasSubstr(fmt::format("`{}`", metric.name)));
  for (const Predictor& predictor : predictors())
    EXPECT_THAT(text, HasSubstr(fmt::format("`{}`", predictor.name)));
}

} // namespace
} // namespace hotset
