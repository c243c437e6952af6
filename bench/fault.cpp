// SPDX-License-Identifier: Apache-2.0
// What the collector costs per page fault: for the process observed and for all others, by hook and transport, against
// no program at all; and what the windows of fault kinds cost.
//
// Each case attaches, takes the same number of faults, and detaches; the cases alternate in many rounds, so that what
// else the machine does hits all alike. Counted is the CPU time of this process: that of the faulting thread with the
// program in it, and that of reading the samples.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "fault/collector.h"
#include "fault/kinds.h"
#include "faults.h"
#include "main.h"
#include "quartiles.h"
#include "row.h"

namespace {

using namespace hotset;

constexpr int kRounds = 15;
constexpr int kPasses = 100;
constexpr std::string_view kNoProgram = "no program";

struct Case {
  std::string name;
  std::optional<FaultOptions> options;
  std::optional<FaultKindsOptions> kinds; // neither: no program
  std::vector<double> ns_per_fault;
};

std::vector<Case> cases(const ProcessId& self) {
  FaultOptions observed;
  observed.filter = {.kind = FaultFilter::Kind::pid, .process = self, .comm = {}};
  FaultOptions counting = observed, by_perf = observed, each_ring = observed, each_perf = observed;
  counting.pace = Nanoseconds::zero();
  by_perf.perf_buffer = each_perf.perf_buffer = true;
  each_ring.pace = each_perf.pace = std::chrono::microseconds(1);
  FaultOptions other_pid = observed, other_comm, no_filter;
  other_pid.filter.process.pid = 1;
  other_comm.filter = {.kind = FaultFilter::Kind::comm, .process = {}, .comm = "nobody"};

  std::vector<Case> all{{std::string(kNoProgram), std::nullopt, std::nullopt, {}}};
  for (const Hook& hook : page_fault_hooks()) {
    if (!try_page_fault_hook(hook)) continue;
    FaultOptions forced = counting;
    forced.hook = hook.name;
    all.push_back({fmt::format("{}, counting", hook.name), forced, std::nullopt, {}});
  }
  all.push_back({"chosen hook, ring buffer, a sample each 100 ms", observed, std::nullopt, {}});
  all.push_back({"chosen hook, perf buffer, a sample each 100 ms", by_perf, std::nullopt, {}});
  all.push_back({"chosen hook, every process counted", no_filter, std::nullopt, {}});
  all.push_back({"chosen hook, another pid is observed", other_pid, std::nullopt, {}});
  all.push_back({"chosen hook, another name is observed", other_comm, std::nullopt, {}});
  all.push_back({"chosen hook, ring buffer, a sample each fault", each_ring, std::nullopt, {}});
  all.push_back({"chosen hook, perf buffer, a sample each fault", each_perf, std::nullopt, {}});
  all.push_back({"windows of kinds, of the host", std::nullopt, FaultKindsOptions{}, {}});
  all.push_back({"windows of kinds, of the host and of another process",
                 std::nullopt,
                 FaultKindsOptions{.processes = {{1, 0}}, .comm = {}},
                 {}});
  all.push_back({"windows of kinds, of the host and of the process",
                 std::nullopt,
                 FaultKindsOptions{.processes = {self}, .comm = {}},
                 {}});
  return all;
}

// Takes the faults, and reads the samples after each pass.
Result<double> measure(char* memory, FaultCollector* collector) {
  return take_faults(memory, kPasses, [&]() -> Result<> {
    if (collector != nullptr) {
      HOTSET_CHECK(collector->poll(Nanoseconds::zero(), [](const FaultSample&) {}));
    }
    return {};
  });
}

Result<> run_case(Case& one, char* memory) {
  std::optional<FaultCollector> collector;
  if (one.options) {
    HOTSET_TRY(collector, FaultCollector::attach(*one.options));
  }
  std::optional<FaultKinds> kinds;
  if (one.kinds) {
    HOTSET_TRY(kinds, FaultKinds::attach(*one.kinds));
  }
  HOTSET_TRY(double ns, measure(memory, collector ? &*collector : nullptr));
  one.ns_per_fault.push_back(ns);
  return {};
}

void print(const std::vector<Case>& all, bool json) {
  Quartiles bare = quartiles_of(all.front().ns_per_fault);
  if (!json) fmt::print("{:<54} {:>9} {:>9} {:>8}\n", "case", "ns/fault", "added", "spread");
  for (const Case& one : all) {
    Quartiles cost = quartiles_of(one.ns_per_fault);
    double spread = cost.spread();
    if (json) {
      print_json({.bench = "fault",
                  .name = one.name,
                  .metric = "cpu_per_fault",
                  .unit = "ns",
                  .hotset = cost.median,
                  .peer = bare.median,
                  .peer_name = kNoProgram,
                  .ratio = bare.median / cost.median,
                  .spread = spread,
                  .spread_of = "hotset"});
    } else {
      fmt::print("{:<54} {:>9.0f} {:>9.0f} {:>8.0f}\n", one.name, cost.median, cost.median - bare.median, spread);
    }
  }
  if (!json)
    fmt::print("median of {} alternating rounds of {} faults; spread: between the quartiles\n", kRounds,
               kFaultPages * kPasses);
}

Result<> bench(const BenchOptions& options) {
  HOTSET_TRY(ProcessStat self, read_process_stat(Files(), ::getpid()));
  HOTSET_TRY(char* memory, memory_to_fault_on());
  std::vector<Case> all = cases({self.pid, self.start_ticks});
  for (int round = 0; round < kRounds; ++round)
    for (Case& one : all)
      HOTSET_CHECK(run_case(one, memory));
  print(all, options.json);
  return {};
}

} // namespace

int main(int argc, char** argv) {
  return bench_main(argc, argv, bench);
}
