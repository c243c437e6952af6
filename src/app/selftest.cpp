// SPDX-License-Identifier: Apache-2.0
#include "app/selftest.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/units.h"
#include "workload/program.h"
#include "workload/truth.h"

namespace hotset {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr int kWarmUp = 3; // windows: a fresh target's first answers have wide bounds, and that is right
constexpr int kWindows = 5;
constexpr Nanoseconds kWindow =
    120ms; // for each GiB: the first clear takes time in proportion, and is spread over windows
constexpr Nanoseconds kLeftAlone = 5min; // after that a workload ends by itself, whatever became of us
// Of one processor, for clearing. The exact method is exact where it may clear all: some 21 ms for each GiB.
constexpr double kBudget = 0.05, kExactBudget = 0.25;
// A workload touches more than its region, and has no record of it: stack, code, libraries.
constexpr double kBesidePages = 96;
constexpr double kHugeSlackPages = 1024; // the two ends of a contiguous hot set lie in huge pages that count whole
constexpr double kSmallShare = 0.01;     // of the pages touched: where errors are told as a share of the WSS, too
constexpr double kErrorOfRss = 0.01;     // what a sampled estimate may be wrong by, in the median

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

Nanoseconds window_of(const SelftestCell& cell) {
  return kWindow * std::max<std::uint64_t>(1, cell.rss_bytes >> 30);
}

double pages(std::uint64_t bytes) {
  return static_cast<double>(bytes) / static_cast<double>(page_bytes());
}

struct Sums {
  std::vector<double> error, of_wss, width, cpu;
};

// The meter's window and the record's can't begin at the same instant. What was touched between the two instants may or
// may not be in the answer: the truth is between the pages of the inner window and those of the outer one.
struct Truth {
  double inner = 0;
  std::vector<bool> outer;

  void add(const std::vector<bool>& touched, bool is_inner) {
    outer.resize(touched.size());
    for (std::size_t page = 0; page < touched.size(); ++page) {
      if (!touched[page]) continue;
      outer[page] = true;
      if (is_inner) ++inner;
    }
  }
  // Pages of the record itself, which its writer touches: a stamp of four bytes for each page, in two tables in turns.
  [[nodiscard]] double record_pages() const {
    const std::size_t stamps = page_bytes() / 4;
    double pages = 0;
    for (std::size_t first = 0; first < outer.size(); first += stamps)
      pages += std::ranges::any_of(outer.begin() + static_cast<std::ptrdiff_t>(first),
                                   outer.begin() + static_cast<std::ptrdiff_t>(std::min(first + stamps, outer.size())),
                                   [](bool touched) { return touched; });
    return 2 * pages;
  }
  [[nodiscard]] double outer_pages() const { return static_cast<double>(std::ranges::count(outer, true)); }
};

void judge(SelftestResult& result, const Method& method) {
  auto says = [&](Verdict verdict, std::string why) {
    result.verdict = verdict;
    result.why = std::move(why);
  };
  if (method.misses_cached) return says(Verdict::unjudged, "leaves the TLB alone: too low for what stays in it");
  if (result.cell.huge && result.error_of_rss > kErrorOfRss)
    return says(Verdict::unjudged, "huge pages count whole: an upper bound");
  if (result.covered < result.windows - 1) return says(Verdict::fail, "the interval missed the truth too often");
  bool near = result.error_of_rss <= kErrorOfRss || result.width_of_rss <= 2 * kErrorOfRss;
  if (!near) return says(Verdict::fail, "the error is above 1 % of the RSS");
  says(Verdict::pass, "");
}

} // namespace

std::vector<SelftestCell> selftest_cells(bool full) {
  std::vector<SelftestCell> cells;
  const std::vector<std::uint64_t> sizes =
      full ? std::vector<std::uint64_t>{16 * kMiB, 256 * kMiB, 1024 * kMiB, 4096 * kMiB}
           : std::vector<std::uint64_t>{16 * kMiB, 256 * kMiB};
  const std::vector<double> shares =
      full ? std::vector<double>{0.001, 0.01, 0.1, 0.5, 1.0} : std::vector<double>{0.01, 0.1, 1.0};
  const std::vector<std::string_view> patterns =
      full ? std::vector<std::string_view>{"sequential", "uniform", "zipf", "strided", "phase"}
           : std::vector<std::string_view>{"sequential"};
  for (std::string_view pattern : patterns)
    for (std::uint64_t size : sizes)
      for (double hot : shares)
        for (bool scattered : {false, true})
          for (bool shared : {false, true})
            for (bool huge : {false, true}) {
              if (shared && huge) continue;          // shared memory is huge only by another switch
              if (scattered && hot == 1.0) continue; // the same as contiguous
              if (!full && (shared || huge) && (scattered || hot != 0.1)) continue;
              cells.push_back({pattern, size, hot, scattered, shared, huge});
            }
  return cells;
}

