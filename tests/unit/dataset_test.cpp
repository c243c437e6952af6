// SPDX-License-Identifier: Apache-2.0
#include "dataset/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "base/file.h"

namespace hotset {
namespace {

using ::testing::HasSubstr;

DatasetHeader sample_header() {
  return {.host = "node",
          .kernel = "6.1.0",
          .hook = "tp_btf",
          .hook_semantics = "user",
          .transport = "perf",
          .target = "./app --x",
          .comm = "app",
          .pid = 42,
          .start_ticks = 9001,
          .interval_s = 0.1,
          .label = "reference",
          .begin_time = "2026-01-02T03:04:05.678Z",
          .group = "array-fresh",
          .hotset_version = "0.1.0"};
}

Row sample_row(double time_s) {
  return {.time_s = time_s,
          .dt_s = 0.1,
          .faults = 12,
          .emissions = 2,
          .peak_faults = 7,
          .rss_bytes = 8192,
          .cpu_s = 0.05,
          .label_bytes = 4096,
          .truth_bytes = std::nullopt};
}

std::string sample_text() {
  Row with_truth = sample_row(0.2);
  with_truth.truth_bytes = 4096;
  return header_text(sample_header()) + row_text(sample_row(0.1)) + row_text(with_truth);
}

std::string complaint_about(std::string_view text) {
  Result<Dataset> dataset = parse_dataset(text, "x.csv");
  if (dataset) return "accepted";
  EXPECT_EQ(dataset.error().code, ErrorCode::bad_data);
  return to_sentence(dataset.error());
}

std::string temporary_path(const char* name) {
  return (std::filesystem::path(::testing::TempDir()) / (std::to_string(::getpid()) + name)).string();
}

TEST(Dataset, is_read_as_it_was_written) {
  Result<Dataset> dataset = parse_dataset(sample_text(), "x.csv");
  ASSERT_TRUE(dataset) << to_sentence(dataset.error());
  EXPECT_EQ(dataset->header, sample_header());
  ASSERT_EQ(dataset->rows.size(), 2u);
  EXPECT_EQ(dataset->rows[0], sample_row(0.1));
  EXPECT_EQ(dataset->rows[1].truth_bytes, 4096u);
  EXPECT_FALSE(dataset->truncated);
}

TEST(Dataset, of_a_killed_recorder_loses_only_its_last_line) {
  const std::string text = sample_text();
  Result<Dataset> dataset = parse_dataset(std::string_view(text).substr(0, text.size() - 1), "x.csv");
  ASSERT_TRUE(dataset);
  EXPECT_EQ(dataset->rows.size(), 1u);
  EXPECT_TRUE(dataset->truncated);
}

TEST(Dataset, without_rows_is_valid_and_an_empty_file_is_not) {
  EXPECT_TRUE(parse_dataset(header_text(sample_header()), "x.csv"));
  EXPECT_THAT(complaint_about(""), HasSubstr("x.csv: it is empty"));
}

TEST(Dataset, of_a_later_schema_is_refused_by_name) {
  std::string text = sample_text();
  text.replace(text.find("hotset.dataset/1"), 16, "hotset.dataset/7");
  EXPECT_THAT(complaint_about(text), HasSubstr("its schema is hotset.dataset/7, and this program reads"));
  EXPECT_THAT(complaint_about(text), testing::EndsWith("; use the hotset that wrote it"));
}

TEST(Dataset, that_is_another_kind_of_file_is_refused) {
  EXPECT_THAT(complaint_about("\x7f"
                              "ELF\n\n\n"),
              HasSubstr("its first line is not"));
  EXPECT_THAT(complaint_about("# hotset dataset\n"), HasSubstr("its header is missing"));
  EXPECT_THAT(complaint_about("# hotset dataset\n# [1]\n"), HasSubstr("not a JSON object"));
  EXPECT_THAT(complaint_about("# hotset dataset\n# {\"schema\":\"a/1\"}\n"), HasSubstr("not a data set's"));
  EXPECT_THAT(complaint_about("# hotset dataset\n# {\"schema\":\"hotset.dataset/1\"}\n"), HasSubstr("method"));
  EXPECT_THAT(complaint_about("# hotset dataset\n# {\"schema\":\"hotset.dataset/1\",\"label\":3}\n"),
              HasSubstr("\"label\" is not a text"));
}

TEST(Dataset, with_a_bad_value_names_the_line_and_the_column) {
  const std::string good = header_text(sample_header()) + row_text(sample_row(0.1));
  for (const auto& [row, says] : std::vector<std::pair<std::string, std::string>>{
           {"0.2,0.1,-1,0,0,1,0,1,", "line 5: faults: '-1' is not a whole number"},
           {"0.2,nan,1,0,0,1,0,1,", "line 5: dt_s: 'nan' is not a finite number"},
           {"0.2,inf,1,0,0,1,0,1,", "line 5: dt_s: 'inf'"},
           {"0.2,0,1,0,0,1,0,1,", "line 5: dt_s: a window of no length"},
           {"0.2,0.1,1,0,0,1,0,1e3,", "line 5: label_bytes: '1e3'"},
           {"0.2,0.1,1,0,0,18446744073709551615,0,1,", "line 5: rss_bytes"},
           {"0.2,0.1,1,0,0,1,0,1", "line 5: it has fewer than 9 fields"},
           {"0.2,0.1,1,0,0,1,0,1,,", "line 5: it has more than 9 fields"},
           {"0.1,0.1,1,0,0,1,0,1,", "line 5: time_s: 0.1 does not come after 0.1"},
           {"0.2,0.1,1,0,0,1,0,1,\r", "line 5: truth_bytes: '\\x0d'"},
           {"", "line 5: it has fewer"}})
    EXPECT_THAT(complaint_about(good + row + "\n"), HasSubstr(says));
}

TEST(Dataset, reader_survives_any_damage) {
  const std::string good = sample_text();
  std::mt19937_64 random(7);
  for (int round = 0; round < 20000; ++round) {
    std::string text = good;
    for (std::uint64_t edits = 1 + random() % 4; edits > 0; --edits) {
      const std::size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, 1 + random() % 20);
          break;
        default:
          text.insert(at, good, random() % good.size(), random() % 30);
      }
      if (text.empty()) text = "\n";
    }
    Result<Dataset> dataset = parse_dataset(text, "x.csv");
    if (!dataset) {
      EXPECT_EQ(dataset.error().code, ErrorCode::bad_data);
    } else {
      for (const Row& row : dataset->rows)
        EXPECT_GT(row.dt_s, 0);
    }
  }
}

