// SPDX-License-Identifier: Apache-2.0
// What holding a policy costs an open and a close of the same files: no program, one that does nothing, matches kept,
// and a walk each time; and what it costs a system call that opens nothing.
//
// The cases alternate in many rounds, so that what else the machine does hits all alike. Counted is the CPU time of
// this thread, in which the programs run. Depth is the number of names in a path; a real one has 5 to 8, and package
// trees (node_modules, container layers) have 15.
//
// With --instructions it is the hook of the LSM, in a guest whose clocks advance by a nanosecond with each instruction
// (tests/vm/guest.py, configuration icount). Whether they do is looked at first, with a loop of known length. They are
// the same each time, so that all samples of a case are taken in a row.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "guard/guard.h"
#include "kernel/loader.h"
#include "main.h"
#include "policy/compiled.h"
#include "policy_bench.skel.h"
#include "quartiles.h"
#include "row.h"

namespace {

using namespace hotset;

constexpr std::string_view kUsage = R"(usage: hotset_bench_policy [--json] [--instructions]

  --json          one object a row, no table
  --instructions  executed instructions instead of time, of the hook of the LSM; in a guest made for it:
                  ./run vm 6.12 --config lsm-bpf+icount --job policy-cost
)";

constexpr int kFiles = 64;

enum class Way { none, empty, kept, walked };
constexpr std::array kWays{Way::none, Way::empty, Way::kept, Way::walked};

// What is measured, and how often: instructions are the same each time, but for a tick of the clock now and then.
struct Measure {
  std::string_view bench, unit;
  guard_hook hook;
  int rounds;  // in which the programs are loaded anew
  int samples; // a round
  int passes;  // over all files, a sample
  bool exact;  // instructions
  std::string machine;
};

struct Case {
  std::string name;
  std::vector<std::string> files; // empty: a system call that opens nothing
  std::array<std::vector<double>, kWays.size()> cost;
};

// A folder with kFiles files, as many names below the root as that.
std::vector<std::string> make_files(const std::string& top, int depth) {
  std::string folder = top;
  for (auto have = std::ranges::count(top, '/'); have < depth - 1; ++have)
    folder += fmt::format("/component{:02}", have);
  std::filesystem::create_directories(folder);
  std::vector<std::string> files;
  for (int i = 0; i < kFiles; ++i) {
    files.push_back(fmt::format("{}/file-{:03}.conf", folder, i));
    std::ofstream(files.back()) << '.';
  }
  return files;
}

double measure(const Case& one, int passes) {
  Nanoseconds before = read_clock(CLOCK_THREAD_CPUTIME_ID);
  for (int pass = 0; pass < passes; ++pass) {
    for (const std::string& file : one.files)
      Fd opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (one.files.empty())
      for (int i = 0; i < kFiles; ++i)
        ::syscall(SYS_getppid);
  }
  return static_cast<double>((read_clock(CLOCK_THREAD_CPUTIME_ID) - before).count()) / (passes * kFiles);
}

// Nanoseconds by the clock for each instruction of a loop that has two.
double ns_per_instruction() {
  constexpr long kTurns = 1'000'000;
  Nanoseconds before = read_clock(CLOCK_THREAD_CPUTIME_ID);
  long turns = kTurns;
  asm volatile("1: dec %0\n\tjnz 1b" : "+r"(turns) : : "cc");
  return static_cast<double>((read_clock(CLOCK_THREAD_CPUTIME_ID) - before).count()) / (2.0 * kTurns);
}

Result<Measure> choose_measure(const BenchOptions& options) {
  Measure time{.bench = "policy",
               .unit = "ns",
               .hook = GUARD_CALLS,
               .rounds = 15,
               .samples = 1,
               .passes = 60,
               .exact = false,
               .machine = {}};
  if (options.cases.empty()) return time;
  constexpr double kExact = 0.01;
  if (options.cases.size() > 1 || options.cases[0] != "--instructions")
    return fail(ErrorCode::usage, "run the benchmark", "", fmt::format("there is no option {}", options.cases[0]),
                "--help tells those there are");
  if (double each = ns_per_instruction(); std::abs(each - 1) > kExact)
    return fail(ErrorCode::unsupported, "count instructions", "",
                fmt::format("the clocks advance by {:.3f} ns with each instruction, not by 1 ns", each),
                "run it in a guest: ./run vm 6.12 --config lsm-bpf+icount --job policy-cost");
  utsname names{};
  ::uname(&names);
  return Measure{.bench = "policy_instructions",
                 .unit = "instructions",
                 .hook = GUARD_LSM,
                 .rounds = 1,
                 .samples = 15,
                 .passes = 1,
                 .exact = true,
                 .machine = fmt::format("Linux {} in an emulated guest, executed instructions", names.release)};
}

// Rules for other places, a glob among them, so that the automaton has to read all of a path.
Result<CompiledPolicy> policy() {
  constexpr std::string_view kPolicy = R"(
mode = "audit"
default = "allow"
unknown = "allow"
[[rule]]
path = "/etc/ssl/private/"
action = "deny"
[[rule]]
path = "/home/*/.ssh/"
action = "deny"
[[rule]]
path = "/srv/**/secret-?.key"
action = "deny"
)";
  HOTSET_TRY(Policy parsed, without_flaws(parse_policy(kPolicy, "bench")));
  return compile_policy(std::move(parsed));
}

// A program that does nothing, at the same hook.
struct Empty {
  Skeleton<policy_bench_bpf> object;
  Attachment attached; // goes first
};

