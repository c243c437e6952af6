// SPDX-License-Identifier: Apache-2.0
// Data sets: one row per window of one target, as CSV that any tool reads (docs/dataset.md).
//
//   # hotset dataset
//   # {"schema":"hotset.dataset/1","host":…,"kernel":…,"hook":…,"target":{…},"label":"reference",…}
//   time_s,dt_s,faults,emissions,peak_faults,rss_bytes,cpu_s,label_bytes,truth_bytes
//   0.010021,0.010021,42,…
//
// Append-safe: each row is one write(2) of one whole line, so a recorder that is killed leaves at most a last line
// without its line feed, which the reader drops and reports.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace hotset {

inline constexpr std::string_view kDatasetSchema = "hotset.dataset/1";
// No quantity of a row is larger: above 2^53 a double no longer holds every whole number.
inline constexpr std::uint64_t kLargestValue = std::uint64_t{1} << 53;

// What was observed of the target in one window; the raw material of the features.
struct Row {
  double time_s = 0;                        // end of the window, since the recording began
  double dt_s = 0;                          // effective length of the window
  std::uint64_t faults = 0;                 // page faults within it, with the hook's semantics
  std::uint64_t emissions = 0;              // samples the kernel emitted within it
  std::uint64_t peak_faults = 0;            // the most faults that one of these samples carried, 0 without samples
  std::uint64_t rss_bytes = 0;              // at its end
  double cpu_s = 0;                         // CPU time the target used in it
  std::uint64_t label_bytes = 0;            // working set of the same window, by the method named in the header
  std::optional<std::uint64_t> truth_bytes; // the same by the workload's own record, where it publishes one

  bool operator==(const Row&) const = default;
};

// The columns, in the order of the file: names, reading, writing and the documentation derive from this table.
struct DatasetColumn {
  std::string_view name;
  std::string_view unit;
  std::string_view meaning;
  std::variant<double Row::*, std::uint64_t Row::*, std::optional<std::uint64_t> Row::*> field;
};

std::span<const DatasetColumn> dataset_columns();

struct DatasetHeader {
  std::string host, kernel;
  std::string hook;           // Hook::name
  std::string hook_semantics; // Hook::semantics
  std::string transport;
  std::string target; // command line, fit to print
  std::string comm;
  int pid = 0;
  std::uint64_t start_ticks = 0;
  double interval_s = 0;  // longest window asked for
  std::string label;      // method of label_bytes: "reference"
  std::string begin_time; // UTC
  std::string group;      // what rows of several files have in common, e.g. "array-fresh"; free text
  std::string hotset_version;

  bool operator==(const DatasetHeader&) const = default;
};

struct Dataset {
  std::string path;
  DatasetHeader header;
  std::vector<Row> rows;
  bool truncated = false; // the last line was not whole and was dropped
};

// Checks everything: header, schema version (a newer one is refused by name), column names, the number of fields,
// finite and non-negative values up to kLargestValue, windows longer than nothing, time that grows. Errors (bad_data)
// name the line. A data set without rows is valid. At most 1 GiB.
Result<Dataset> parse_dataset(std::string_view text, std::string path);
Result<Dataset> load_dataset(const std::string& path);

// The three lines in front of the rows, and a row's line; both with their line feed.
std::string header_text(const DatasetHeader& header);
std::string row_text(const Row& row);

// One writer per file, kept apart from others by flock(2). Not thread-safe.
class DatasetWriter {
 public:
  // Creates the file, or refuses (ErrorCode::output) when it exists and is not empty, unless `overwrite`. Destroyed
  // before its first row, it takes back what it made: a file that was not there is removed, an empty one is empty
  // again.
  static Result<DatasetWriter> create(const std::string& path, const DatasetHeader& header, bool overwrite);
  // One write(2); a full disk is an error, and the file then still ends with a whole line (the part is cut off again).
  Result<> append(const Row& row);
  [[nodiscard]] std::uint64_t rows() const { return rows_; }
  DatasetWriter(DatasetWriter&&) = default;
  DatasetWriter& operator=(DatasetWriter&&) = delete;
  ~DatasetWriter();

 private:
  enum class Before { something, empty, none }; // what was at path_

  DatasetWriter() = default;
  Result<> write_whole(std::string_view line);

  Fd fd_;
  std::string path_;
  std::uint64_t bytes_ = 0; // length of the file: whole lines only
  std::uint64_t rows_ = 0;
  Before before_ = Before::something;
};

} // namespace hotset
