// SPDX-License-Identifier: Apache-2.0
// What a bump of a rolling window costs, beside the other ways to tell user space that something happened: the
// published layout (a per-CPU array of 300 slots of 56 bytes), a hash increment, a record in a ring buffer, a record in
// a perf buffer; and what it costs to read a window, beside the published layout and beside the system call alone.
//
// Each way is a BPF program. It is run a million times in one system call, and attached to the page-fault path while
// this process takes faults on one CPU. In each of many rounds each way stands between two turns of the empty program,
// and what it costs more than that is its cost. A thread reads the records as they come. On the fault path the time is
// the CPU time of this process: the faulting thread with the program in it, and the reading; what costs a few ns is
// done 16 times in each fault there, and its cost divided by that.
//
// A ratio above 1: the rolling window is better.
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "faults.h"
#include "kernel/loader.h"
#include "main.h"
#include "quartiles.h"
#include "row.h"
#include "window/reader.h"
#include "window_bench.skel.h"

namespace hotset {
namespace {

constexpr std::string_view kName = "the bench program";
constexpr int kRounds = 41;
constexpr std::uint32_t kCheapRuns = 1'000'000, kRecordRuns = 20'000;
constexpr int kPasses = 15;
constexpr int kBumpsPerFault = 16; // as in the program

struct Way {
  std::string_view name;
  std::string_view program; // run_… and fault_…
  bool records;
  window_clock clock = WINDOW_JIFFIES;
};
constexpr std::array kWays{
    Way{"window, jiffies", "window", false},
    Way{"window, boottime", "window", false, WINDOW_BOOTTIME},
    Way{"published layout, jiffies", "published", false},
    Way{"hash", "hash", false},
    Way{"ringbuf", "ringbuf", true},
    Way{"perfbuf", "perfbuf", true},
    Way{"bpf_ktime_get_boot_ns", "boottime", false},
};
constexpr std::size_t kJiffies = 0, kBoottime = 1, kPublished = 2, kHash = 3, kRingbuf = 4, kPerfbuf = 5, kClock = 6;
// Which is set beside which.
constexpr std::array kPairs{
    std::pair{kJiffies, kPublished}, std::pair{kJiffies, kHash},   std::pair{kJiffies, kRingbuf},
    std::pair{kJiffies, kPerfbuf},   std::pair{kBoottime, kClock},
};
constexpr std::string_view kPublishedName = "published layout";

// Reads what the programs send, as it comes, until destroyed.
class Consumer {
 public:
  explicit Consumer(window_bench_bpf& object)
      : ring_(ring_buffer__new(
            bpf_map__fd(object.maps.ring), [](void*, void*, std::size_t) { return 0; }, nullptr, nullptr)),
        perf_(perf_buffer__new(
            bpf_map__fd(object.maps.perf), 64, [](void*, int, void*, unsigned) {},
            [](void* lost, int, unsigned long long count) { *static_cast<std::uint64_t*>(lost) += count; }, &lost_,
            nullptr)),
        by_ring_([this](const std::stop_token& stop) {
          while (!stop.stop_requested())
            ring_buffer__poll(ring_, 50);
        }),
        by_perf_([this](const std::stop_token& stop) {
          while (!stop.stop_requested())
            perf_buffer__poll(perf_, 50);
        }) {}
  Consumer(const Consumer&) = delete;
  Consumer& operator=(const Consumer&) = delete;
  ~Consumer() {
    by_ring_ = {};
    by_perf_ = {};
    ring_buffer__free(ring_);
    perf_buffer__free(perf_);
  }

 private:
  std::uint64_t lost_ = 0; // the kernel says so in the perf buffer; it is counted at the sender, too
  ring_buffer* ring_;
  perf_buffer* perf_;
  std::jthread by_ring_, by_perf_;
};

struct Bench {
  Skeleton<window_bench_bpf> object;
  char* memory = nullptr;

