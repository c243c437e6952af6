// SPDX-License-Identifier: Apache-2.0
// The estimate record as one line of JSON: schema hotset.estimate/1, described in docs/schemas.md.
#pragma once

#include <string>

#include "estimate/record.h"

namespace hotset {

inline constexpr std::string_view kEstimateSchema = "hotset.estimate/1";

// One object, without a line feed. The estimate fulfils check_invariants().
std::string estimate_json(const Estimate& estimate);

} // namespace hotset
