// SPDX-License-Identifier: Apache-2.0
// Reading a data set. The text may come from anywhere, so every field is checked, and what is wrong is said with the
// number of its line. The one thing forgiven is a last line without its line feed: a recorder that was killed.
#include <fmt/format.h>

#include <utility>

#include "base/file.h"
#include "base/units.h"
#include "dataset/dataset.h"
#include "dataset/header.h"

namespace hotset {
namespace {

constexpr std::string_view kFirstLine = "# hotset dataset";
constexpr std::size_t kLargestFile = std::size_t{1} << 30;
constexpr std::string_view kRemedy = "record it again, or correct the line";

// Whole lines of a text, counted from 1; what follows the last line feed is no line.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  std::optional<std::string_view> next() {
    const std::size_t end = rest_.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    ++number_;
    return line;
  }
  [[nodiscard]] std::size_t number() const { return number_; }
  [[nodiscard]] bool unfinished() const { return !rest_.empty(); }

 private:
  std::string_view rest_;
  std::size_t number_ = 0;
};

// A complaint in words, empty when the value is good.
std::string complaint(std::string_view text, const char* wanted) {
  constexpr std::size_t kShown = 40;
  return fmt::format("'{}' is not {}", printable(text.substr(0, kShown)), wanted);
}

std::string read_value(std::string_view text, double& value) {
  const std::optional<double> number = parse_finite(text);
  if (!number || *number < 0 || *number > static_cast<double>(kLargestValue))
    return complaint(text, "a finite number of at least 0 and at most 2^53");
  value = *number;
  return {};
}

std::string read_value(std::string_view text, std::uint64_t& value) {
  const std::optional<std::uint64_t> number = parse_u64(text);
  if (!number || *number > kLargestValue) return complaint(text, "a whole number of at least 0 and at most 2^53");
  value = *number;
  return {};
}

std::string read_value(std::string_view text, std::optional<std::uint64_t>& value) {
  return text.empty() ? std::string() : read_value(text, value.emplace());
}

std::string read_row(std::string_view line, Row& row) {
  std::string_view rest = line;
  const std::span<const DatasetColumn> table = dataset_columns();
  for (std::size_t i = 0; i < table.size(); ++i) {
    const std::size_t comma = rest.find(',');
    const bool last = i + 1 == table.size();
    if (last != (comma == std::string_view::npos))
      return fmt::format("it has {} than {} fields", last ? "more" : "fewer", table.size());
    std::string cause =
        std::visit([&](auto field) { return read_value(rest.substr(0, comma), row.*field); }, table[i].field);
    if (!cause.empty()) return fmt::format("{}: {}", table[i].name, cause);
    if (!last) rest.remove_prefix(comma + 1);
  }
  return {};
}

std::string column_line() {
  std::string line;
  for (const DatasetColumn& column : dataset_columns())
    line += fmt::format("{}{}", line.empty() ? "" : ",", column.name);
  return line;
}

std::expected<DatasetHeader, HeaderComplaint> read_header(Lines& lines) {
  auto wrong = [](std::string cause) { return std::unexpected(HeaderComplaint{std::move(cause)}); };
  const std::optional<std::string_view> first = lines.next();
  if (first != kFirstLine) return wrong(fmt::format("its first line is not \"{}\"", kFirstLine));
  const std::optional<std::string_view> json = lines.next();
  if (!json || !json->starts_with("# ")) return wrong("its header is missing");
  std::expected<DatasetHeader, HeaderComplaint> header = parse_header_json(json->substr(2));
  if (!header) return header;
  const std::optional<std::string_view> names = lines.next();
  if (!names) return wrong("it ends before its columns are named");
  if (*names != column_line()) return wrong(fmt::format("its columns are not {}", column_line()));
  return header;
}

// What a file could not be read for, as the data set that it should have been.
std::unexpected<Error> unread(Error error) {
  error.operation = "read the data set";
  if (error.remedy.empty()) error.remedy = "give a file that hotset record wrote";
  return fail(std::move(error));
}

} // namespace

std::string header_text(const DatasetHeader& header) {
  return fmt::format("{}\n# {}\n{}\n", kFirstLine, header_json(header), column_line());
}

Result<Dataset> parse_dataset(std::string_view text, std::string path) {
  auto wrong = [&](std::string cause, std::string_view remedy) {
    return fail(ErrorCode::bad_data, "read the data set", path, std::move(cause), std::string(remedy));
  };
  if (text.empty()) return wrong("it is empty", "record it again with hotset record");
  Lines lines(text);
  std::expected<DatasetHeader, HeaderComplaint> header = read_header(lines);
  if (!header) return wrong(std::move(header.error().cause), header.error().remedy);
  Dataset dataset{.path = path, .header = *std::move(header), .rows = {}, .truncated = false};
  double time_s = 0;
  while (std::optional<std::string_view> line = lines.next()) {
    Row row;
    std::string cause = read_row(*line, row);
    if (cause.empty() && row.dt_s <= 0) cause = "dt_s: a window of no length";
    if (cause.empty() && row.time_s <= time_s && !dataset.rows.empty())
      cause = fmt::format("time_s: {} does not come after {}", row.time_s, time_s);
    if (!cause.empty()) return wrong(fmt::format("line {}: {}", lines.number(), cause), kRemedy);
    time_s = row.time_s;
    dataset.rows.push_back(row);
  }
  dataset.truncated = lines.unfinished();
  return dataset;
}

Result<Dataset> load_dataset(const std::string& path) {
  Result<Fd> fd = open_read(path);
  if (!fd) return unread(std::move(fd).error());
  Result<std::string> text = read_all(fd->get(), path, kLargestFile);
  if (!text) return unread(std::move(text).error());
  return parse_dataset(*text, path);
}

} // namespace hotset
