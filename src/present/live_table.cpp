// SPDX-License-Identifier: Apache-2.0
#include "present/live_table.h"

#include <fmt/format.h>

#include <cmath>

#include "base/units.h"

namespace hotset {
namespace {

constexpr std::size_t kFaultColumns = 10;
constexpr std::size_t kVerifyColumns = 31; // measured, error, the workload's own record

std::size_t extra_columns(bool verified) {
  return kFaultColumns + (verified ? kVerifyColumns : 0);
}

double error_bytes(const Estimate& estimate) {
  return static_cast<double>(estimate.wss->bytes) - static_cast<double>(estimate.verify->bytes);
}

std::string relative_error(const Estimate& estimate) {
  if (estimate.verify->bytes == 0) return "?";
  return fmt::format("{:+.0f} %", 100 * error_bytes(estimate) / static_cast<double>(estimate.verify->bytes));
}

} // namespace

LiveTable::LiveTable(Style style, bool verified, std::size_t width)
    : verified_(verified),
      table_(style, /*faults=*/false, width > extra_columns(verified) ? width - extra_columns(verified) : 0) {}

std::string LiveTable::header() const {
  std::string line = table_.header() + fmt::format("{:>{}}", "FAULTS", kFaultColumns);
  if (verified_) line += fmt::format("{:>11}{:>9}{:>11}", "MEASURED", "ERROR", "TRUTH");
  return line;
}

std::string LiveTable::row(const Estimate& estimate) {
  ++rows_;
  std::string line = table_.row(estimate) + fmt::format("{:>{}}", estimate.faults->count, kFaultColumns);
  if (!estimate.verify) return line;
  error_sum_bytes_ += std::abs(error_bytes(estimate));
  const std::optional<std::uint64_t>& truth = estimate.verify->truth_bytes;
  return line + fmt::format("{:>11}{:>9}{:>11}", human_bytes(estimate.verify->bytes), relative_error(estimate),
                            truth ? human_bytes(*truth) : "?");
}

std::vector<std::string> LiveTable::notes() const {
  std::vector<std::string> lines = table_.notes();
  if (verified_ && rows_ > 0)
    lines.push_back(fmt::format("mean error: {} over {}",
                                human_bytes(static_cast<std::uint64_t>(error_sum_bytes_ / static_cast<double>(rows_))),
                                counted(rows_, "estimate")));
  return lines;
}

} // namespace hotset
