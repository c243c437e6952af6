// SPDX-License-Identifier: Apache-2.0
// What publishing costs a workload: the same workload with its record and without, in turns, in one run.
//
// A known answer is worth little if giving it changes the question: the ratio of the two speeds says by how much. The
// numbers are medians of the rounds; the spread is the distance between the quartiles of the rounds' ratios.
#include <fmt/format.h>

#include <array>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "main.h"
#include "quartiles.h"
#include "row.h"
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

void measure(const Case& one, bool json) {
  PairedRounds rounds;
  for (int round = 0; round < kRounds; ++round) {
    const double with = touches_per_second(one, true), without = touches_per_second(one, false);
    rounds.add(with, without, with / without);
  }
  const BenchRow row =
      rounds.row({.bench = "workload", .name = one.name, .metric = "touches", .unit = "1/s", .peer_name = "no-record"});
  if (json)
    print_json(row);
  else
    fmt::print("{:<17}{:>12.1f}{:>12.1f}{:>9.3f}{:>9.3f}\n", row.name, 1e9 / row.hotset, 1e9 / *row.peer, *row.ratio,
               *row.spread);
}

Result<> bench(const BenchOptions& options) {
  if (!options.json) fmt::print("{:<17}{:>12}{:>12}{:>9}{:>9}\n", "CASE", "RECORD ns", "NONE ns", "SPEED", "SPREAD");
  for (const Case& row : kCases)
    measure(row, options.json);
  return {};
}

} // namespace
} // namespace hotset

int main(int argc, char** argv) {
  return hotset::bench_main(argc, argv, hotset::bench);
}