Result<Empty> attach_empty(guard_hook hook) {
  constexpr std::string_view kName = "an empty program";
  Empty empty;
  HOTSET_TRY(empty.object, open_skeleton<policy_bench_bpf>(kName));
  bool lsm = hook == GUARD_LSM;
  HOTSET_CHECK(load_only(*empty.object, lsm ? "empty_file_open" : "empty_sys_exit", kName));
  const auto& programs = empty.object->progs;
  HOTSET_TRY(empty.attached, attach(*(lsm ? programs.empty_file_open : programs.empty_sys_exit), kName));
  return empty;
}

Result<> run_round(std::span<Case> cases, const Measure& how, Way way) {
  std::optional<Empty> empty;
  std::optional<Guard> guard;
  if (way == Way::empty) {
    HOTSET_TRY(empty, attach_empty(how.hook));
  } else if (way != Way::none) {
    GuardOptions options;
    options.hook = how.hook;
    options.cache = way == Way::kept;
    HOTSET_TRY(CompiledPolicy compiled, policy());
    HOTSET_TRY(guard, Guard::start(std::move(compiled), options));
    if (options.cache) HOTSET_CHECK(guard->keeps());
  }
  for (Case& one : cases) {
    measure(one, how.passes); // fills
    for (int sample = 0; sample < how.samples; ++sample)
      one.cost.at(static_cast<std::size_t>(way)).push_back(measure(one, how.passes));
  }
  return {};
}

// What one costs more than the other: nothing, where it is less than a unit, for opens of 64 files are divided by 64.
double less(double cost, double other) {
  double more = cost - other;
  return std::abs(more) < 1 ? 0 : more;
}

struct Costs {
  double none, empty, kept, walked;
  double spread; // of kept
};

// A tick of the clock only adds instructions, so of these the least are exact. Of times it is the median that counts.
Costs costs_of(const Case& one, const Measure& how) {
  auto cost = [&](Way way) {
    const std::vector<double>& samples = one.cost.at(static_cast<std::size_t>(way));
    return how.exact ? std::ranges::min(samples) : quartiles_of(samples).median;
  };
  return {.none = cost(Way::none),
          .empty = cost(Way::empty),
          .kept = cost(Way::kept),
          .walked = cost(Way::walked),
          .spread = less(quartiles_of(one.cost.at(static_cast<std::size_t>(Way::kept))).spread(), 0)};
}

void print_rows(const Case& one, const Measure& how) {
  auto [none, empty, kept, walked, spread] = costs_of(one, how);
  auto row = [&](std::string_view metric, double ours, double peer, std::string_view name) {
    print_json({.bench = how.bench,
                .name = one.name,
                .metric = metric,
                .unit = how.unit,
                .hotset = ours,
                .peer = peer,
                .peer_name = name,
                .ratio = ours > 0 ? std::optional(peer / ours) : std::nullopt,
                .spread = spread,
                .spread_of = "hotset",
                .machine = how.machine});
  };
  row("cpu", kept, none, "none");
  row("cpu_added", less(kept, none), less(empty, none), "empty program");
  if (one.files.empty()) return;
  row("cpu_added", less(kept, none), less(walked, none), "walk");
  row("cpu_judging", less(kept, empty), less(walked, empty), "walk");
}

void print_table(std::span<const Case> cases, const Measure& how) {
  constexpr std::string_view kLine = "{:<34} {:>7} {:>7} {:>7} {:>7} {:>6} {:>8} {:>8} {:>6} {:>7}\n";
  auto number = [](double value) { return fmt::format("{:.0f}", value); };
  auto ratio = [](double value) { return std::isfinite(value) ? fmt::format("{:.1f}", value) : "-"; };
  fmt::print(kLine, how.unit, "none", "+empty", "+kept", "+walked", "ratio", "judging", "walking", "ratio", "spread");
  for (const Case& one : cases) {
    auto [none, empty, kept, walked, spread] = costs_of(one, how);
    fmt::print(kLine, one.name, number(none), number(less(empty, none)), number(less(kept, none)),
               number(less(walked, none)), ratio(less(walked, none) / less(kept, none)), number(less(kept, empty)),
               number(less(walked, empty)), ratio(less(walked, empty) / less(kept, empty)), number(spread));
  }
  fmt::print("+: what is added; judging, walking: more than a program adds that does nothing\n");
  fmt::print("{} of {} samples of {} opens, {}; spread: between the quartiles of 'kept'\n",
             how.exact ? "least" : "median", how.rounds * how.samples, how.passes * kFiles,
             how.samples > 1 ? "in a row" : "in turn with the other cases");
}

Result<> bench(const BenchOptions& options) {
  HOTSET_TRY(Measure how, choose_measure(options));
  std::string top = "/var/tmp/hotset-bench-XXXXXX";
  std::filesystem::create_directories("/var/tmp");
  if (::mkdtemp(top.data()) == nullptr) return fail(errno_error(errno, "make", "a folder for the files"));
  std::vector<Case> cases;
  for (int depth : {4, 8, 15})
    cases.push_back({fmt::format("open and close, {} names deep", depth), make_files(top, depth), {}});
  cases.push_back({"a system call that opens nothing", {}, {}});
  Result<> done;
  for (int round = 0; round < how.rounds && done; ++round)
    for (Way way : kWays)
      if (done) done = run_round(cases, how, way);
  std::filesystem::remove_all(top);
  HOTSET_CHECK(done);
  if (!options.json)
    print_table(cases, how);
  else
    for (const Case& one : cases)
      print_rows(one, how);
  return {};
}

} // namespace

int main(int argc, char** argv) {
  if (std::ranges::count(std::span(argv, static_cast<std::size_t>(argc)), std::string_view("--help")) > 0) {
    fmt::print("{}", kUsage);
    return 0;
  }
  return bench_main(argc, argv, bench);
}
