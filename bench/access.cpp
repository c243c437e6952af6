// SPDX-License-Identifier: Apache-2.0
// What an estimate by Accessed bits costs, beside the traditional method (clear_refs, smaps_rollup) on the same target,
// in turns, in one run: our CPU time, and what the target loses when it is measured once a second.
//
// Numbers are medians of the rounds, after the first clears. The spread is the distance between the quartiles of the
// rounds' ratios. A ratio above 1: hotset is better.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "access/meter.h"
#include "access/reference.h"
#include "base/units.h"
#include "workload/process.h"
#include "workload/truth.h"

namespace hotset {
namespace {

using namespace std::chrono_literals;

constexpr int kRounds = 9;
constexpr int kWarmUp = 30;
constexpr Nanoseconds kWindow = 200ms;
constexpr double kHot = 0.01;
constexpr int kSlowdownSeconds = 4;
constexpr int kSlowdownRounds = 3;

struct Case {
  std::string_view name;
  std::uint64_t rss_bytes;
  bool scattered;
};

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::array kCases{
    Case{"64MiB", 64 * kMiB, false},   Case{"64MiB-scattered", 64 * kMiB, true},
    Case{"256MiB", 256 * kMiB, false}, Case{"256MiB-scattered", 256 * kMiB, true},
    Case{"1GiB", 1024 * kMiB, false},  Case{"1GiB-scattered", 1024 * kMiB, true},
    Case{"4GiB", 4096 * kMiB, false},  Case{"4GiB-scattered", 4096 * kMiB, true},
    Case{"8GiB", 8192 * kMiB, false},
};

double quantile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
}

struct Row {
  std::string_view bench_case, metric, unit;
  std::vector<double> hotset, peer;
  std::string_view note;
};

void print(const Row& row, bool json, bool higher_is_better) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < row.hotset.size(); ++i)
    ratios.push_back(higher_is_better ? row.hotset[i] / row.peer[i] : row.peer[i] / row.hotset[i]);
  double spread = quantile(ratios, 0.75) - quantile(ratios, 0.25);
  if (json)
    fmt::print("{}\n", nlohmann::ordered_json{{"bench", "access"},
                                              {"case", row.bench_case},
                                              {"metric", row.metric},
                                              {"unit", row.unit},
                                              {"hotset", quantile(row.hotset, 0.5)},
                                              {"peer", quantile(row.peer, 0.5)},
                                              {"peer_name", "reference"},
                                              {"ratio", quantile(ratios, 0.5)},
                                              {"spread", spread}}
                           .dump());
  else
    fmt::print("{:<18}{:<10}{:>10.3f}{:>11.3f} {:<4}{:>8.2f}{:>8.2f}  {}\n", row.bench_case, row.metric,
               quantile(row.hotset, 0.5), quantile(row.peer, 0.5), row.unit, quantile(ratios, 0.5), spread, row.note);
  std::fflush(stdout);
}

double milliseconds(Nanoseconds time) {
  return to_seconds(time) * 1e3;
}

struct Bench {
  SystemClock clock;
  Census census = Census::open(clock).value();

  // Touches per second of the target while `measure` runs once a second.
  template <class Measure>
  double rate(TruthReader& truth, Measure&& measure) {
    std::uint64_t before = truth.touches();
    Nanoseconds begin = clock.now();
    for (int second = 1; second <= kSlowdownSeconds; ++second) {
      measure();
      clock.sleep_until(begin + second * 1s);
    }
    return static_cast<double>(truth.touches() - before) / to_seconds(clock.now() - begin);
  }

  void run(const Case& row, bool json) {
    WorkloadSpec spec = default_spec(*find_pattern("uniform").value());
    spec.rss_bytes = row.rss_bytes;
    spec.hot = kHot;
    spec.scattered = row.scattered;
    WorkloadProcess target = WorkloadProcess::start(spec).value();
    const ProcessId id = find_process(Files(), target.pid()).value().id;
    TruthReader truth = TruthReader::open(Files(), id).value();
    AccessMeter meter = AccessMeter::open(census, id, clock, 1).value();
    Reference reference = Reference::open(Files(), id, clock).value();
    const double pages = static_cast<double>(row.rss_bytes) / 4096;
    const Aim aim{.budget_us = 5000, .error_pages = 0.01 * pages};
    auto window = [&] {
      meter.begin(aim).value();
      clock.sleep_until(clock.now() + kWindow);
      return meter.read().value();
    };
    for (int i = 0; i < kWarmUp; ++i)
      window();

    Row cpu{.bench_case = row.name, .metric = "cpu", .unit = "ms", .hotset = {}, .peer = {}, .note = ""};
    bool sampled = false;
    for (int round = 0; round < kRounds; ++round) {
      MeterReading reading = window();
      cpu.hotset.push_back(milliseconds(reading.cpu));
      sampled = reading.approach == ClearPlan::Approach::sample;
      reference.reset().value();
      clock.sleep_until(clock.now() + kWindow);
      cpu.peer.push_back(milliseconds(reference.read().value().cpu));
      window(); // the next one finds bits as its own clears leave them
    }
    cpu.note = sampled ? "sample" : "exact";
    print(cpu, json, false);

    if (row.rss_bytes != 4096 * kMiB) return;
    Row slowdown{
        .bench_case = row.name, .metric = "slowdown", .unit = "%", .hotset = {}, .peer = {}, .note = "at 1 Hz"};
    for (int round = 0; round < kSlowdownRounds; ++round) {
      double alone = rate(truth, [] {});
      double ours = rate(truth, [&] { meter.begin(aim).value(), meter.read().value(); });
      double theirs = rate(truth, [&] { reference.reset().value(), reference.read().value(); });
      // Below a tenth of a percent it is noise; a ratio of noise would mean nothing.
      slowdown.hotset.push_back(std::max(0.1, 100 * (1 - ours / alone)));
      slowdown.peer.push_back(std::max(0.1, 100 * (1 - theirs / alone)));
    }
    print(slowdown, json, false);
  }
};

} // namespace
} // namespace hotset

int main(int argc, char** argv) {
  bool json = false;
  std::string_view only;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--json")
      json = true;
    else
      only = argv[i];
  }
  hotset::Bench bench;
  if (!json)
    fmt::print("{:<18}{:<10}{:>10}{:>11} {:<4}{:>8}{:>8}\n", "CASE", "METRIC", "HOTSET", "REFERENCE", "", "RATIO",
               "SPREAD");
  for (const hotset::Case& row : hotset::kCases)
    if (only.empty() || row.name == only) bench.run(row, json);
}