Result<SelftestResult> run_selftest_cell(const SelftestCell& cell, const Method& method, Clock& clock) {
  HOTSET_TRY(const Pattern* pattern, find_pattern(cell.pattern));
  WorkloadSpec spec = default_spec(*pattern);
  spec.rss_bytes = cell.rss_bytes;
  spec.hot = cell.hot;
  spec.scattered = cell.scattered;
  spec.shared = cell.shared;
  spec.huge = cell.huge;
  const double budget = method.name == "exact" ? kExactBudget : kBudget;
  SelftestResult result{.cell = cell, .method = method.name, .budget = budget, .why = ""};
  spec.limit = (kWarmUp + kWindows) * window_of(cell) + kLeftAlone;
  if (Result<> fits = check_spec(spec, Files()); !fits) {
    result.why = fits.error().cause;
    return result;
  }
  HOTSET_TRY(WorkloadProgram workload, WorkloadProgram::start("/proc/self/exe", spec));
  HOTSET_TRY(Process target, find_process(Files(), workload.pid()));
  HOTSET_TRY(TruthReader truth, TruthReader::open(Files(), target.id));
  MeterOptions options{.window = window_of(cell), .budget = budget};
  Result<std::unique_ptr<Meter>> meter = method.open(Files(), target, clock, options);
  if (!meter) {
    result.why = to_sentence(meter.error());
    return result;
  }

  Sums sums;
  const double beside = kBesidePages + (cell.huge ? kHugeSlackPages : 0);
  for (int window = -kWarmUp; window < kWindows; ++window) {
    Truth known;
    truth.next_window();
    HOTSET_CHECK((*meter)->begin());
    known.add(truth.touched(truth.next_window()), false);
    clock.sleep_until(clock.now() + window_of(cell));
    known.add(truth.touched(truth.next_window()), true);
    HOTSET_TRY(Estimate estimate, (*meter)->read());
    known.add(truth.touched(truth.next_window()), false);
    if (truth.broken())
      return fail(ErrorCode::internal, "read the record of", "the workload", "the kernel refused a page of it");
    if (window < 0 || !estimate.wss || !estimate.rss_bytes) continue;
    double rss = pages(*estimate.rss_bytes), wss = pages(estimate.wss->bytes), low = pages(estimate.wss->low_bytes),
           high = pages(estimate.wss->high_bytes), most = known.outer_pages() + known.record_pages() + beside;
    const double error = std::max({0.0, known.inner - wss, wss - most});
    sums.error.push_back(error / rss);
    sums.of_wss.push_back(error / std::max(1.0, known.inner));
    sums.width.push_back((high - low) / rss);
    sums.cpu.push_back(estimate.cost.cpu_s * 1e3);
    result.covered += (cell.huge || low <= most) && known.inner <= high; // a huge page counts whole: a bound from above
    result.truth_pages = static_cast<std::uint64_t>(known.inner);
    ++result.windows;
  }
  if (result.windows == 0) {
    result.why = "it tells no working set";
    return result;
  }
  result.error_of_rss = median(sums.error);
  result.error_of_wss = median(sums.of_wss);
  result.width_of_rss = median(sums.width);
  result.cpu_ms = median(sums.cpu);
  judge(result, method);
  return result;
}

void SelftestSummary::add(const SelftestResult& result) {
  if (result.windows == 0) return;
  auto tally = std::ranges::find(tallies_, result.method, &Tally::method);
  if (tally == tallies_.end()) tally = tallies_.insert(tally, {result.method, {}, {}});
  if (result.cell.huge) { // a huge page counts whole: an upper bound, and no error
    tally->huge_windows += result.windows;
    return;
  }
  tally->of_rss.push_back(result.error_of_rss);
  if (result.cell.hot == kSmallShare) tally->of_wss.push_back(result.error_of_wss);
  tally->covered += result.covered;
  tally->windows += result.windows;
}

std::vector<std::string> SelftestSummary::lines() const {
  std::vector<std::string> lines;
  for (const Tally& tally : tallies_) {
    if (tally.of_rss.empty()) continue;
    const std::string huge =
        tally.huge_windows == 0
            ? ""
            : fmt::format("; {} more of huge pages are left out, which count whole", tally.huge_windows);
    std::string of_wss =
        tally.of_wss.empty() ? "" : fmt::format(", {:.2f} % of the WSS where 1 % is hot", median(tally.of_wss) * 100);
    lines.push_back(fmt::format("{}: median error {:.3f} % of the RSS{}; the truth was within in {} of {} windows{}",
                                tally.method, median(tally.of_rss) * 100, of_wss, tally.covered, tally.windows, huge));
  }
  return lines;
}

} // namespace hotset
