// SPDX-License-Identifier: Apache-2.0
// Quantities that several commands take, each read in one way.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace hotset {

// Of an option that is a count: refuses 0 and what is no whole number ("12", "2^20").
CLI::Validator at_least_one();

// The length of a window that is measured: a duration of at most a day. Usage error when it is more.
Result<Nanoseconds> parse_window(std::string_view text);

// How often something is done, from a millisecond to a day: a shorter one floods, a longer one is a mistake. Usage
// error otherwise.
Result<Nanoseconds> parse_interval(std::string_view text);

// How far to look back in a window, in whole seconds, a part of one counting as one, which is said. Five minutes are
// taken for all that a window knows: the seconds that are over, and the running one. Usage error when it is more.
Result<std::uint64_t> parse_look_back(std::string_view text);

} // namespace hotset