TEST(DatasetWriter, keeps_an_existing_file_unless_told_otherwise) {
  const std::string path = temporary_path("keep.csv");
  {
    Result<DatasetWriter> writer = DatasetWriter::create(path, sample_header(), false);
    ASSERT_TRUE(writer) << to_sentence(writer.error());
    ASSERT_TRUE(writer->append(sample_row(0.1)));
    EXPECT_EQ(writer->rows(), 1u);
  }
  Result<DatasetWriter> second = DatasetWriter::create(path, sample_header(), false);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::output);
  EXPECT_EQ(load_dataset(path)->rows.size(), 1u);
  {
    Result<DatasetWriter> third = DatasetWriter::create(path, sample_header(), true);
    ASSERT_TRUE(third);
    Result<DatasetWriter> fourth = DatasetWriter::create(path, sample_header(), true);
    ASSERT_FALSE(fourth);
    EXPECT_THAT(to_sentence(fourth.error()), HasSubstr("another recorder"));
  }
  EXPECT_EQ(load_dataset(path)->rows.size(), 0u);
  std::filesystem::remove(path);
}

TEST(DatasetWriter, without_a_row_takes_back_what_it_made_and_nothing_else) {
  const std::string path = temporary_path("none.csv");
  std::filesystem::remove(path);
  ASSERT_TRUE(DatasetWriter::create(path, sample_header(), false));
  EXPECT_FALSE(std::filesystem::exists(path)) << "it was not there";

  std::ofstream(path).flush();
  ASSERT_TRUE(DatasetWriter::create(path, sample_header(), false));
  ASSERT_TRUE(std::filesystem::exists(path)) << "it was there";
  EXPECT_EQ(std::filesystem::file_size(path), 0U) << "or a second run would need --force";

  {
    Result<DatasetWriter> writer = DatasetWriter::create(path, sample_header(), false);
    ASSERT_TRUE(writer);
    std::filesystem::remove(path);
    std::ofstream(path) << "another's";
  }
  EXPECT_EQ(std::filesystem::file_size(path), 9U) << "not the file that it made";
  std::filesystem::remove(path);
}

TEST(DatasetWriter, says_that_the_disk_is_full) {
  Result<DatasetWriter> writer = DatasetWriter::create("/dev/full", sample_header(), false);
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().code, ErrorCode::output);
}

TEST(DatasetWriter, makes_names_of_any_bytes_fit_to_read) {
  DatasetHeader header = sample_header();
  header.comm = "a\n\xff)";
  Result<Dataset> dataset = parse_dataset(header_text(header), "x.csv");
  ASSERT_TRUE(dataset) << to_sentence(dataset.error());
  EXPECT_EQ(dataset->header.comm, "a\\x0a\\xff)");
}

} // namespace
} // namespace hotset
