// SPDX-License-Identifier: Apache-2.0
// What an estimate by Accessed bits costs, beside the traditional method (clear_refs, smaps_rollup) on the same target,
// in turns, in one run: our CPU time, what the target loses when it is measured once a second, and how the cost grows
// with the resident memory.
//
// Numbers are medians of the rounds, after the first clears. The spread is the distance between the quartiles of the
// rounds' ratios. A ratio above 1: hotset is better. Targets touch 1 % of their memory, or 10 MiB of it ("-10MiB");
// redis is a live server of 600,000 keys of which clients get 5 %.
//
//   hotset_bench_access [--json] [--full] [CASE…]     four minutes; --full: all cases, more rounds, a quarter of an
//   hour
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "access/meter.h"
#include "access/redis.h"
#include "access/reference.h"
#include "access/target.h"
#include "base/units.h"
#include "estimate/meter.h"
#include "main.h"
#include "quartiles.h"
#include "row.h"

namespace hotset {
namespace {

using namespace std::chrono_literals;

constexpr int kWarmUp = 40; // windows at most, until all was cleared once
constexpr int kBetween = 4; // windows of a method that are not counted, each time after the others had their turn
constexpr Nanoseconds kWindow = 200ms;
constexpr double kBudgetUs = 5000;
constexpr double kError = MeterOptions{}.error; // of the RSS, as hotset measure has it
constexpr double kNoisePercent = 0.1;           // slowdowns below mean nothing, nor does a ratio of them

struct Case {
  std::string_view name;
  double rss_mib;
  double hot_mib;
  bool scattered;
  bool quick;    // done without --full
  bool slowdown; // what the target loses is measured, too
};

constexpr std::array kCases{
    Case{"64MiB", 64, 0.64, false, true, false},          Case{"64MiB-scattered", 64, 0.64, true, false, false},
    Case{"256MiB", 256, 2.56, false, false, false},       Case{"256MiB-scattered", 256, 2.56, true, false, false},
    Case{"1GiB", 1024, 10.24, false, true, false},        Case{"1GiB-scattered", 1024, 10.24, true, true, false},
    Case{"2GiB-10MiB", 2048, 10.24, false, false, false}, Case{"4GiB", 4096, 40.96, false, true, true},
    Case{"4GiB-10MiB", 4096, 10.24, false, true, false},  Case{"4GiB-scattered", 4096, 40.96, true, false, true},
    Case{"8GiB", 8192, 81.92, false, true, false},        Case{"8GiB-10MiB", 8192, 10.24, false, true, false},
};
constexpr std::string_view kRedis = "redis";
// The same hot set in more and more memory: what reading costs.
constexpr std::array<std::string_view, 4> kGrowth{"1GiB", "2GiB-10MiB", "4GiB-10MiB", "8GiB-10MiB"};

struct Row {
  std::string_view bench_case, metric, unit, method;
  std::vector<double> hotset, peer;
  double noise = 0; // values of both below this have no ratio
};

void print(const Row& row, bool json) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < row.hotset.size(); ++i)
    ratios.push_back(row.peer[i] / row.hotset[i]);
  const double hotset = quantile_of(row.hotset, 0.5), peer = quantile_of(row.peer, 0.5);
  const Quartiles ratio = quartiles_of(ratios);
  const bool compares = hotset > row.noise || peer > row.noise;
  const auto spread = compares && ratios.size() > 1 ? std::optional(ratio.spread()) : std::nullopt;
  if (json) {
    nlohmann::ordered_json line = to_json({.bench = "access",
                                           .name = row.bench_case,
                                           .metric = row.metric,
                                           .unit = row.unit,
                                           .hotset = hotset,
                                           .peer = peer,
                                           .peer_name = "reference",
                                           .ratio = compares ? std::optional(ratio.median) : std::nullopt,
                                           .spread = spread});
    line["method"] = row.method;
    fmt::print("{}\n", line.dump());
  } else {
    fmt::print("{:<18}{:<10}{:<8}{:>10.3f}{:>11.3f} {:<7}", row.bench_case, row.metric, row.method, hotset, peer,
               row.unit);
    if (compares) fmt::print("{:>8.2f}", ratio.median);
    if (spread) fmt::print("{:>8.2f}", *spread);
    fmt::print("\n");
  }
  std::fflush(stdout);
}

double milliseconds(Nanoseconds time) {
  return to_seconds(time) * 1e3;
}

struct Bench {
  bool json, full;
  SystemClock clock{};
  Census census = Census::open(clock).value();
  std::map<std::string_view, double> exact_ms{}, reference_ms{}; // medians by case, for the growth

  [[nodiscard]] int rounds() const { return full ? 21 : 9; }

  MeterReading window(AccessMeter& meter, const Aim& aim, Nanoseconds length) {
    meter.begin(aim).value();
    clock.sleep_until(clock.now() + length);
    return meter.read().value();
  }

