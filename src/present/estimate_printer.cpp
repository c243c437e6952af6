// SPDX-License-Identifier: Apache-2.0
#include "present/estimate_printer.h"

#include <utility>

#include "present/estimate_csv.h"
#include "present/estimate_json.h"

namespace hotset {

// A file or a pipe gets every column; a terminal what fits.
EstimatePrinter::EstimatePrinter(Output& output, EstimateFormat format, std::string title, bool faults)
    : output_(&output),
      format_(format),
      title_(std::move(title)),
      style_(Style::of(output.fd())),
      table_(style_, faults, terminal_columns(output.fd(), EstimateTable::kAllColumns)) {
  output.watch_reader();
}

std::string EstimatePrinter::heading() const {
  switch (format_) {
    case EstimateFormat::json:
      break;
    case EstimateFormat::csv:
      return estimate_csv_header() + "\n";
    case EstimateFormat::table:
      return style_.bold(title_) + "\n" + table_.header() + "\n";
  }
  return {};
}

std::string EstimatePrinter::row(const Estimate& estimate) {
  switch (format_) {
    case EstimateFormat::json:
      return estimate_json(estimate);
    case EstimateFormat::csv:
      return estimate_csv_row(estimate);
    case EstimateFormat::table:
      return table_.row(estimate);
  }
  return {};
}

Result<> EstimatePrinter::print(const Estimate& estimate) {
  HOTSET_CHECK(check_invariants(estimate));
  const std::string above = std::exchange(begun_, true) ? "" : heading();
  return output_->line(above + row(estimate));
}

Result<> EstimatePrinter::end() {
  if (format_ == EstimateFormat::table)
    for (const std::string& note : table_.notes())
      HOTSET_CHECK(output_->line(note));
  return output_->finish();
}

} // namespace hotset
