// SPDX-License-Identifier: Apache-2.0
// Known answers on this machine: workloads that record which pages they touch, measured by the methods that work here.
//
// The workload's own record is the truth, never another measurement: the reference method is one of those on trial.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "estimate/meter.h"

namespace hotset {

// One combination of the matrix.
struct SelftestCell {
  std::string_view pattern;
  std::uint64_t rss_bytes = 0;
  double hot = 0; // share of the pages that is touched
  bool scattered = false, shared = false, huge = false;
};

// The whole matrix, or the part of it that is done in a minute.
std::vector<SelftestCell> selftest_cells(bool full);

enum class Verdict { pass, fail, unjudged, skipped };

struct SelftestResult {
  SelftestCell cell;
  std::string_view method;
  double budget = 0; // share of one processor that clearing might take
  Verdict verdict = Verdict::skipped;
  std::string why;               // of fail, unjudged and skipped
  std::uint64_t truth_pages = 0; // of the last window
  double error_of_rss = 0;       // median over the windows of |estimate - truth|, as a share of the RSS
  double error_of_wss = 0;       // the same distance as a share of what was touched
  double width_of_rss = 0;       // median width of the interval
  int covered = 0, windows = 0;  // windows whose interval held the truth
  double cpu_ms = 0;             // median
};

// Runs the cell's workload in a child process and measures it. An error is one of the workload or of the program; a
// method that does not work here is a result (skipped).
Result<SelftestResult> run_selftest_cell(const SelftestCell& cell, const Method& method, Clock& clock);

// Each method over all its cells of 4 KiB pages: how far off it was, and how often its interval held the truth. Of
// cells of huge pages it only says how many windows it leaves out.
class SelftestSummary {
 public:
  void add(const SelftestResult& result);
  // One a method, as text.
  [[nodiscard]] std::vector<std::string> lines() const;

 private:
  struct Tally {
    std::string_view method;
    std::vector<double> of_rss, of_wss; // medians of cells; of_wss: of those of 1 % hot
    int covered = 0, windows = 0;
    int huge_windows = 0; // in none of the others
  };
  std::vector<Tally> tallies_;
};

} // namespace hotset
