// SPDX-License-Identifier: Apache-2.0
// How far predictions are from what was measured. One table of metrics; text and JSON derive from it.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace hotset {

// A prediction beside what it was about, in bytes; finite, not negative.
struct Outcome {
  double predicted = 0;
  double label = 0;
  double rss = 0;
};

// Of absolute errors.
struct Spread {
  double mean = 0, median = 0, p95 = 0;
};

struct Metrics {
  std::size_t n = 0;
  std::optional<Spread> bytes;
  std::optional<Spread> of_rss; // in relation to the resident memory of the same window; windows without any left out
  std::optional<Spread> of_wss; // in relation to the label; windows whose label is 0 left out
  std::size_t n_wss = 0;        // how many of_wss is about
  std::optional<double> r2;     // none when all labels are equal: there is no variance to explain
};

Metrics measure_errors(std::span<const Outcome> outcomes);

enum class Scale { mib, percent, plain };

struct ErrorMetric {
  std::string_view name;    // in JSON
  std::string_view over;    // heading of the columns it stands under: "MiB", "% of RSS"
  std::string_view heading; // its own
  Scale scale;              // of the text; JSON has bytes and shares
  std::optional<double> (*value)(const Metrics&);
};

std::span<const ErrorMetric> error_metrics();

} // namespace hotset
