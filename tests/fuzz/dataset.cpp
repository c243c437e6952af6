// SPDX-License-Identifier: Apache-2.0
// Data sets come from other people's disks. What is accepted keeps the promises of dataset.h, and written out again it
// is read as the same.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "dataset/dataset.h"
#include "require.h"

namespace {

std::string written(const hotset::Dataset& dataset) {
  std::string text = hotset::header_text(dataset.header);
  for (const hotset::Row& row : dataset.rows)
    text += hotset::row_text(row);
  return text;
}

void check_rows(const hotset::Dataset& dataset) {
  double time_s = -1;
  for (const hotset::Row& row : dataset.rows) {
    REQUIRE(std::isfinite(row.time_s) && row.time_s > time_s);
    REQUIRE(std::isfinite(row.dt_s) && row.dt_s > 0);
    REQUIRE(std::isfinite(row.cpu_s) && row.cpu_s >= 0);
    REQUIRE(row.faults <= hotset::kLargestValue && row.label_bytes <= hotset::kLargestValue);
    time_s = row.time_s;
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hotset;
  Result<Dataset> dataset = parse_dataset(std::string(data, data + size), "input");
  if (!dataset) {
    REQUIRE(dataset.error().code == ErrorCode::bad_data && !dataset.error().cause.empty());
    return 0;
  }
  check_rows(*dataset);
  const std::string text = written(*dataset);
  Result<Dataset> again = parse_dataset(text, "input");
  REQUIRE(again.has_value());
  REQUIRE(!again->truncated);
  REQUIRE(again->rows.size() == dataset->rows.size());
  REQUIRE(written(*again) == text);
  return 0;
}
