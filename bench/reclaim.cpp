// SPDX-License-Identifier: Apache-2.0
// What clearing Accessed bits does to the kernel's order of reclaim: one workload whose memory does not fit its limit,
// measured once a second by each method and by none, in turns, in one run: its throughput, and the pages that had to be
// read back from swap.
//
// MADV_COLD takes a page off the active list, clear_refs only clears its bit; either way the kernel knows less of what
// is hot than before. A ratio above 1: with the method the target is better off than without any.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <memory>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "base/interrupt.h"
#include "estimate/meter.h"
#include "identity/process.h"
#include "main.h"
#include "quartiles.h"
#include "reclaim/pressure.h"
#include "row.h"
#include "workload/process.h"
#include "workload/truth.h"

namespace hotset {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kMemory = 256 * kMiB; // of the workload
constexpr std::uint64_t kLimit = 160 * kMiB;  // of its cgroup
constexpr std::uint64_t kSwap = 512 * kMiB;
constexpr int kRounds = 7;
constexpr int kWarmUpSeconds = 8;
constexpr int kSeconds = 4; // a turn
constexpr std::string_view kNone = "none";
constexpr std::array<std::string_view, 4> kMethods{kNone, "exact", "sample", "reference"};

struct Turns {
  std::string_view method;
  std::unique_ptr<Meter> meter; // none: nobody measures
  std::vector<double> touches_per_s, refaults_per_s;
};

Result<> take_turn(Turns& turns, const LimitedCgroup& group, const TruthReader& truth, Clock& clock) {
  HOTSET_TRY(std::uint64_t refaults, group.refaults());
  const std::uint64_t touches = truth.touches();
  const Nanoseconds begin = clock.now();
  for (int second = 1; second <= kSeconds; ++second) {
    if (turns.meter) {
      HOTSET_CHECK(turns.meter->begin());
    }
    clock.sleep_until(begin + std::chrono::seconds(second));
    if (turns.meter) {
      HOTSET_TRY([[maybe_unused]] Estimate estimate, turns.meter->read());
    }
  }
  const double seconds = to_seconds(clock.now() - begin);
  HOTSET_TRY(std::uint64_t refaults_now, group.refaults());
  turns.touches_per_s.push_back(static_cast<double>(truth.touches() - touches) / seconds);
  turns.refaults_per_s.push_back(static_cast<double>(refaults_now - refaults) / seconds);
  return {};
}

// Ratios within a round, for the machine and the workload's state drift from round to round.
void print_row(const Turns& with, const Turns& without, bool refaults, bool json) {
  const std::vector<double>& ours = refaults ? with.refaults_per_s : with.touches_per_s;
  const std::vector<double>& peers = refaults ? without.refaults_per_s : without.touches_per_s;
  PairedRounds rounds;
  for (std::size_t i = 0; i < ours.size(); ++i)
    rounds.add(ours[i], peers[i], refaults ? (peers[i] + 1) / (ours[i] + 1) : ours[i] / peers[i]);
  const std::string_view metric = refaults ? "refaults" : "throughput", unit = refaults ? "pages/s" : "touches/s";
  const BenchRow row =
      rounds.row({.bench = "reclaim", .name = with.method, .metric = metric, .unit = unit, .peer_name = kNone});
  if (json)
    print_json(row);
  else
    fmt::print("{:<10} {:<22} {:>12.0f} {:>12.0f} {:>7.2f} {:>7.2f}\n", row.name, fmt::format("{}, {}", metric, unit),
               row.hotset, *row.peer, *row.ratio, *row.spread);
}

Result<> bench(const BenchOptions& options) {
  catch_interrupts();
  const bool json = options.json;
  Files files;
  SystemClock clock;
  HOTSET_TRY(SwapFile swap, SwapFile::create_unless_there_is(kSwap));
  HOTSET_TRY(LimitedCgroup group, LimitedCgroup::create(kLimit));
  HOTSET_TRY(const Pattern* zipf, find_pattern("zipf"));
  WorkloadSpec spec = default_spec(*zipf);
  spec.rss_bytes = kMemory;
  spec.scattered = true;
  HOTSET_CHECK(group.enter());
  Result<WorkloadProcess> started = WorkloadProcess::start(spec, files);
  HOTSET_CHECK(group.leave());
  HOTSET_TRY(WorkloadProcess workload, std::move(started));
  HOTSET_TRY(Process target, find_process(files, workload.pid()));
  HOTSET_TRY(TruthReader truth, TruthReader::open(files, target.id));

  std::vector<Turns> all;
  for (std::string_view method : kMethods) {
    Turns turns{.method = method, .meter = nullptr, .touches_per_s = {}, .refaults_per_s = {}};
    if (method != kNone) {
      HOTSET_TRY(OpenedMeter opened, open_meter(method, files, target, clock));
      turns.meter = std::move(opened.meter);
    }
    all.push_back(std::move(turns));
  }
  clock.sleep_until(clock.now() + std::chrono::seconds(kWarmUpSeconds));
  for (int round = 0; round < kRounds && !interrupt_requested(); ++round) {
    for (Turns& turns : all) {
      HOTSET_CHECK(take_turn(turns, group, truth, clock));
    }
    if (!json && ::isatty(STDERR_FILENO) == 1) fmt::print(stderr, "round {} of {}\r", round + 1, kRounds);
  }
  if (!json)
    fmt::print("{:<10} {:<22} {:>12} {:>12} {:>7} {:>7}\n", "method", "of the target", "with", "without", "ratio",
               "spread");
  for (const Turns& turns : all | std::views::drop(1)) {
    print_row(turns, all.front(), false, json);
    print_row(turns, all.front(), true, json);
  }
  if (!json)
    fmt::print(
        "{} MiB by Zipf's law under a limit of {} MiB; medians of {} rounds of {} s each, in turns; spread: between\n"
        "the quartiles of the rounds' ratios; ratio above 1: better off than without a measurement\n",
        kMemory / kMiB, kLimit / kMiB, kRounds, kSeconds);
  return {};
}

} // namespace
} // namespace hotset

int main(int argc, char** argv) {
  return hotset::bench_main(argc, argv, hotset::bench);
}
