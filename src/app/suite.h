// SPDX-License-Identifier: Apache-2.0
// Suites: collections of data sets that one command records, from the published array workload.
//
// The publication trains on a program that writes an int array of 2^7 … 2^22 elements, in more than 20 data sets of
// mostly more than 1,200 samples. It does not say whether the array is allocated once or anew for each pass, and the
// two are different worlds for a fault counter, so a suite records both.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace hotset {

struct Suite {
  std::string_view name;
  std::string_view purpose;
  std::uint64_t samples; // rows of each data set
  Nanoseconds interval;  // longest window
};

std::span<const Suite> suites();
Result<const Suite*> find_suite(std::string_view name);

// One data set of a suite.
struct SuiteEntry {
  std::string file;                 // "array-fresh-2^07.csv"
  std::string group;                // "array-fresh"
  std::vector<std::string> command; // of the workload, with `program` as argv[0]
};

std::vector<SuiteEntry> suite_entries(const std::string& program);

// About how long recording all of a suite takes: its windows, and what was measured to come on top, which is the label
// of each sample and the start of each workload. A slow machine takes longer.
Nanoseconds usual_time(const Suite& suite);

} // namespace hotset
