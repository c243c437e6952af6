// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "workload/pattern.h"

namespace hotset {

// For tests: what these arguments of `hotset workload` ask for: the inverse of workload_arguments() without its first
// word.
Result<WorkloadSpec> parse_workload(std::vector<std::string> arguments);

} // namespace hotset