  // Until a window begins with everything clear that is not in use.
  void warm_up(AccessMeter& meter) {
    const Aim aim{.method = Aim::Method::exact, .budget_us = 50'000};
    for (int i = 0; i < kWarmUp; ++i)
      if (window(meter, aim, 20ms).approach == ClearPlan::Approach::exact && i > 2) return;
  }

  // CPU time of exact and sampled windows and of the reference, in turns.
  void cost(std::string_view name, pid_t pid) {
    const ProcessId id = find_process(Files(), pid).value().id;
    AccessMeter exact_meter = AccessMeter::open(census, id, clock, 1).value();
    AccessMeter sample_meter = AccessMeter::open(census, id, clock, 1).value();
    Reference reference = Reference::open(Files(), id, clock).value();
    warm_up(exact_meter);
    Row exact{name, "cpu", "ms", "exact", {}, {}}, sample{name, "cpu", "ms", "sample", {}, {}};
    for (int round = 0; round < rounds(); ++round) {
      double resident = 0;
      auto spent = [&](AccessMeter& meter, Aim::Method method) {
        const Aim aim{.method = method, .budget_us = kBudgetUs, .error_pages = kError * resident};
        for (int i = 0; i < kBetween; ++i)
          window(meter, aim, kWindow / 2); // what the others have cleared, this one finds
        const MeterReading reading = window(meter, aim, kWindow);
        resident = static_cast<double>(reading.answer.resident);
        return milliseconds(reading.cpu);
      };
      exact.hotset.push_back(spent(exact_meter, Aim::Method::exact));
      sample.hotset.push_back(spent(sample_meter, Aim::Method::sample));
      reference.reset().value();
      clock.sleep_until(clock.now() + kWindow);
      exact.peer.push_back(milliseconds(reference.read().value().cpu));
      sample.peer.push_back(exact.peer.back());
    }
    print(exact, json);
    print(sample, json);
    exact_ms[name] = quantile_of(exact.hotset, 0.5);
    reference_ms[name] = quantile_of(exact.peer, 0.5);
  }

  // What the target does in some seconds while `measure` runs once in each.
  template <class Measure>
  Operations watch(const BusyTarget& target, int seconds, Measure&& measure) {
    const Operations before = target.operations();
    const Nanoseconds begin = clock.now();
    for (int second = 1; second <= seconds; ++second) {
      measure();
      clock.sleep_until(begin + second * 1s);
    }
    return target.operations() - before;
  }

  // The target's throughput, its slowest 1 % of operations and its longest one, measured once a second by either and
  // by none. Each is set beside the mean of the quiet seconds before and after it, for the machine's speed drifts.
  void slowdown(std::string_view name, const BusyTarget& target) {
    const ProcessId id = find_process(Files(), target.pid()).value().id;
    AccessMeter meter = AccessMeter::open(census, id, clock, 1).value();
    Reference reference = Reference::open(Files(), id, clock).value();
    warm_up(meter);
    const Aim aim{.budget_us = 10'000, .error_pages = kError * 1024 * 1024};
    Row lost{name, "slowdown", "%", "auto", {}, {}, kNoisePercent}, p99{name, "p99", "us", "auto", {}, {}},
        longest{name, "longest", "ms", "auto", {}, {}};
    const int seconds = full ? 4 : 3;
    auto quiet = [&] { return static_cast<double>(watch(target, seconds, [] {}).total()); };
    auto note = [](const Operations& seen, double alone, std::vector<double>& share, std::vector<double>& tail,
                   std::vector<double>& worst) {
      share.push_back(std::max(kNoisePercent, 100 * (1 - static_cast<double>(seen.total()) / alone)));
      tail.push_back(milliseconds(seen.quantile(0.99)) * 1e3);
      worst.push_back(milliseconds(seen.quantile(1)));
    };
    double before = quiet();
    for (int round = 0; round < (full ? 9 : 5); ++round) {
      Operations ours = watch(target, seconds, [&] { meter.begin(aim).value(), meter.read().value(); });
      double between = quiet();
      Operations theirs = watch(target, seconds, [&] { reference.reset().value(), reference.read().value(); });
      double after = quiet();
      note(ours, (before + between) / 2, lost.hotset, p99.hotset, longest.hotset);
      note(theirs, (between + after) / 2, lost.peer, p99.peer, longest.peer);
      before = after;
    }
    for (const Row& row : {lost, p99, longest})
      print(row, json);
  }

  void run(const Case& one) {
    const BusyTarget target(static_cast<std::uint64_t>(one.rss_mib) << 20, one.hot_mib / one.rss_mib, one.scattered);
    cost(one.name, target.pid());
    if (one.slowdown) slowdown(one.name, target);
  }

  void run_redis() {
    std::optional<LiveRedis> redis = LiveRedis::start();
    if (!redis) return fmt::print(stderr, "bench: redis-server, redis-cli and redis-benchmark are needed for redis\n");
    cost(kRedis, redis->pid());
  }

  // From the smallest to the largest target with the same hot set, by the medians.
  void growth() const {
    std::vector<std::pair<double, std::string_view>> seen;
    for (const Case& one : kCases)
      if (exact_ms.contains(one.name) && std::ranges::find(kGrowth, one.name) != kGrowth.end())
        seen.emplace_back(one.rss_mib / 1024, one.name);
    if (seen.size() < 2) return;
    const auto [first_gib, first] = seen.front();
    const auto [last_gib, last] = seen.back();
    auto slope = [&, gib = last_gib - first_gib](const auto& ms) { return (ms.at(last) - ms.at(first)) / gib; };
    print({"growth", "cpu", "ms/GiB", "exact", {slope(exact_ms)}, {slope(reference_ms)}}, json);
  }
};

Result<> run_all(const BenchOptions& options) {
  Bench bench{.json = options.json, .full = options.full};
  if (!bench.json)
    fmt::print("{:<18}{:<10}{:<8}{:>10}{:>11} {:<7}{:>8}{:>8}\n", "CASE", "METRIC", "METHOD", "HOTSET", "REFERENCE", "",
               "RATIO", "SPREAD");
  auto wanted = [&](std::string_view name, bool quick) {
    return options.cases.empty() ? quick || bench.full : std::ranges::find(options.cases, name) != options.cases.end();
  };
  for (const Case& one : kCases)
    if (wanted(one.name, one.quick)) bench.run(one);
  if (wanted(kRedis, true)) bench.run_redis();
  bench.growth();
  return {};
}

} // namespace
} // namespace hotset

int main(int argc, char** argv) {
  return hotset::bench_main(argc, argv, hotset::run_all);
}
