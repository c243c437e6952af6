// SPDX-License-Identifier: Apache-2.0
// Prints a run of estimates in the format that was asked for, each as soon as it is there.
#pragma once

#include <string>

#include "estimate/record.h"
#include "present/estimate_text.h"
#include "present/output.h"

namespace hotset {

enum class EstimateFormat { table, csv, json };

// print() for each, end(). The output is borrowed. Errors: ErrorCode::output, and a broken invariant.
class EstimatePrinter {
 public:
  // `title` is for people only; `faults`: see EstimateTable.
  EstimatePrinter(Output& output, EstimateFormat format, std::string title, bool faults);

  // What stands above the first one comes with it, so that a run without any prints nothing.
  Result<> print(const Estimate& estimate);
  // Below a table the reasons for doubt; says what the file system kept to itself until now.
  Result<> end();

 private:
  [[nodiscard]] std::string heading() const;
  [[nodiscard]] std::string row(const Estimate& estimate);

  Output* output_;
  EstimateFormat format_;
  std::string title_;
  bool begun_ = false;
  Style style_;
  EstimateTable table_;
};

} // namespace hotset
