// SPDX-License-Identifier: Apache-2.0
// What holding a policy costs an open and a close of the same files: no program, matches kept, and a walk each time;
// and what it costs a system call that opens nothing.
//
// The cases alternate in many rounds, so that what else the machine does hits all alike. Counted is the CPU time of
// this thread, in which the programs run. Depth is the number of names in a path; a real one has 5 to 8, and package
// trees (node_modules, container layers) have 15.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
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
#include "main.h"
#include "policy/compiled.h"
#include "quartiles.h"
#include "row.h"

namespace {

using namespace hotset;

constexpr int kRounds = 15;
constexpr int kFiles = 64;
constexpr int kPasses = 60;

enum class Way { none, kept, walked };
constexpr std::array kWays{Way::none, Way::kept, Way::walked};

struct Case {
  std::string name;
  std::vector<std::string> files; // empty: a system call that opens nothing
  std::array<std::vector<double>, kWays.size()> ns;
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

double measure(const Case& one) {
  Nanoseconds before = read_clock(CLOCK_THREAD_CPUTIME_ID);
  for (int pass = 0; pass < kPasses; ++pass) {
    for (const std::string& file : one.files)
      Fd opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (one.files.empty())
      for (int i = 0; i < kFiles; ++i)
        ::syscall(SYS_getppid);
  }
  return static_cast<double>((read_clock(CLOCK_THREAD_CPUTIME_ID) - before).count()) / (kPasses * kFiles);
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

Result<> run_round(std::span<Case> cases, Way way) {
  std::optional<Guard> guard;
  if (way != Way::none) {
    GuardOptions options;
    options.hook = GUARD_CALLS;
    options.cache = way == Way::kept;
    HOTSET_TRY(CompiledPolicy compiled, policy());
    HOTSET_TRY(guard, Guard::start(std::move(compiled), options));
  }
  for (Case& one : cases) {
    measure(one); // fills
    one.ns.at(static_cast<std::size_t>(way)).push_back(measure(one));
  }
  return {};
}

struct Costs {
  Quartiles none, kept, walked;
};

Costs costs_of(const Case& one) {
  return {quartiles_of(one.ns[0]), quartiles_of(one.ns[1]), quartiles_of(one.ns[2])};
}

// `hook`: what the hook alone adds to an open and a close, which no cache can save.
void print_row(const Case& one, double hook, bool json) {
  auto [none, kept, walked] = costs_of(one);
  double added = kept.median - none.median, added_by_walking = walked.median - none.median;
  double judging = added - hook, judging_by_walking = added_by_walking - hook;
  double spread = kept.spread();
  if (!json) {
    fmt::print("{:<28} {:>7.0f} {:>7.0f} {:>7.0f} {:>8.0f} {:>8.0f} {:>6.1f} {:>8.0f} {:>8.0f} {:>6.1f} {:>7.0f}\n",
               one.name, none.median, kept.median, walked.median, added, added_by_walking, added_by_walking / added,
               judging, judging_by_walking, judging_by_walking / judging, spread);
    return;
  }
  auto row = [&](std::string_view metric, double ours, double peer, std::string_view name) {
    print_json({.bench = "policy",
                .name = one.name,
                .metric = metric,
                .unit = "ns",
                .hotset = ours,
                .peer = peer,
                .peer_name = name,
                .ratio = peer / ours,
                .spread = spread,
                .spread_of = "hotset"});
  };
  row("cpu", kept.median, none.median, "none");
  row("cpu_added", added, added_by_walking, "walk");
  row("cpu_judging", judging, judging_by_walking, "walk");
}

Result<> bench(const BenchOptions& options) {
  std::string top = "/var/tmp/hotset-bench-XXXXXX";
  if (::mkdtemp(top.data()) == nullptr) return fail(errno_error(errno, "make", "a folder for the files"));
  std::vector<Case> cases;
  for (int depth : {4, 8, 15})
    cases.push_back({fmt::format("open and close, {} names deep", depth), make_files(top, depth), {}});
  cases.push_back({"a system call that opens nothing", {}, {}});
  Result<> done;
  for (int round = 0; round < kRounds && done; ++round)
    for (Way way : kWays)
      if (done) done = run_round(cases, way);
  std::filesystem::remove_all(top);
  HOTSET_CHECK(done);
  const Case nothing = std::move(cases.back());
  cases.pop_back();
  Costs idle = costs_of(nothing);
  double hook = idle.kept.median - idle.none.median;
  if (!options.json)
    fmt::print("{:<28} {:>7} {:>7} {:>7} {:>8} {:>8} {:>6} {:>8} {:>8} {:>6} {:>7}\n", "open and close, ns", "none",
               "kept", "walked", "+kept", "+walked", "ratio", "judging", "walking", "ratio", "spread");
  for (const Case& one : cases)
    print_row(one, 2 * hook, options.json);
  if (options.json) {
    print_json({.bench = "policy",
                .name = nothing.name,
                .metric = "cpu",
                .unit = "ns",
                .hotset = idle.kept.median,
                .peer = idle.none.median,
                .peer_name = "none",
                .ratio = idle.none.median / idle.kept.median,
                .spread = idle.kept.spread(),
                .spread_of = "hotset"});
    return {};
  }
  fmt::print("{}: {:.0f} ns, with the hook {:.0f} ns\n", nothing.name, idle.none.median, idle.kept.median);
  fmt::print("judging, walking: what is added less the hook's own price, which is that of two such calls\n");
  fmt::print("median of {} alternating rounds of {} opens; spread: between the quartiles of 'kept'\n", kRounds,
             kPasses * kFiles);
  return {};
}

} // namespace

int main(int argc, char** argv) {
  return bench_main(argc, argv, bench);
}
