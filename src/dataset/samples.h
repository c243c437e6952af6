// SPDX-License-Identifier: Apache-2.0
// Samples: what data sets become for learning. One sample is a window's features and the working set to be told from
// them: that of the same window, or that of a window `horizon` windows later in the same data set.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "dataset/dataset.h"
#include "dataset/features.h"
#include "dataset/matrix.h"

namespace hotset {

// What is known about a sample beside its features.
struct Sample {
  std::size_t dataset = 0;     // index of its data set
  std::size_t row = 0;         // of the window whose features it has
  double time_s = 0;           // of the window that is to be told
  double label_bytes = 0;      // the working set of that window
  double rss_bytes = 0;        // resident when the features were taken
  double last_label_bytes = 0; // the last working set that was measured before the one to be told could be
  std::optional<double> truth_bytes;
};

struct Samples {
  Matrix features;           // one row per sample
  std::vector<Sample> items; // the same order
  std::vector<bool> outlier; // of find_outliers, per sample
  std::size_t horizon = 0;
  std::size_t datasets = 0;

  [[nodiscard]] std::size_t size() const { return items.size(); }
};

// Windows ahead, at most; beyond it nothing of a recording would be left.
inline constexpr std::size_t kLargestHorizon = 100000;

// The first window of each data set gives no sample for the present (it has no label before it), the last `horizon`
// windows none for the future, so that every method is judged on the same samples. bad_data when nothing is left.
Result<Samples> make_samples(std::span<const Dataset> datasets, std::span<const Feature* const> chosen,
                             std::size_t horizon);

// The same samples with only these columns of their features.
Samples with_columns(const Samples& samples, std::span<const std::size_t> columns);

// The published method removes outliers without saying how. Here: a window is one when its dt_s, faults or label lies
// more than kFarOut interquartile ranges outside the quartiles of its own data set (Tukey's "far out"). A column whose
// quartiles coincide is left alone, or each rare event of a quiet target would be cast out. One flag per row.
inline constexpr double kFarOut = 3.0;
std::vector<bool> find_outliers(std::span<const Row> rows);

// Who made the data set: the same for a recording, its copies, and its shorter and longer states.
std::string recording_id(const Dataset& dataset);

// Refuses data sets that can't be learned from together: one recording given twice (usage); labels of different methods
// or, unless `mixed_hooks`, hooks that count different faults (bad_data).
Result<> check_together(std::span<const Dataset> datasets, bool mixed_hooks);

// Reads the files and checks them; together as above.
Result<std::vector<Dataset>> load_datasets(std::span<const std::string> paths, bool mixed_hooks);

} // namespace hotset
