// SPDX-License-Identifier: Apache-2.0
// Prints a run of estimates in the format that was asked for, each as soon as it is there.
#pragma once

#include <string_view>

#include "estimate/record.h"
#include "present/estimate_text.h"
#include "present/output.h"

namespace hotset {

enum class EstimateFormat { table, csv, json };

// begin(), print() for each, end(). The output is borrowed. Errors: ErrorCode::output, and a broken invariant.
class EstimatePrinter {
 public:
  // `faults`: see EstimateTable.
  EstimatePrinter(Output& output, EstimateFormat format, bool faults);

  // `title` is for people only.
  Result<> begin(std::string_view title);
  Result<> print(const Estimate& estimate);
  // Below a table the reasons for doubt; says what the file system kept to itself until now.
  Result<> end();

 private:
  Output* output_;
  EstimateFormat format_;
  Style style_;
  EstimateTable table_;
};

} // namespace hotset
