// SPDX-License-Identifier: Apache-2.0
// Runs a workload: maps the memory, touches its pages in order and on time, and publishes each touch.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/result.h"
#include "workload/pattern.h"

namespace hotset {

// What is true when the workload is ready: its record can be read, and the memory that the pattern has at its start is
// resident.
struct WorkloadReady {
  pid_t pid = 0;
  std::uint64_t pages = 0;     // of the region now
  std::uint64_t hot_pages = 0; // distinct pages of one hot set, of each child where there are children
  std::uint64_t address = 0;   // of the region's first page
  std::vector<pid_t> children; // each publishes its own record; the parent's stays empty
};

struct WorkloadSummary {
  std::uint64_t touches = 0; // of pages, children's included; filling the memory at the start not
  std::uint64_t passes = 0;  // times that as many touches were made as the hot set has pages
  double seconds = 0;        // since ready
};

struct WorkloadHooks {
  std::function<void(const WorkloadReady&)> ready;
  std::function<bool()> stop; // looked at every few hundred touches; true, for good, ends the workload
};

// Blocks until the time limit or `stop`. The spec is checked first (check_spec).
Result<WorkloadSummary> run_workload(const WorkloadSpec& spec, const Files& files, Clock& clock,
                                     const WorkloadHooks& hooks);

} // namespace hotset
