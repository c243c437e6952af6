// SPDX-License-Identifier: Apache-2.0
// How often the sampled interval holds the truth, and how wide it is beside the normal-theory interval for the same
// draws: 10,000 samples of each of some populations whose total is known.
//
// The populations are a target's frame in blocks of 64 pages. Those called "rare" are where the normal interval does
// not hold: its coverage beside ours is the reason why it is not used.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <random>
#include <string_view>
#include <vector>

#include "access/interval.h"
#include "access/sample.h"
#include "main.h"
#include "row.h"

namespace hotset {
namespace {

constexpr int kSamples = 10'000;
constexpr double kConfidence = 0.95;
constexpr unsigned kBlock = 64;

enum class Kind { mixed, whole, even };

struct Case {
  std::string_view name;
  Kind kind; // blocks of every ratio, blocks touched whole or not at all, pages touched independently
  double share;
  std::size_t blocks, drawn;
};

constexpr std::array kCases{
    Case{"mixed-32", Kind::mixed, 0.3, 3500, 32},         Case{"mixed-64", Kind::mixed, 0.3, 3500, 64},
    Case{"mixed-256", Kind::mixed, 0.3, 3500, 256},       Case{"whole-half-64", Kind::whole, 0.5, 3500, 64},
    Case{"whole-tenth-128", Kind::whole, 0.1, 3500, 128}, Case{"rare-whole-64", Kind::whole, 0.001, 3500, 64},
    Case{"rare-even-64", Kind::even, 0.002, 3500, 64},    Case{"few-16-of-24", Kind::mixed, 0.5, 24, 16},
};

struct Population {
  Frame frame;
  std::vector<PageMask> touched; // by table
  double total = 0;
};

Population populate(const Case& one, RandomEngine& random) {
  std::uniform_real_distribution<double> uniform;
  Population population;
  for (std::size_t block = 0; block < one.blocks; block += kTablePages / kBlock) {
    PageMask set, touched;
    for (unsigned first = 0; first < kTablePages; first += kBlock) {
      double ratio = one.share;
      if (one.kind == Kind::mixed) ratio = uniform(random) * (uniform(random) < one.share ? 1 : one.share);
      if (one.kind == Kind::whole) ratio = uniform(random) < one.share;
      const auto size = static_cast<unsigned>(1 + random() % kBlock);
      for (unsigned page = first; page < first + size; ++page) {
        set.set(page);
        if (uniform(random) < ratio) touched.set(page);
      }
    }
    population.frame.add(static_cast<std::uint32_t>(population.touched.size()), set, false);
    population.touched.push_back(touched);
    population.total += touched.count();
  }
  return population;
}

struct Tally {
  double covered = 0, width = 0;
  void add(double low, double high, double total) {
    covered += low <= total && total <= high;
    width += high - low;
  }
};

void print(const Case& one, std::string_view metric, double ours, double normal, bool json) {
  const double ratio = metric == "width" ? normal / ours : ours / normal;
  if (json)
    print_json({.bench = "interval",
                .name = one.name,
                .metric = metric,
                .unit = "%",
                .hotset = ours,
                .peer = normal,
                .peer_name = "normal",
                .ratio = normal > 0 ? std::optional(ratio) : std::nullopt,
                .spread = std::nullopt});
  else
    fmt::print("{:<18}{:<10}{:>9.2f}{:>9.2f} %\n", one.name, metric, ours, normal);
}

void measure(const Case& one, bool json) {
  RandomEngine random(one.blocks + one.drawn);
  const Population population = populate(one, random);
  const auto pages = population.frame.pages();
  Tally ours, normal;
  for (int sample = 0; sample < kSamples; ++sample) {
    std::vector<Draw> draws;
    for (const Unit& unit : population.frame.draw(one.drawn, kBlock, random)) {
      const unsigned touched = (unit.pages & population.touched[unit.table]).count();
      draws.push_back({unit.pages.count(), touched, touched});
    }
    const Interval interval = betting_interval(draws, pages, kConfidence, {});
    ours.add(interval.low, interval.high, population.total);
    const double error = 1.96 * std::sqrt(ratio_variance(draws) / static_cast<double>(draws.size()));
    const double estimate = drawn_total(draws, pages), half = error * static_cast<double>(pages);
    normal.add(estimate - half, estimate + half, population.total);
  }
  const double of = kSamples / 100.0, of_pages = of * static_cast<double>(pages);
  print(one, "coverage", ours.covered / of, normal.covered / of, json);
  print(one, "width", ours.width / of_pages, normal.width / of_pages, json);
}

Result<> bench(const BenchOptions& options) {
  if (!options.json) fmt::print("{:<18}{:<10}{:>9}{:>9}\n", "CASE", "METRIC", "HOTSET", "NORMAL");
  for (const Case& one : kCases)
    measure(one, options.json);
  return {};
}

} // namespace
} // namespace hotset

int main(int argc, char** argv) {
  return hotset::bench_main(argc, argv, hotset::bench);
}
