// SPDX-License-Identifier: Apache-2.0
#include "present/estimate_printer.h"

#include "present/estimate_csv.h"
#include "present/estimate_json.h"

namespace hotset {

// A file or a pipe gets every column; a terminal what fits.
EstimatePrinter::EstimatePrinter(Output& output, EstimateFormat format, bool faults)
    : output_(&output),
      format_(format),
      style_(Style::of(output.fd())),
      table_(style_, faults, terminal_columns(output.fd(), EstimateTable::kAllColumns)) {}

Result<> EstimatePrinter::begin(std::string_view title) {
  switch (format_) {
    case EstimateFormat::json:
      return {};
    case EstimateFormat::csv:
      return output_->line(estimate_csv_header());
    case EstimateFormat::table:
      HOTSET_CHECK(output_->line(style_.bold(title)));
      return output_->line(table_.header());
  }
  return {};
}

Result<> EstimatePrinter::print(const Estimate& estimate) {
  HOTSET_CHECK(check_invariants(estimate));
  switch (format_) {
    case EstimateFormat::json:
      return output_->line(estimate_json(estimate));
    case EstimateFormat::csv:
      return output_->line(estimate_csv_row(estimate));
    case EstimateFormat::table:
      return output_->line(table_.row(estimate));
  }
  return {};
}

Result<> EstimatePrinter::end() {
  if (format_ == EstimateFormat::table)
    for (const std::string& note : table_.notes())
      HOTSET_CHECK(output_->line(note));
  return output_->finish();
}

} // namespace hotset
