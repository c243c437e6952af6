// SPDX-License-Identifier: Apache-2.0
// Recordings made up for tests: targets whose page faults tell their working set, and targets whose faults do not.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "dataset/dataset.h"

namespace hotset::synthetic {

inline DatasetHeader header(const std::string& group, int pid) {
  return {.host = "node",
          .kernel = "6.1.0",
          .hook = "tp_btf",
          .hook_semantics = "user-mode faults",
          .transport = "perf",
          .target = "workload",
          .comm = "workload",
          .pid = pid,
          .start_ticks = 1000,
          .interval_s = 0.1,
          .label = "reference",
          .begin_time = "2026-01-02T03:04:05.678Z",
          .group = group,
          .hotset_version = "0.1.0"};
}

inline double uniform(std::mt19937_64& random) {
  return static_cast<double>(random() >> 11) * 0x1p-53;
}

// Allocates its pages anew in every window: each touched page is one fault, and the size changes from window to window.
inline Dataset telling(int number, std::size_t rows) {
  std::mt19937_64 random(static_cast<std::uint64_t>(number) * 7919);
  Dataset dataset{.path = "telling-" + std::to_string(number) + ".csv",
                  .header = header("telling", number),
                  .rows = {},
                  .truncated = false};
  double time_s = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    const double dt_s = 0.1 + 0.002 * uniform(random);
    const auto pages = static_cast<std::uint64_t>(100 + 4000 * uniform(random));
    time_s += dt_s;
    dataset.rows.push_back({.time_s = time_s,
                            .dt_s = dt_s,
                            .faults = pages + random() % 20,
                            .emissions = pages / 100,
                            .peak_faults = 100,
                            .rss_bytes = std::uint64_t{4096} * 5000,
                            .cpu_s = 0.05,
                            .label_bytes = 4096 * pages,
                            .truth_bytes = 4096 * pages});
  }
  return dataset;
}

// Touches the same pages again and again: no faults, whatever its working set is, and each recording has its own.
inline Dataset silent(int number, std::size_t rows) {
  std::mt19937_64 random(static_cast<std::uint64_t>(number) * 104729);
  Dataset dataset{.path = "silent-" + std::to_string(number) + ".csv",
                  .header = header("silent", 1000 + number),
                  .rows = {},
                  .truncated = false};
  const auto pages = static_cast<std::uint64_t>(100 + 4000 * uniform(random));
  double time_s = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    const double dt_s = 0.1 + 0.002 * uniform(random);
    time_s += dt_s;
    dataset.rows.push_back({.time_s = time_s,
                            .dt_s = dt_s,
                            .faults = random() % 3,
                            .emissions = 0,
                            .peak_faults = 0,
                            .rss_bytes = std::uint64_t{4096} * 5000,
                            .cpu_s = 0.05,
                            .label_bytes = 4096 * (pages + random() % 30),
                            .truth_bytes = std::nullopt});
  }
  return dataset;
}

inline std::vector<Dataset> many(Dataset (*make)(int, std::size_t), int count, std::size_t rows) {
  std::vector<Dataset> datasets;
  for (int i = 0; i < count; ++i)
    datasets.push_back(make(i + 1, rows));
  return datasets;
}

} // namespace hotset::synthetic
