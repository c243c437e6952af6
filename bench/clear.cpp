// SPDX-License-Identifier: Apache-2.0
// What it costs to clear short runs on the target's own processor, beside clearing them from another one, in turns.
//
// The target touches all of its memory all the time, so that each run changes something and is followed by a flush of
// the TLB. Numbers are CPU time for each run, medians of the rounds. A ratio above 1: the target's processor is
// cheaper.
//
//   hotset_bench_clear [--json]     seconds
#include <fmt/format.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "access/beside.h"
#include "access/clear.h"
#include "base/clock.h"
#include "base/units.h"
#include "main.h"
#include "quartiles.h"
#include "row.h"
#include "workload/process.h"

namespace hotset {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kMemory = std::uint64_t{64} << 20;
constexpr unsigned kOurs = 0, kTargets = 1; // processors
constexpr int kRounds = 41;

struct Case {
  std::string_view name;
  std::uint64_t runs, pages;
};
constexpr std::array kCases{Case{"24 runs of 1", 24, 1}, Case{"24 runs of 8", 24, 8}, Case{"1000 runs of 4", 1000, 4}};

void stay_on(pid_t pid, std::initializer_list<unsigned> processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (unsigned processor : processors)
    CPU_SET(processor, &set);
  ::sched_setaffinity(pid, sizeof(set), &set);
}

Result<> measure(const Case& one, const WorkloadProcess& target, int pidfd, bool json) {
  std::vector<Run> runs;
  const std::uint64_t step = kMemory / 4096 / one.runs;
  for (std::uint64_t i = 0; i < one.runs; ++i)
    runs.push_back({.address = target.ready().address + i * step * 4096, .pages = one.pages});
  SystemClock clock;
  Beside beside;
  PairedRounds rounds;
  for (int round = 0; round < kRounds; ++round) {
    std::array<double, 2> took{}; // from another processor, on the target's
    for (bool goes : {false, true}) {
      clock.sleep_until(clock.now() + 20ms); // until all is set again
      stay_on(0, {kOurs});
      if (goes) stay_on(0, {kOurs, kTargets});
      const Nanoseconds begin = own_cpu_time();
      std::optional<Result<ClearReport>> report;
      auto clear = [&] { report.emplace(age_runs(pidfd, runs, goes ? Pace::in_turns : Pace::steady)); };
      if (!goes) clear();
      if (goes && !beside.run(kTargets, clear))
        return fail(ErrorCode::permission, "work on the processor of", "the target", "we may not", "run as root");
      HOTSET_TRY(const ClearReport done, std::move(*report));
      took[goes] = to_seconds(own_cpu_time() - begin) * 1e6 / static_cast<double>(done.runs);
    }
    rounds.add(took[1], took[0], took[0] / took[1]);
  }
  const BenchRow row = rounds.row(
      {.bench = "clear", .name = one.name, .metric = "run", .unit = "us", .peer_name = "from another processor"});
  if (json)
    print_json(row);
  else
    fmt::print("{:<18}{:>14.2f}{:>24.2f}{:>8.2f}{:>8.2f}\n", one.name, row.hotset, *row.peer, *row.ratio, *row.spread);
  return {};
}

Result<> run_all(const BenchOptions& options) {
  if (::sysconf(_SC_NPROCESSORS_ONLN) < 2)
    return fail(ErrorCode::unsupported, "compare processors", "", "there is only one", "use a machine with two");
  HOTSET_TRY(const Pattern* pattern, find_pattern("uniform"));
  WorkloadSpec spec = default_spec(*pattern);
  spec.rss_bytes = kMemory;
  HOTSET_TRY(WorkloadProcess target, WorkloadProcess::start(spec));
  stay_on(target.pid(), {kTargets});
  const Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, target.pid(), 0)));
  if (!pidfd) return fail(errno_error(errno, "open", "the target"));
  if (!options.json)
    fmt::print("{:<18}{:>14}{:>24}{:>8}{:>8}\n", "RUNS, OF PAGES", "ON ITS OWN us", "FROM ANOTHER us", "RATIO",
               "SPREAD");
  for (const Case& one : kCases)
    HOTSET_CHECK(measure(one, target, pidfd.get(), options.json));
  return {};
}

} // namespace
} // namespace hotset

int main(int argc, char** argv) {
  return hotset::bench_main(argc, argv, hotset::run_all);
}
