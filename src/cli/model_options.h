// SPDX-License-Identifier: Apache-2.0
// What the commands that learn and judge have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "model/regressor.h"
#include "present/progress.h"

namespace hotset {

// Shows each step on the terminal, and stops when an interrupt was requested.
OnStep shown_steps(Progress& progress);

// Windows ahead, as typed; usage error above kLargestHorizon.
Result<std::optional<std::size_t>> parse_horizon(const std::string& text);
Result<std::uint64_t> parse_seed(const std::string& text);

} // namespace hotset
