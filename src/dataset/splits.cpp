// SPDX-License-Identifier: Apache-2.0
#include "dataset/splits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

#include "base/units.h"

namespace hotset {
namespace {

constexpr double kHeldOutShare = 0.15; // for validation, and again for the test

// Fisher and Yates with the plain remainder: std::shuffle may differ between libraries, and a seed must not.
void shuffle(std::vector<std::size_t>& items, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::size_t i = items.size(); i > 1; --i)
    std::swap(items[i - 1], items[random() % i]);
}

std::size_t held_out(std::size_t count) {
  return std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(kHeldOutShare * static_cast<double>(count))));
}

// The samples of each data set that has any.
std::vector<std::vector<std::size_t>> by_dataset(std::span<const std::size_t> dataset_of) {
  std::map<std::size_t, std::vector<std::size_t>> members;
  for (std::size_t i = 0; i < dataset_of.size(); ++i)
    members[dataset_of[i]].push_back(i);
  std::vector<std::vector<std::size_t>> groups;
  for (auto& [dataset, samples] : members)
    groups.push_back(std::move(samples));
  return groups;
}

std::vector<std::size_t> counted(std::size_t count) {
  std::vector<std::size_t> indices(count);
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  return indices;
}

void append(std::vector<std::size_t>& part, const std::vector<std::size_t>& samples) {
  part.insert(part.end(), samples.begin(), samples.end());
}

} // namespace

Result<SplitKind> parse_split(std::string_view name) {
  if (name == "row") return SplitKind::row;
  if (name == "dataset") return SplitKind::dataset;
  return fail(ErrorCode::usage, "choose the split", fmt::format("'{}'", printable(name)), "there is none",
              "choose row or dataset");
}

std::string_view split_name(SplitKind kind) {
  return kind == SplitKind::row ? "row" : "dataset";
}

Result<Split> make_split(std::span<const std::size_t> dataset_of, SplitKind kind, std::uint64_t seed) {
  if (dataset_of.size() < kFewestRows)
    return fail(
        ErrorCode::bad_data, "split the data sets", "",
        fmt::format("{} {} too few", counted(dataset_of.size(), "usable row"), dataset_of.size() == 1 ? "is" : "are"),
        fmt::format("record longer, for at least {}", kFewestRows));
  std::vector<std::vector<std::size_t>> units = by_dataset(dataset_of);
  if (kind == SplitKind::dataset && units.size() < kFewestDatasets)
    return fail(ErrorCode::bad_data, "split by data set", "",
                fmt::format("{} of them with rows is too few", units.size()),
                fmt::format("give at least {}, or split by row", kFewestDatasets));
  if (kind == SplitKind::row) {
    units.clear();
    for (std::size_t i = 0; i < dataset_of.size(); ++i)
      units.push_back({i});
  }
  std::vector<std::size_t> order = counted(units.size());
  shuffle(order, seed);
  const std::size_t part = held_out(units.size());
  Split split;
  for (std::size_t i = 0; i < order.size(); ++i)
    append(i < part ? split.test : i < 2 * part ? split.valid : split.train, units[order[i]]);
  for (std::vector<std::size_t>* indices : {&split.train, &split.valid, &split.test})
    std::ranges::sort(*indices);
  return split;
}

std::vector<Split> leave_out_folds(std::span<const std::size_t> dataset_of, std::size_t folds, std::uint64_t seed) {
  const std::vector<std::vector<std::size_t>> units = by_dataset(dataset_of);
  std::vector<std::size_t> order = counted(units.size());
  shuffle(order, seed);
  std::vector<Split> splits(std::min(folds, units.size()));
  for (std::size_t i = 0; i < order.size(); ++i)
    for (std::size_t fold = 0; fold < splits.size(); ++fold)
      append(fold == i % splits.size() ? splits[fold].test : splits[fold].train, units[order[i]]);
  for (Split& split : splits) {
    std::ranges::sort(split.train);
    std::ranges::sort(split.test);
  }
  return splits;
}

} // namespace hotset
