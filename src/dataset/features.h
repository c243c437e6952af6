// SPDX-License-Identifier: Apache-2.0
// Features: what a model sees of a window. One table; the training and the live path compute them with this same code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dataset/dataset.h"

namespace hotset {

inline constexpr std::size_t kHistoryWindows = 20;

// The windows of one target so far, the newest last; at most kHistoryWindows of them.
struct History {
  std::deque<Row> windows;
  std::uint64_t faults_total = 0;  // since the beginning
  std::uint64_t quiet_windows = 0; // windows since the last fault

  void push(const Row& row);
};

struct Feature {
  std::string_view name;
  std::string_view unit;
  bool from_faults; // a model without these knows nothing of page faults
  std::string_view meaning;
  double (*value)(const History&); // of the newest window; finite; the history is not empty
};

// None of them looks at label_bytes or truth_bytes, which a live target does not have.
std::span<const Feature> features();

// The features of a preset, by name: "paper" is dt_s and faults; "full" is the whole table. usage error otherwise.
Result<std::vector<const Feature*>> preset_features(std::string_view preset);

// The features of these names, in this order. bad_data when this program does not have one of them.
Result<std::vector<const Feature*>> named_features(std::span<const std::string> names);

// Identity of a choice of features: changes with any name, unit or their order.
std::string feature_hash(std::span<const Feature* const> chosen);

// The values for the newest window, in order.
std::vector<double> feature_values(std::span<const Feature* const> chosen, const History& history);

} // namespace hotset
