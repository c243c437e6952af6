// SPDX-License-Identifier: Apache-2.0
#include "cli/model_options.h"

#include <fmt/format.h>

#include "base/interrupt.h"
#include "base/units.h"
#include "dataset/samples.h"

namespace hotset {

OnStep shown_steps(Progress& progress) {
  return [&progress](std::string_view what, std::size_t done, std::size_t total) {
    progress.show(fmt::format("{}: {} of {}", what, done, total));
    return !interrupt_requested();
  };
}

Result<std::optional<std::size_t>> parse_horizon(const std::string& text) {
  if (text.empty()) return std::optional<std::size_t>();
  const std::optional<std::uint64_t> windows = parse_u64(text);
  if (!windows || *windows > kLargestHorizon)
    return fail(ErrorCode::usage, "look ahead", fmt::format("'{}' windows", printable(text)),
                "it is not a number of windows", fmt::format("give a whole number from 0 to {}", kLargestHorizon));
  return windows;
}

Result<std::uint64_t> parse_seed(const std::string& text) {
  const std::optional<std::uint64_t> seed = parse_u64(text);
  if (!seed)
    return fail(ErrorCode::usage, "take the seed", fmt::format("'{}'", printable(text)), "it is not a whole number",
                "give one from 0 to 2^64 - 1");
  return *seed;
}

} // namespace hotset
