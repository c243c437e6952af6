// SPDX-License-Identifier: Apache-2.0
// The table of columns, and how a row becomes a line of text.
#include <fmt/format.h>

#include <array>
#include <iterator>

#include "dataset/dataset.h"

namespace hotset {
namespace {

constexpr std::array kColumns{
    DatasetColumn{"time_s", "s", "end of the window, since the recording began", &Row::time_s},
    DatasetColumn{"dt_s", "s", "length of the window", &Row::dt_s},
    DatasetColumn{"faults", "faults", "page faults of the target in the window, as the hook counts them", &Row::faults},
    DatasetColumn{"emissions", "samples", "samples that the kernel program emitted in the window", &Row::emissions},
    DatasetColumn{"peak_faults", "faults", "the most faults that one of these samples carried", &Row::peak_faults},
    DatasetColumn{"rss_bytes", "bytes", "resident memory at the end of the window", &Row::rss_bytes},
    DatasetColumn{"cpu_s", "s", "CPU time that the target used in the window", &Row::cpu_s},
    DatasetColumn{"label_bytes", "bytes", "working set of the window, by the method that the header names",
                  &Row::label_bytes},
    DatasetColumn{"truth_bytes", "bytes", "working set of the window by the workload's own record; empty without one",
                  &Row::truth_bytes},
};

template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};

} // namespace

std::span<const DatasetColumn> dataset_columns() {
  return kColumns;
}

std::string row_text(const Row& row) {
  std::string line;
  auto out = std::back_inserter(line);
  for (const DatasetColumn& column : kColumns) {
    if (!line.empty()) line += ',';
    std::visit(Overloaded{
                   [&](double Row::* field) { fmt::format_to(out, "{}", row.*field); },
                   [&](std::uint64_t Row::* field) { fmt::format_to(out, "{}", row.*field); },
                   [&](std::optional<std::uint64_t> Row::* field) {
                     if (row.*field) fmt::format_to(out, "{}", *(row.*field));
                   },
               },
               column.field);
  }
  line += '\n';
  return line;
}

} // namespace hotset
