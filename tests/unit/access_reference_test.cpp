// SPDX-License-Identifier: Apache-2.0
#include "access/reference.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "unit/fake_tree.h"

namespace hotset {
namespace {

using namespace std::chrono_literals;

// Linux 6.18.
constexpr std::string_view kRollup =
    "5629d4d57000-7ffdcb544000 ---p 00000000 00:00 0                          [rollup]\n"
    "Rss:                1816 kB\n"
    "Pss:                 253 kB\n"
    "Pss_Dirty:           116 kB\n"
    "Pss_Anon:            116 kB\n"
    "Pss_File:            137 kB\n"
    "Pss_Shmem:             0 kB\n"
    "Shared_Clean:       1656 kB\n"
    "Shared_Dirty:          0 kB\n"
    "Private_Clean:        44 kB\n"
    "Private_Dirty:       116 kB\n"
    "Referenced:         1700 kB\n"
    "Anonymous:           116 kB\n"
    "KSM:                   0 kB\n"
    "LazyFree:              0 kB\n"
    "AnonHugePages:      2048 kB\n"
    "ShmemPmdMapped:     4096 kB\n"
    "FilePmdMapped:         0 kB\n"
    "Shared_Hugetlb:     8192 kB\n"
    "Private_Hugetlb:    2048 kB\n"
    "Swap:                 12 kB\n"
    "SwapPss:              12 kB\n"
    "Locked:                0 kB\n";

// One mapping as Linux 4.9 prints it: fewer lines, and some that are no number of kB.
std::string old_mapping(std::string_view header, std::uint64_t rss, std::uint64_t referenced) {
  return fmt::format(
      "{}\nSize:                 100 kB\nRss:         {:>12} kB\nPss:                   2 kB\nShared_Clean:         40 "
      "kB\n"
      "Referenced:  {:>12} kB\nAnonymous:             0 kB\nAnonHugePages:         0 kB\nSwap:                  1 kB\n"
      "KernelPageSize:        4 kB\nMMUPageSize:           4 kB\nLocked:                0 kB\nVmFlags: rd ex mr mw me "
      "dw \n",
      header, rss, referenced);
}

TEST(Smaps, rollup_is_read) {
  MemoryTotals totals = parse_smaps(kRollup).value();
  EXPECT_EQ(totals.rss, 1816u << 10);
  EXPECT_EQ(totals.pss, 253u << 10);
  EXPECT_EQ(totals.referenced, 1700u << 10);
  EXPECT_EQ(totals.swap, 12u << 10);
  EXPECT_EQ(totals.huge, 6144u << 10);
  EXPECT_EQ(totals.hugetlb, 10240u << 10);
}

TEST(Smaps, mappings_are_added_up) {
  MemoryTotals totals = parse_smaps(old_mapping("00400000-00452000 r-xp 00000000 08:02 173521  /usr/bin/dbus", 40, 30) +
                                    old_mapping("7f0000000000-7f0000001000 rw-p 00000000 00:00 0 ", 7, 5))
                            .value();
  EXPECT_EQ(totals.rss, 47u << 10);
  EXPECT_EQ(totals.pss, 4u << 10);
  EXPECT_EQ(totals.referenced, 35u << 10);
  EXPECT_EQ(totals.swap, 2u << 10);
  EXPECT_EQ(totals.hugetlb, 0u);
}

TEST(Smaps, path_that_looks_like_a_field_is_no_field) {
  for (std::string_view path : {"/tmp/Rss:  77 kB", "/tmp/a b (deleted)", "/tmp/x\\012Rss: 5 kB", "Rss: 9 kB",
                                "/tmp/\xff\xfe", "[anon:Referenced: 1 kB]"}) {
    std::string header = fmt::format("7f0000000000-7f0000001000 rw-p 00000000 00:00 0 {}", path);
    EXPECT_EQ(parse_smaps(old_mapping(header, 7, 5)).value().rss, 7u << 10) << path;
  }
}

TEST(Smaps, sizes_beyond_two_gib_and_one_tib_are_exact) {
  constexpr std::uint64_t kKiB = (std::uint64_t{3} << 30) + 1; // 3 TiB and 1 KiB
  MemoryTotals totals = parse_smaps(old_mapping("1000-2000 rw-p 00000000 00:00 0", kKiB, (1u << 21) + 1)).value();
  EXPECT_EQ(totals.rss, kKiB << 10);
  EXPECT_EQ(totals.referenced, (std::uint64_t{1} << 31) + 1024);
}

TEST(Smaps, number_that_overflows_is_bad_data) {
  constexpr std::uint64_t kMost = ~std::uint64_t{0} >> 10;
  std::string most = old_mapping("1000-2000 rw-p 00000000 00:00 0", kMost, 0);
  EXPECT_TRUE(parse_smaps(most));
  EXPECT_EQ(parse_smaps(most + most).error().code, ErrorCode::bad_data);
  EXPECT_FALSE(parse_smaps(old_mapping("1000-2000 rw-p 00000000 00:00 0", kMost + 1, 0)));
}

TEST(Smaps, without_a_field_is_bad_data_and_says_which) {
  for (std::string_view field : {"Rss", "Pss", "Referenced", "Swap"}) {
    std::string text(kRollup);
    text.replace(text.find("\n" + std::string(field) + ":") + 1, 1, "?");
    Result<MemoryTotals> totals = parse_smaps(text);
    ASSERT_FALSE(totals) << field;
    EXPECT_EQ(totals.error().code, ErrorCode::bad_data);
    EXPECT_THAT(totals.error().cause, ::testing::EndsWith(field));
  }
}

TEST(Smaps, that_lacks_a_field_in_one_mapping_only_is_bad_data) {
  std::string good = old_mapping("1000-2000 rw-p 00000000 00:00 0", 1, 1);
  std::string poor = good;
  poor.replace(poor.find("Swap:"), 5, "Swop:");
  EXPECT_FALSE(parse_smaps(good + poor));
}

TEST(Smaps, cut_off_anywhere_is_never_taken_for_whole) {
  for (std::size_t length = 0; length < kRollup.find("SwapPss"); ++length)
    EXPECT_FALSE(parse_smaps(kRollup.substr(0, length))) << length;
}

TEST(Smaps, a_unit_without_a_number_is_bad_data) {
  for (std::string_view value : {"kB", " kB", "   kB", "\t kB", "x kB"}) {
    std::string text(kRollup);
    std::size_t at = text.find("\nSwap:") + 6;
    text.replace(at, text.find('\n', at) - at, value);
    EXPECT_FALSE(parse_smaps(text)) << value;
  }
}

TEST(Smaps, what_is_no_number_of_kilobytes_is_bad_data) {
  for (std::string_view value : {"", " ", " kB", " -1 kB", " 1.5 kB", " 12 MB", " 0x10 kB", " 1 2 kB"}) {
    std::string text(kRollup);
    std::size_t start = text.find("Rss:") + 4;
    text.replace(start, text.find('\n', start) - start, value);
    EXPECT_FALSE(parse_smaps(text)) << value;
  }
}

// A process 7 in a fake /proc.
struct FakeProcess : FakeTree {
  explicit FakeProcess(std::string_view source = "smaps_rollup", std::string_view text = kRollup) {
    put("/proc/7/stat", "7 (x) S 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 100 0 10 0\n");
    put("/proc/7/clear_refs", "");
    put("/proc/7/" + std::string(source), text);
  }
  [[nodiscard]] Result<Reference> open(Clock& clock) const { return Reference::open(files(), {7, 100}, clock); }
};

TEST(Reference, writes_one_then_reads_the_totals_of_the_window) {
  FakeProcess process;
  FakeClock clock;
  Reference reference = process.open(clock).value();
  EXPECT_EQ(reference.source(), "smaps_rollup");
  ASSERT_TRUE(reference.reset());
  EXPECT_EQ(process.files().read("/proc/7/clear_refs").value(), "1");
  clock.advance(250ms);
  ReferenceReading reading = reference.read().value();
  EXPECT_EQ(reading.window, 250ms);
  EXPECT_EQ(reading.totals.referenced, 1700u << 10);
  clock.advance(100ms);
  EXPECT_EQ(reference.read()->window, 350ms) << "a window goes on until the next reset";
}

TEST(Reference, without_a_reset_has_no_window) {
  FakeProcess process;
  FakeClock clock;
  Reference reference = process.open(clock).value();
  clock.advance(1s);
  EXPECT_EQ(reference.read()->window, 0s);
  EXPECT_EQ(process.files().read("/proc/7/clear_refs").value(), "");
}

TEST(Reference, falls_back_to_smaps_where_there_is_no_rollup) {
  FakeProcess process("smaps", old_mapping("1000-2000 rw-p 00000000 00:00 0", 8, 4));
  FakeClock clock;
  Reference reference = process.open(clock).value();
  EXPECT_EQ(reference.source(), "smaps");
  EXPECT_EQ(reference.read()->totals.rss, 8u << 10);
}

TEST(Reference, on_a_kernel_without_the_files_is_unsupported) {
  FakeProcess process("cmdline");
  FakeClock clock;
  EXPECT_EQ(process.open(clock).error().code, ErrorCode::unsupported);
  process.put("/proc/7/smaps", "");
  process.remove("/proc/7/clear_refs");
  EXPECT_EQ(process.open(clock)->reset().error().code, ErrorCode::unsupported);
}

TEST(Reference, of_a_process_that_ended_is_gone) {
  FakeProcess process;
  FakeClock clock;
  EXPECT_EQ(Reference::open(process.files(), {8, 100}, clock).error().code, ErrorCode::gone);
  EXPECT_EQ(Reference::open(process.files(), {7, 99}, clock).error().code, ErrorCode::gone) << "pid used again";
  Reference reference = process.open(clock).value();
  process.put("/proc/7/smaps_rollup", ""); // as a zombie's reads
  EXPECT_EQ(reference.read().error().code, ErrorCode::gone);
  process.remove("/proc/7");
  EXPECT_EQ(reference.read().error().code, ErrorCode::gone);
  EXPECT_EQ(reference.reset().error().code, ErrorCode::gone);
}

TEST(Reference, never_touches_a_process_that_got_the_pid_later) {
  FakeProcess process;
  FakeClock clock;
  Reference reference = process.open(clock).value();
  std::filesystem::rename(process.root() + "/proc/7", process.root() + "/proc/old");
  process.put("/proc/7/clear_refs", "");
  ASSERT_TRUE(reference.reset());
  EXPECT_EQ(process.files().read("/proc/7/clear_refs").value(), "");
}

TEST(ReferenceReading, takes_the_middle_of_reset_and_read_as_its_effective_window) {
  ReferenceReading reading{.totals = {}, .window = 1s, .reset_time = 20ms, .read_time = 10ms, .stall = {}, .cpu = {}};
  EXPECT_EQ(reading.effective(), 1015ms);
}

} // namespace
} // namespace hotset