  [[nodiscard]] bpf_program* program(std::string_view kind, std::string_view name) const {
    return bpf_object__find_program_by_name(object->obj, fmt::format("{}_{}", kind, name).c_str());
  }
  [[nodiscard]] WindowMaps seven() const { return {.window = bpf_map__fd(object->maps.seven), .meta = -1}; }
  [[nodiscard]] WindowMaps published() const {
    return {.window = bpf_map__fd(object->maps.published), .meta = bpf_map__fd(object->maps.published_meta)};
  }
  [[nodiscard]] Result<> start(window_clock clock) const {
    HOTSET_CHECK(start_window(seven(), clock));
    return start_window(published(), clock);
  }
};

// ns of one run, in a system call that runs the program many times.
Result<double> test_run(const Bench& bench, std::string_view name, std::uint32_t runs) {
  std::array<char, 64> packet{};
  bpf_test_run_opts options{};
  options.sz = sizeof(options);
  options.data_in = packet.data();
  options.data_size_in = packet.size();
  options.repeat = static_cast<int>(runs);
  Nanoseconds begin = SystemClock().now();
  if (bpf_prog_test_run_opts(bpf_program__fd(bench.program("run", name)), &options) != 0)
    return fail(errno_error(errno, "run", std::string(name)));
  return static_cast<double>((SystemClock().now() - begin).count()) / runs;
}

// ns of a page fault with the program attached; without one when there is no name.
Result<double> fault(const Bench& bench, std::string_view name) {
  Attachment attachment;
  if (!name.empty()) {
    bpf_link* link = bpf_program__attach(bench.program("fault", name));
    if (link == nullptr) return fail(errno_error(errno, "attach", std::string(name)));
    attachment.emplace_back(link);
  }
  return take_faults(bench.memory, kPasses, [] { return Result<>(); });
}

void stay_on_one_cpu() {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &set);
  ::sched_setaffinity(0, sizeof(set), &set);
}

struct Costs {
  std::vector<double> bare;                                   // no program, on the fault path only
  std::vector<double> empty;                                  // the empty program
  std::array<std::vector<double>, kWays.size()> over_empty{}; // what each way costs more, by round
};

// Measures the empty program, the way twice, and the empty program: what drifts meanwhile hits both alike. `times`: how
// often the way's program does it.
template <class Measure>
Result<> measure_way(Costs& costs, std::size_t way, int times, Measure measure) {
  HOTSET_TRY(double before, measure("empty"));
  HOTSET_TRY(double first, measure(kWays[way].program));
  HOTSET_TRY(double second, measure(kWays[way].program));
  HOTSET_TRY(double after, measure("empty"));
  costs.empty.push_back((before + after) / 2);
  costs.over_empty[way].push_back((first + second - before - after) / 2 / times);
  return {};
}

Result<> measure_round(const Bench& bench, Costs& runs, Costs& faults) {
  HOTSET_TRY(double bare, fault(bench, {}));
  faults.bare.push_back(bare);
  for (std::size_t way = 0; way < kWays.size(); ++way) {
    HOTSET_CHECK(bench.start(kWays[way].clock));
    std::uint32_t times = kWays[way].records ? kRecordRuns : kCheapRuns;
    HOTSET_CHECK(measure_way(runs, way, 1, [&](std::string_view name) { return test_run(bench, name, times); }));
    HOTSET_CHECK(measure_way(faults, way, kWays[way].records ? 1 : kBumpsPerFault,
                             [&](std::string_view name) { return fault(bench, name); }));
  }
  return {};
}

class Report {
 public:
  explicit Report(bool json) : json_(json) {
    if (!json)
      fmt::print("{:<34} {:<20} {:>10} {:>10} {:<25} {:>7} {:>8}\n", "case", "metric", "hotset", "peer", "", "ratio",
                 "spread");
  }
  void row(std::string_view name, std::string_view metric, std::string_view unit, Quartiles hotset,
           std::optional<double> peer, std::string_view peer_name) const {
    std::optional<double> ratio;
    if (peer && *peer > 0 && hotset.median > 0) ratio = *peer / hotset.median;
    if (json_) {
      print_json({.bench = "window",
                  .name = name,
                  .metric = metric,
                  .unit = unit,
                  .hotset = hotset.median,
                  .peer = peer,
                  .peer_name = peer_name,
                  .ratio = ratio,
                  .spread = hotset.spread(),
                  .spread_of = "hotset"});
    } else {
      fmt::print("{:<34} {:<20} {:>7.1f} {:<2} {:>7} {:<2} {:<25} {:>7} {:>8.1f}\n", name, metric, hotset.median, unit,
                 peer ? fmt::format("{:.1f}", *peer) : "", peer ? unit : "", peer_name,
                 ratio ? fmt::format("{:.1f}", *ratio) : "", hotset.spread());
    }
  }

