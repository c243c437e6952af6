// SPDX-License-Identifier: Apache-2.0
#include "dataset/samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "dataset/fingerprint.h"
#include "dataset/quantile.h"

namespace hotset {
namespace {

// The working set that was known last when the features of window `i` were taken. For the present, that of window i is
// what is to be told; for the future it has been measured already.
std::size_t last_known(std::size_t i, std::size_t horizon) {
  return horizon == 0 ? i - 1 : i;
}

void append_samples(Samples& samples, const Dataset& dataset, std::span<const Feature* const> chosen) {
  const std::vector<bool> outliers = find_outliers(dataset.rows);
  History history;
  for (std::size_t i = 0; i + samples.horizon < dataset.rows.size(); ++i) {
    history.push(dataset.rows[i]);
    if (i == 0 && samples.horizon == 0) continue;
    const Row& told = dataset.rows[i + samples.horizon];
    samples.features.append(feature_values(chosen, history));
    samples.items.push_back(
        {.dataset = samples.datasets,
         .row = i,
         .time_s = told.time_s,
         .label_bytes = static_cast<double>(told.label_bytes),
         .rss_bytes = static_cast<double>(dataset.rows[i].rss_bytes),
         .last_label_bytes = static_cast<double>(dataset.rows[last_known(i, samples.horizon)].label_bytes),
         .truth_bytes = told.truth_bytes});
    samples.outlier.push_back(outliers[i] || outliers[i + samples.horizon]);
  }
  ++samples.datasets;
}

} // namespace

Result<Samples> make_samples(std::span<const Dataset> datasets, std::span<const Feature* const> chosen,
                             std::size_t horizon) {
  Samples samples{.features = Matrix(chosen.size()), .items = {}, .outlier = {}, .horizon = horizon, .datasets = 0};
  for (const Dataset& dataset : datasets)
    append_samples(samples, dataset, chosen);
  if (samples.items.empty())
    return fail(
        ErrorCode::bad_data, "learn from the data sets", "",
        horizon == 0 ? "none of them has two rows" : fmt::format("none of them is longer than {} rows", horizon),
        horizon == 0 ? "record longer ones" : "record longer ones or look less far ahead");
  return samples;
}

Samples with_columns(const Samples& samples, std::span<const std::size_t> columns) {
  Samples fewer{.features = Matrix(columns.size()),
                .items = samples.items,
                .outlier = samples.outlier,
                .horizon = samples.horizon,
                .datasets = samples.datasets};
  std::vector<double> row(columns.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    for (std::size_t k = 0; k < columns.size(); ++k)
      row[k] = samples.features.row(i)[columns[k]];
    fewer.features.append(row);
  }
  return fewer;
}

std::vector<bool> find_outliers(std::span<const Row> rows) {
  std::vector<bool> outliers(rows.size(), false);
  if (rows.empty()) return outliers;
  using Getter = double (*)(const Row&);
  constexpr std::array<Getter, 3> kWatched{[](const Row& row) { return row.dt_s; },
                                           [](const Row& row) { return static_cast<double>(row.faults); },
                                           [](const Row& row) { return static_cast<double>(row.label_bytes); }};
  for (Getter value : kWatched) {
    std::vector<double> sorted;
    for (const Row& row : rows)
      sorted.push_back(value(row));
    std::ranges::sort(sorted);
    const double low = quantile(sorted, 0.25), high = quantile(sorted, 0.75);
    const double reach = kFarOut * (high - low);
    if (reach <= 0) continue;
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (value(rows[i]) < low - reach || value(rows[i]) > high + reach) outliers[i] = true;
  }
  return outliers;
}

std::string recording_id(const Dataset& dataset) {
  const DatasetHeader& header = dataset.header;
  Fingerprint fingerprint;
  fingerprint.add(header.host).add(header.begin_time).add(header.target).add(header.label).add(header.hook);
  fingerprint.add(fmt::format("{} {}", header.pid, header.start_ticks));
  if (!dataset.rows.empty()) fingerprint.add(row_text(dataset.rows.front()));
  return fingerprint.text();
}

Result<> check_together(std::span<const Dataset> datasets, bool mixed_hooks) {
  constexpr const char* kOperation = "use the data sets together";
  for (std::size_t i = 0; i < datasets.size(); ++i) {
    const Dataset& first = datasets.front();
    const Dataset& dataset = datasets[i];
    for (const Dataset& before : datasets.first(i))
      if (recording_id(before) == recording_id(dataset))
        return fail(ErrorCode::usage, kOperation, "",
                    fmt::format("{} and {} are one recording", before.path, dataset.path), "give each once");
    if (dataset.header.label != first.header.label)
      return fail(ErrorCode::bad_data, kOperation, "",
                  fmt::format("{} is labelled by the method {} and {} by {}", first.path, first.header.label,
                              dataset.path, dataset.header.label),
                  "give data sets of one method");
    if (!mixed_hooks && dataset.header.hook_semantics != first.header.hook_semantics)
      return fail(ErrorCode::bad_data, kOperation, "",
                  fmt::format("{} and {} were recorded by hooks that count different faults ({} and {})", first.path,
                              dataset.path, first.header.hook, dataset.header.hook),
                  "give data sets of one hook, or insist with --mixed-hooks");
  }
  return {};
}

Result<std::vector<Dataset>> load_datasets(std::span<const std::string> paths, bool mixed_hooks) {
  std::vector<Dataset> datasets;
  for (const std::string& path : paths) {
    HOTSET_TRY(Dataset dataset, load_dataset(path));
    datasets.push_back(std::move(dataset));
  }
  HOTSET_CHECK(check_together(datasets, mixed_hooks));
  return datasets;
}

} // namespace hotset
