// SPDX-License-Identifier: Apache-2.0
// Live estimates from page faults as a table: the columns of any estimate, and behind them the faults that it was made
// from and, when it was verified, what was measured of the same window, how far off that is, and the target's own
// record (workloads write down what they touch; of other targets the truth is not known).
#pragma once

#include <string>
#include <vector>

#include "present/estimate_text.h"

namespace hotset {

class LiveTable {
 public:
  LiveTable(Style style, bool verified, std::size_t width);

  [[nodiscard]] std::string header() const;
  std::string row(const Estimate& estimate);
  // Reasons for doubt about the rows so far, and the mean error when they were verified.
  [[nodiscard]] std::vector<std::string> notes() const;

 private:
  bool verified_;
  EstimateTable table_;
  std::uint64_t rows_ = 0;
  double error_sum_bytes_ = 0;
};

} // namespace hotset