 private:
  bool json_;
};

void report_costs(const Report& report, std::string_view where, const Costs& costs) {
  for (auto [own, peer] : kPairs)
    report.row(fmt::format("{}: {}", where, kWays[own].name), "over_empty_program", "ns",
               quartiles_of(costs.over_empty[own]), quantile_of(costs.over_empty[peer], 0.5), kWays[peer].name);
}

// µs of CPU time of one call, by round.
template <class Call>
Result<Quartiles> time_calls(int calls, Call call) {
  std::vector<double> times;
  for (int round = 0; round < kRounds; ++round) {
    Nanoseconds before = own_cpu_time();
    for (int i = 0; i < calls; ++i)
      HOTSET_CHECK(call());
    times.push_back(static_cast<double>((own_cpu_time() - before).count()) / 1e3 / calls);
  }
  return quartiles_of(times);
}

// A window started 1,000 s ago, in which every CPU has counted in each second up to now.
WindowImage used_window(std::size_t cpus, std::size_t counters, KernelTime time) {
  constexpr std::uint64_t kAge = 1000;
  time.jiffies -= kAge * ticks_per_second();
  time.monotonic -= std::chrono::seconds(kAge);
  WindowImage image = WindowImage::starts(cpus, counters);
  window_header header = window_started(time, WINDOW_STARTS, counters, WINDOW_JIFFIES);
  image.taken = Nanoseconds(header.epoch_ns) + std::chrono::seconds(kAge + 1);
  auto width = static_cast<std::uint32_t>(counters);
  std::size_t words = image.values.size() / cpus;
  for (std::size_t cpu = 0; cpu < cpus; ++cpu) {
    __u64* totals = &image.values[cpu * words + sizeof(header) / sizeof(__u64)];
    window_header own = header;
    for (std::uint64_t second = 1; second <= kAge; ++second)
      window_add_at(&own, totals, totals + width, width, totals, 1, header.epoch + second * header.ticks_per_s);
    std::memcpy(&image.values[cpu * words], &own, sizeof(own));
  }
  return image;
}

Result<> report_reads(const Report& report, const Bench& bench) {
  HOTSET_TRY(WindowReader seven, WindowReader::open(bench.seven()));
  HOTSET_TRY(WindowReader published, WindowReader::open(bench.published()));
  HOTSET_TRY(KernelTime time, kernel_time());
  WindowImage used = used_window(seven.cpus(), seven.counters(), time);
  std::uint32_t key = 0;
  if (bpf_map_update_elem(bench.seven().window, &key, used.values.data(), BPF_ANY) != 0)
    return fail(errno_error(errno, "fill", "the rolling window"));
  HOTSET_TRY(Quartiles sums, time_calls(300, [&] { return seven.read(0); }));
  HOTSET_TRY(Quartiles minute, time_calls(300, [&] { return seven.read(60); }));
  HOTSET_TRY(Quartiles all, time_calls(300, [&] { return seven.read(); }));
  HOTSET_TRY(Quartiles peer, time_calls(30, [&] { return published.read(); }));
  HOTSET_TRY(Quartiles copy, time_calls(300, [&]() -> Result<> {
               if (bpf_map_lookup_elem(bench.seven().window, &key, used.values.data()) == 0) return {};
               return fail(errno_error(errno, "read", "the rolling window"));
             }));
  std::string name = fmt::format("read 7 counters, {} CPUs", seven.cpus());
  report.row(name, "sums", "us", sums, peer.median, kPublishedName);
  report.row(name, "sums", "us", sums, copy.median, "the system call alone");
  report.row(name, "sums_and_60_seconds", "us", minute, peer.median, kPublishedName);
  report.row(name, "sums_and_299_seconds", "us", all, peer.median, kPublishedName);
  return {};
}

// The same for any number of CPUs: a copy in memory instead of the system call.
Result<> report_simulated(const Report& report, std::size_t cpus, std::size_t counters) {
  WindowImage kernel =
      used_window(cpus, counters, {.jiffies = 1 << 30, .monotonic = std::chrono::hours(9), .boottime = {}});
  WindowImage image = kernel;
  HOTSET_TRY(Quartiles time, time_calls(20, [&] {
               std::memcpy(image.values.data(), kernel.values.data(), kernel.values.size() * sizeof(__u64));
               return WindowHistory::from(image);
             }));
  report.row(fmt::format("simulated: {} counters, {} CPUs", counters, cpus), "sums_and_299_seconds", "us", time,
             std::nullopt, "none");
  return {};
}

Result<> bench(const BenchOptions& options) {
  Bench bench;
  HOTSET_TRY(bench.object, open_skeleton<window_bench_bpf>(kName));
  HOTSET_CHECK(load_skeleton(*bench.object->skeleton, kName));
  HOTSET_TRY(bench.memory, memory_to_fault_on());
  Costs runs, faults;
  {
    Consumer consumer(*bench.object); // its threads may run anywhere
    stay_on_one_cpu();
    for (int round = 0; round < kRounds; ++round)
      HOTSET_CHECK(measure_round(bench, runs, faults));
  }
  Report report(options.json);
  report_costs(report, "test run", runs);
  report_costs(report, "page fault", faults);
  HOTSET_CHECK(report_reads(report, bench));
  for (std::size_t cpus : {2U, 128U})
    for (std::size_t counters : {1U, 7U, 12U})
      HOTSET_CHECK(report_simulated(report, cpus, counters));
  if (!options.json)
    fmt::print(
        "medians of {} rounds, over the empty program: {:.1f} ns in a test run, {:.0f} ns more than no "
        "program "
        "on a fault of {:.0f} ns\n{} records found a buffer full\n",
        kRounds, quartiles_of(runs.empty).median, quartiles_of(faults.empty).median - quartiles_of(faults.bare).median,
        quartiles_of(faults.bare).median, bench.object->bss->refused);
  return {};
}

} // namespace
} // namespace hotset

int main(int argc, char** argv) {
  return hotset::bench_main(argc, argv, hotset::bench);
}
