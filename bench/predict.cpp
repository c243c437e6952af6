// SPDX-License-Identifier: Apache-2.0
// What one prediction costs: LightGBM's single-row fast path, as hotset estimate uses it, against the general call for
// one row, in turns, in one run.
//
// The peer sets up its configuration and threads anew in every call, as a program would that only knows how to predict
// matrices. Numbers are medians over the repetitions, which Google Benchmark interleaves at random; the spread is the
// distance between the quartiles of the ratios. "live" is all of a live prediction: features, scaling, trees, interval.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <array>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "main.h"
#include "model/train.h"
#include "quartiles.h"
#include "row.h"

namespace hotset {
namespace {

constexpr int kRepetitions = 11;
constexpr double kSeconds = 0.02; // of each

// A recording with every feature in motion, so that the trees have something to split.
Dataset made_up(int number) {
  std::mt19937_64 random(static_cast<std::uint64_t>(number));
  Dataset dataset;
  dataset.header.pid = number;
  dataset.header.label = "made-up";
  double time_s = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t pages = 100 + random() % 4000;
    time_s += 0.1;
    dataset.rows.push_back({.time_s = time_s,
                            .dt_s = 0.1 + 1e-5 * static_cast<double>(random() % 1000),
                            .faults = pages + random() % 200,
                            .emissions = pages / 100,
                            .peak_faults = 100 + random() % 20,
                            .rss_bytes = 4096 * (5000 + random() % 1000),
                            .cpu_s = 1e-4 * static_cast<double>(random() % 1000),
                            .label_bytes = 4096 * pages,
                            .truth_bytes = std::nullopt});
  }
  return dataset;
}

struct Case {
  std::string name;
  Model model;
  History history;
  std::vector<double> row;
};

Case make_case(const std::string& preset) {
  const std::array datasets{made_up(1)};
  Model model = train(datasets, {.preset = preset}, {}).value().model;
  History history;
  for (std::size_t i = 0; i < kHistoryWindows; ++i)
    history.push(datasets[0].rows[i]);
  std::vector<double> row = feature_values(model.features(), history);
  model.info().scaler.apply(row);
  return {preset, std::move(model), std::move(history), std::move(row)};
}

// Times per repetition by the benchmark's name; nothing is printed on the way.
class Collector : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs)
      if (run.run_type == Run::RT_Iteration) times_[run.run_name.function_name].push_back(run.GetAdjustedRealTime());
  }
  [[nodiscard]] std::vector<double> times(const std::string& name) const { return times_.at(name); }

 private:
  std::map<std::string, std::vector<double>> times_;
};

template <class Call>
void add(const std::string& name, Call call) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [call](benchmark::State& state) {
                                 for (auto _ : state)
                                   benchmark::DoNotOptimize(call());
                               })
      ->Repetitions(kRepetitions)
      ->MinTime(kSeconds)
      ->Unit(benchmark::kMicrosecond);
}

void print(const Collector& collector, const std::string& name, const std::string& ours, const std::string& peer,
           bool json) {
  const std::vector<double> mine = collector.times(ours), theirs = collector.times(peer);
  PairedRounds rounds;
  for (std::size_t i = 0; i < mine.size(); ++i)
    rounds.add(mine[i], theirs[i], theirs[i] / mine[i]);
  const BenchRow row = rounds.row(
      {.bench = "predict", .name = name, .metric = "row", .unit = "us", .peer_name = "LGBM_BoosterPredictForMat"});
  if (json)
    print_json(row);
  else
    fmt::print("{:<12}{:>12.2f}{:>12.2f}{:>9.2f}{:>9.2f}\n", name, row.hotset, *row.peer, *row.ratio, *row.spread);
}

Result<> bench(const BenchOptions& options) {
  if (!lightgbm_available())
    return fail(ErrorCode::unsupported, "predict", "", "this build has no LightGBM", "run ./run setup and build again");
  std::array<char*, 2> arguments{program_invocation_name,
                                 const_cast<char*>("--benchmark_enable_random_interleaving=true")};
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  std::vector<Case> cases;
  for (const char* preset : {"paper", "full"})
    cases.push_back(make_case(preset));
  for (Case& one : cases) {
    add(one.name + "/fast", [&one] { return one.model.booster().predict(one.row).value(); });
    add(one.name + "/plain", [&one] { return one.model.booster().predict_plain(one.row).value(); });
    add(one.name + "/live", [&one] { return one.model.predict(one.history, std::uint64_t{1} << 30).value().bytes; });
  }
  Collector collector;
  benchmark::RunSpecifiedBenchmarks(&collector);
  if (!options.json) fmt::print("{:<12}{:>12}{:>12}{:>9}{:>9}\n", "CASE", "HOTSET us", "PLAIN us", "RATIO", "SPREAD");
  for (const Case& one : cases) {
    print(collector, one.name, one.name + "/fast", one.name + "/plain", options.json);
    print(collector, one.name + "-live", one.name + "/live", one.name + "/plain", options.json);
  }
  return {};
}

} // namespace
} // namespace hotset

int main(int argc, char** argv) {
  return hotset::bench_main(argc, argv, hotset::bench);
}
