// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "present/estimate_csv.h"
#include "present/estimate_json.h"
#include "present/estimate_text.h"
#include "unit/golden.h"

namespace hotset {
namespace {

// A measured window, one with an odd name and huge sizes, and one of which next to nothing is known.
std::vector<Estimate> examples() {
  Estimate plain;
  plain.wall = std::chrono::milliseconds(1767323045678);
  plain.target = {.id = {1234, 987654}, .comm = "redis-server", .requested = 1234};
  plain.requested_s = 1;
  plain.effective_s = 1.004;
  plain.method = "reference";
  plain.wss = WorkingSet{
      .bytes = 123 << 20, .low_bytes = 123 << 20, .high_bytes = std::uint64_t{5} << 30, .confidence = std::nullopt};
  plain.rss_bytes = std::uint64_t{5} << 30;
  plain.pss_bytes = (std::uint64_t{5} << 30) - 4096;
  plain.swap_bytes = 0;
  plain.granularity_bytes = 4096;
  plain.coverage = 1.0;
  plain.flags = {{"tlb_not_flushed", "pages that stay in the TLB are missed"}};
  plain.cost = {.cpu_s = 0.0213, .target_stall_s = 0.02};

  Estimate odd = plain;
  odd.wall += std::chrono::seconds(1);
  odd.target.comm = "a,\"b\"\n\xff";
  odd.wss = WorkingSet{.bytes = std::uint64_t{3} << 40,
                       .low_bytes = std::uint64_t{3} << 40,
                       .high_bytes = std::uint64_t{3} << 40,
                       .confidence = 0.95};
  odd.rss_bytes = (std::uint64_t{3} << 40) + 1;
  odd.flags.push_back({"thread_id", "1235 is a thread: its process 1234 is measured"});

  Estimate unknown;
  unknown.wall = odd.wall + std::chrono::seconds(1);
  unknown.target = plain.target;
  unknown.method = "faults";
  unknown.granularity_bytes = 4096;
  unknown.faults = FaultCount{.count = 4711, .hook = "tp_btf/page_fault_user", .semantics = "user mode only"};
  unknown.flags = {{"faults_are_not_wss", "page faults do not tell a working set"}};
  return {plain, odd, unknown};
}

TEST(EstimateJson, has_not_changed) {
  std::string text;
  for (const Estimate& e : examples())
    text += estimate_json(e) + "\n";
  expect_golden("estimate.jsonl", text);
}

TEST(EstimateJson, has_null_for_what_is_unknown) {
  nlohmann::json json = nlohmann::json::parse(estimate_json(examples().back()));
  for (const char* key : {"wss", "rss_bytes", "pss_bytes", "swap_bytes", "coverage"})
    EXPECT_TRUE(json.at(key).is_null()) << key;
  EXPECT_TRUE(json.at("window").at("effective_s").is_null());
  EXPECT_TRUE(json.at("cost").at("target_stall_s").is_null());
}

TEST(EstimateCsv, has_not_changed) {
  std::string text = estimate_csv_header() + "\n";
  for (const Estimate& e : examples())
    text += estimate_csv_row(e) + "\n";
  expect_golden("estimate.csv", text);
}

TEST(EstimateCsv, row_has_as_many_cells_as_the_header) {
  std::string header = estimate_csv_header();
  std::string row = estimate_csv_row(examples().front());
  EXPECT_EQ(std::ranges::count(row, ','), std::ranges::count(header, ','));
}

std::string table(Style style, bool faults, std::size_t width = EstimateTable::kAllColumns) {
  EstimateTable lines(style, faults, width);
  std::string text = lines.header() + "\n";
  for (const Estimate& e : examples())
    text += lines.row(e) + "\n";
  for (const std::string& note : lines.notes())
    text += note + "\n";
  return text;
}

TEST(EstimateTable, has_not_changed) {
  expect_golden("estimate.txt", table(Style(false), false));
  expect_golden("estimate_80_columns.txt", table(Style(false), false, 80));
  expect_golden("estimate_faults.txt", table(Style(false), true));
}

TEST(EstimateTable, says_exact_only_of_bounds_that_always_hold) {
  Estimate met = examples()[1]; // its bounds meet
  for (std::optional<double> confidence : {std::optional<double>(), std::optional(0.95)}) {
    met.wss->confidence = confidence;
    EXPECT_THAT(EstimateTable(Style(false), false).row(met), ::testing::HasSubstr("3.00 TiB – 3.00 TiB"));
  }
  met.wss->confidence = 1.0;
  EXPECT_THAT(EstimateTable(Style(false), false).row(met), ::testing::HasSubstr("exact"));
}

TEST(EstimateTable, says_which_line_a_note_speaks_of) {
  EstimateTable lines{Style(false), false};
  Estimate estimate = examples()[1];
  auto notes_after = [&](std::vector<Flag> flags) {
    estimate.flags = std::move(flags);
    lines.row(estimate);
    return lines.notes();
  };
  EXPECT_EQ(notes_after({{"held", "2 pages"}}), std::vector<std::string>{"held: 2 pages"});
  EXPECT_EQ(notes_after({{"held", "2 pages"}}), std::vector<std::string>{"held: 2 pages"});
  EXPECT_EQ(notes_after({{"held", "3 pages"}}),
            std::vector<std::string>{"held: 3 pages (3 of 3 lines; this is the last of them)"});
  EXPECT_EQ(notes_after({}), std::vector<std::string>{"held: 3 pages (3 of 4 lines; this is the last of them)"});
}

TEST(EstimateTable, is_styled_only_where_colours_are_on) {
  EXPECT_THAT(table(Style(false), false), ::testing::Not(::testing::HasSubstr("\x1b")));
  EXPECT_THAT(table(Style(true), false), ::testing::HasSubstr("\x1b"));
}

} // namespace
} // namespace hotset
