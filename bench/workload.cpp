// SPDX-License-Identifier: Apache-2.0
// What publishing costs a workload: the same workload with its record and without, in turns, in one run.
//
// A known answer is worth little if giving it changes the question: the ratio of the two speeds says by how much. The
// numbers are medians of the rounds; the spread is the distance between the quartiles of the rounds' ratios.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "workload/run.h"

namespace hotset {
namespace {

constexpr int kRounds = 11;
constexpr Nanoseconds kTime = std::chrono::milliseconds(60);

struct Case {
  std::string_view name;
  std::string_view pattern;
  std::uint64_t rss_bytes;
};

constexpr std::array kCases{
    Case{"array-4MiB", "array", std::uint64_t{4} << 20},
    Case{"sequential-1MiB", "sequential", std::uint64_t{1} << 20},
    Case{"uniform-1MiB", "uniform", std::uint64_t{1} << 20},
    Case{"uniform-256MiB", "uniform", std::uint64_t{256} << 20},
    Case{"zipf-256MiB", "zipf", std::uint64_t{256} << 20},
};

double touches_per_second(const Case& row, bool publish) {
  WorkloadSpec spec = default_spec(*find_pattern(row.pattern).value());
  spec.rss_bytes = row.rss_bytes;
  spec.limit = kTime;
  spec.publish = publish;
  SystemClock clock;
  WorkloadHooks hooks{.ready = [](const WorkloadReady&) {}, .stop = [] { return false; }};
  WorkloadSummary summary = run_workload(spec, Files(), clock, hooks).value();
  return static_cast<double>(summary.touches) / summary.seconds;
}

double quantile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
}

void measure(const Case& row, bool json) {
  std::vector<double> with, without, ratios;
  for (int round = 0; round < kRounds; ++round) {
    with.push_back(touches_per_second(row, true));
    without.push_back(touches_per_second(row, false));
    ratios.push_back(with.back() / without.back());
  }
  double spread = quantile(ratios, 0.75) - quantile(ratios, 0.25);
  if (json)
    fmt::print("{}\n", nlohmann::ordered_json{{"bench", "workload"},
                                              {"case", row.name},
                                              {"metric", "touches"},
                                              {"unit", "1/s"},
                                              {"hotset", quantile(with, 0.5)},
                                              {"peer", quantile(without, 0.5)},
                                              {"peer_name", "no-record"},
                                              {"ratio", quantile(ratios, 0.5)},
                                              {"spread", spread}}
                           .dump());
  else
    fmt::print("{:<17}{:>12.1f}{:>12.1f}{:>9.3f}{:>9.3f}\n", row.name, 1e9 / quantile(with, 0.5),
               1e9 / quantile(without, 0.5), quantile(ratios, 0.5), spread);
}

} // namespace
} // namespace hotset

int main(int argc, char** argv) {
  bool json = argc > 1 && std::string_view(argv[1]) == "--json";
  if (!json) fmt::print("{:<17}{:>12}{:>12}{:>9}{:>9}\n", "CASE", "RECORD ns", "NONE ns", "SPEED", "SPREAD");
  for (const hotset::Case& row : hotset::kCases)
    hotset::measure(row, json);
}
