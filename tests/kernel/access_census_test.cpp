// SPDX-License-Identifier: Apache-2.0
// The census against what the kernel says of the same process: equal, page by page.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "access/census.h"
#include "access/clear.h"
#include "access/pagemap.h"
#include "kernel/access_child.h"
#include "kernel/census_test.h"

namespace hotset {
namespace {

using Runs = std::vector<Run>; // testing::Test has a Run of its own

constexpr std::uint64_t kHugeMiB = 8;

class CensusTest : public WithCensus {
 protected:
  // Pages by the start of their mapping: present and accessed.
  static std::map<std::uint64_t, PageCount> by_mapping(const Snapshot& snapshot) {
    std::map<std::uint64_t, PageCount> counts;
    for (const Region& region : snapshot.regions) {
      if (region.mapping == Mapping::hugetlb || region.mapping == Mapping::special) continue;
      counts[region.vma].present += region.present.count();
      counts[region.vma].accessed += region.accessed.count();
    }
    return counts;
  }
  // Compares with smaps until both ends of a try agree: the kernel's own aging may clear bits in between.
  void expect_equal_to_smaps(pid_t pid, bool referenced) {
    std::string differences;
    for (int attempt = 0; attempt < 20; ++attempt) {
      differences.clear();
      auto counts = by_mapping(read(pid));
      for (const SmapsMapping& mapping : smaps_of(pid)) {
        if (mapping.name.starts_with("[v")) continue; // the vDSO: the kernel's own pages, in no RSS of ours
        PageCount ours = counts[mapping.start >> 12 & 0xffffffff];
        // A page of a file is referenced for smaps when anyone referenced it, for us when this process did.
        bool file = mapping.name.starts_with("/") && !mapping.name.starts_with("/dev/zero");
        bool equal = !referenced || ours.accessed * 4 == mapping.kb.at("Referenced");
        if (referenced && file) equal = ours.accessed * 4 <= mapping.kb.at("Referenced");
        if (ours.present * 4 != mapping.kb.at("Rss") || !equal)
          differences +=
              fmt::format("{:x} {}: {} kB present, {} accessed; smaps {} and {}\n", mapping.start, mapping.name,
                          ours.present * 4, ours.accessed * 4, mapping.kb.at("Rss"), mapping.kb.at("Referenced"));
      }
      if (differences.empty()) return;
    }
    ADD_FAILURE() << differences;
  }
  static void clear_all(pid_t pid) {
    std::ofstream file("/proc/" + std::to_string(pid) + "/clear_refs");
    file << "1" << std::flush;
    ASSERT_TRUE(file);
  }
};

TEST_F(CensusTest, equals_smaps_in_every_mapping_of_a_quiet_process) {
  char* anonymous = map_pages(3000);
  char* shared = map_pages(1500, MAP_SHARED | MAP_ANONYMOUS);
  std::FILE* file = std::tmpfile();
  ASSERT_EQ(::ftruncate(::fileno(file), 700 * 4096), 0);
  char* mapped = map_pages(700, MAP_SHARED, ::fileno(file));
  // Neighbouring mappings that share leaf tables, at every odd place.
  char* edges = map_pages(4096);
  for (int i = 1; i < 20; ++i)
    ASSERT_EQ(::mprotect(edges + i * 137 * 4096, 4096 * 7, PROT_READ), 0);
  QuietChild child({[&] {
                      write_pages(anonymous, 0, 3000);
                      write_pages(shared, 0, 1500, 3);
                      write_pages(mapped, 0, 700, 2);
                      for (std::uint64_t i = 0; i < 30; ++i)
                        write_pages(edges, i * 137 + 7, i * 137 + 60);
                    },
                    [&] {
                      write_pages(anonymous, 500, 2500, 5);
                      write_pages(shared, 30, 90);
                      write_pages(edges, 145, 150);
                    }});
  child.run(0);
  expect_equal_to_smaps(child.pid(), false);
  clear_all(child.pid());
  child.run(1);
  expect_equal_to_smaps(child.pid(), true);
  std::fclose(file);
}

TEST_F(CensusTest, counts_neither_the_page_of_zeros_nor_swapped_or_dropped_pages_like_smaps) {
  char* memory = map_pages(2000);
  QuietChild child({[&] {
    for (int page = 0; page < 300; ++page)
      static_cast<void>(static_cast<volatile char*>(memory)[page * 4096]);
    write_pages(memory, 500, 900);
    ::madvise(memory + 500 * 4096, 100 * 4096, MADV_DONTNEED);
    ::madvise(memory + 700 * 4096, 100 * 4096, 8 /* MADV_FREE */);
    ::madvise(memory + 800 * 4096, 100 * 4096, 21 /* MADV_PAGEOUT */);
    ::mprotect(memory + 600 * 4096, 50 * 4096, PROT_NONE);
  }});
  child.run(0);
  expect_equal_to_smaps(child.pid(), false);
}

TEST_F(CensusTest, counts_huge_pages_whole_and_says_so) {
  char* raw = map_pages((kHugeMiB + 2) * 256);
  char* huge = raw + (kTableBytes - reinterpret_cast<std::uint64_t>(raw) % kTableBytes) % kTableBytes;
  ::madvise(huge, kHugeMiB << 20, MADV_HUGEPAGE);
  QuietChild child({[&] { write_pages(huge, 0, kHugeMiB * 256, 512); }});
  child.run(0);
  Snapshot snapshot = read(child.pid());
  std::uint64_t smaps_kb = 0;
  for (const SmapsMapping& mapping : smaps_of(child.pid()))
    smaps_kb += mapping.kb.at("AnonHugePages");
  if (smaps_kb == 0) GTEST_SKIP() << "the kernel gave no huge page";
  EXPECT_EQ(totals(snapshot).resident().huge * 4, smaps_kb);
  expect_equal_to_smaps(child.pid(), false);
}

TEST_F(CensusTest, a_sparse_reservation_costs_no_regions) {
  constexpr std::uint64_t kPages = std::uint64_t{1} << 27; // 512 GiB
  void* reserved =
      ::mmap(nullptr, kPages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) GTEST_SKIP() << "the kernel does not let 512 GiB be reserved";
  char* memory = static_cast<char*>(reserved);
  ::madvise(memory, kPages * 4096, MADV_NOHUGEPAGE);
  QuietChild child({[&] {
    for (std::uint64_t page : {std::uint64_t{0}, kPages / 3, kPages - 1})
      write_pages(memory, page, page + 1);
  }});
  std::size_t before = read(child.pid()).regions.size();
  child.run(0);
  EXPECT_LE(read(child.pid()).regions.size(), before + 16); // its own code and stack need some, too
  expect_equal_to_smaps(child.pid(), false);
  ::munmap(reserved, kPages * 4096);
}

TEST_F(CensusTest, a_reading_larger_than_the_buffer_comes_in_chunks_without_loss) {
  constexpr std::uint64_t kTables = 1200; // the buffer holds 128
  char* memory = map_pages(kTables * 512);
  QuietChild child({[&] { write_pages(memory, 0, kTables * 512, 256); }});
  child.run(0);
  expect_equal_to_smaps(child.pid(), false);
  ::munmap(memory, kTables * kTableBytes);
}

TEST_F(CensusTest, looks_at_each_of_60000_mappings_once) {
  constexpr std::uint64_t kMappings = 60'000;
  char* memory = map_pages(kMappings);
  QuietChild child({[&] {
    for (std::uint64_t page = 0; page < kMappings; ++page) {
      write_pages(memory, page, page + 1);
      if (page % 2 == 1) ::mprotect(memory + page * 4096, 4096, PROT_READ);
    }
  }});
  child.run(0);
  Result<Census::Subject> subject = census->attach({child.pid(), 0});
  ASSERT_TRUE(subject);
  const std::uint64_t before = census->visits();
  Result<Snapshot> snapshot = census->read(*subject);
  ASSERT_TRUE(snapshot) << to_sentence(snapshot.error());
  std::map<std::uint64_t, PageCount> counts = by_mapping(*snapshot);
  if (counts.size() < kMappings) GTEST_SKIP() << "the kernel made only " << counts.size() << " mappings";
  const auto start = reinterpret_cast<std::uint64_t>(memory) >> 12;
  std::uint64_t resident = 0;
  for (std::uint64_t page = 0; page < kMappings; ++page)
    resident += counts[(start + page) & 0xffffffff].present;
  EXPECT_EQ(resident, kMappings);
  std::ifstream maps(fmt::format("/proc/{}/maps", child.pid()));
  const auto mappings = std::count(std::istreambuf_iterator<char>(maps), {}, '\n');
  // One that a chunk ends in is shown twice: one in 2,048 small ones.
  EXPECT_LE(census->visits() - before, static_cast<std::uint64_t>(mappings + mappings / 1000 + 8));
  ::munmap(memory, kMappings * 4096);
}

TEST_F(CensusTest, a_mapping_that_is_split_while_it_is_read_is_read_to_its_end) {
  constexpr std::uint64_t kTables = 400;
  char* memory = map_pages(kTables * 512);
  const auto start = reinterpret_cast<std::uint64_t>(memory);
  QuietChild child({[&] { write_pages(memory, 0, kTables * 512, 64); },
                    [&] { ::mprotect(memory + kTables * 400 * 4096, 512 * 4096, PROT_READ); }});
  child.run(0);
  Result<Census::Subject> subject = census->attach({child.pid(), 0});
  ASSERT_TRUE(subject);
  bool split = false;
  std::uint64_t pages = 0;
  Census::Visit visit = [&](const Region& region, const Entries& /*entries*/) {
    if (region.address + kTableBytes <= start || region.address >= start + kTables * kTableBytes) return;
    if (!std::exchange(split, true)) child.run(1); // the first chunk ends below, and so the first part of the mapping
    pages += region.present.count();
  };
  ASSERT_TRUE(census->read(*subject, visit));
  EXPECT_EQ(pages, kTables * 512 / 64);
  ::munmap(memory, kTables * kTableBytes);
}

TEST_F(CensusTest, entries_name_the_frames_that_the_page_map_names) {
  char* memory = map_pages(600);
  QuietChild child({[&] { write_pages(memory, 0, 600); }});
  child.run(0);
  Result<Pagemap> pagemap = Pagemap::open(child.pid());
  ASSERT_TRUE(pagemap);
  auto start = reinterpret_cast<std::uint64_t>(memory);
  Result<std::vector<PagemapEntry>> expected = pagemap->read(start, 600);
  ASSERT_TRUE(expected);
  std::uint64_t equal = 0;
  Result<Census::Subject> subject = census->attach({child.pid(), 0});
  ASSERT_TRUE(subject);
  Census::Visit compare = [&](const Region& region, const Entries& entries) {
    for (unsigned page = region.first; !region.huge && page < region.last; ++page) {
      std::uint64_t address = region.address + page * std::uint64_t{4096};
      if (address >= start && address < start + 600 * 4096)
        equal += frame_number(entries[page]) == (*expected)[(address - start) / 4096].frame();
    }
  };
  ASSERT_TRUE(census->read(*subject, compare));
  EXPECT_EQ(equal, 600);
}

TEST_F(CensusTest, a_process_that_ended_is_an_error_and_not_zero_pages) {
  std::optional<Census::Subject> subject;
  {
    QuietChild child({});
    Result<Census::Subject> attached = census->attach({child.pid(), 0});
    ASSERT_TRUE(attached);
    subject.emplace(std::move(*attached));
  }
  Result<Snapshot> snapshot = census->read(*subject);
  ASSERT_FALSE(snapshot);
  EXPECT_EQ(snapshot.error().code, ErrorCode::gone);
}

TEST_F(CensusTest, tables_can_be_read_alone) {
  char* memory = map_pages(4096);
  QuietChild child({[&] { write_pages(memory, 0, 4096); }});
  child.run(0);
  std::uint64_t table = (reinterpret_cast<std::uint64_t>(memory) / kTableBytes + 2) * kTableBytes;
  Result<Census::Subject> subject = census->attach({child.pid(), 0});
  ASSERT_TRUE(subject);
  Result<Snapshot> snapshot = census->read(*subject, std::vector{table});
  ASSERT_TRUE(snapshot);
  ASSERT_GE(snapshot->regions.size(), 1);
  EXPECT_LE(snapshot->regions.size(), 3);
  bool found = false;
  for (const Region& region : snapshot->regions)
    found = found || (region.address == table && region.present.count() == 512);
  EXPECT_TRUE(found);
}

TEST_F(CensusTest, aging_clears_the_bits_of_the_runs_and_of_no_other_page) {
  char* memory = map_pages(4096);
  QuietChild child({[&] { write_pages(memory, 0, 4096); }, [&] { ::mlock(memory + 2000 * 4096, 100 * 4096); }});
  child.run(0);
  Result<Census::Subject> subject = census->attach({child.pid(), 0});
  ASSERT_TRUE(subject);
  auto start = reinterpret_cast<std::uint64_t>(memory);
  Runs runs{{start + 100 * 4096, 50}, {start + 1000 * 4096, 1}, {start + 1002 * 4096, 1}};
  Result<ClearReport> report = age_runs(subject->pidfd(), runs);
  ASSERT_TRUE(report) << to_sentence(report.error());
  EXPECT_EQ(report->runs, 3);
  EXPECT_EQ(report->pages, 52);
  EXPECT_EQ(report->refused, 0);
  for (const Region& region : read(child.pid()).regions)
    for (unsigned page = region.first; page < region.last; ++page) {
      std::uint64_t address = region.address + page * std::uint64_t{4096};
      if (address < start || address >= start + 4096 * 4096) continue;
      bool asked =
          std::ranges::any_of(runs, [&](const auto& run) { return address >= run.address && address < run.end(); });
      EXPECT_FALSE(asked && region.accessed.test(page)) << (address - start) / 4096;
    }

  child.run(1);
  runs = {{start, 4}, {start + 2010 * 4096, 4}, {start + 3000 * 4096, 4}};
  report = age_runs(subject->pidfd(), runs);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->runs, 2);
  EXPECT_EQ(report->refused, 1);
}

// A huge page that a call would end in is not split for it.
TEST_F(CensusTest, aging_ends_its_calls_between_huge_pages) {
  constexpr std::uint64_t kHuge = 16;
  char* memory = map_pages((kHuge + 1) * kTablePages);
  const auto start = (reinterpret_cast<std::uint64_t>(memory) + kTableBytes - 1) / kTableBytes * kTableBytes;
  char* huge = memory + (start - reinterpret_cast<std::uint64_t>(memory));
  ::madvise(huge, kHuge * kTableBytes, MADV_HUGEPAGE);
  QuietChild child({[&] { write_pages(huge, 0, kHuge * kTablePages, kTablePages); }});
  child.run(0);
  auto huge_pages = [&] {
    std::uint64_t count = 0;
    for (const Region& region : read(child.pid()).regions)
      count += region.huge && region.address >= start && region.address < start + kHuge * kTableBytes;
    return count;
  };
  const std::uint64_t before = huge_pages();
  if (before == 0) GTEST_SKIP() << "the kernel gave no huge pages";
  Result<Census::Subject> subject = census->attach({child.pid(), 0});
  ASSERT_TRUE(subject);
  for (Pace pace : {Pace::steady, Pace::in_turns}) {
    Runs runs;
    for (std::uint64_t page = 0; page < kHuge; ++page)
      runs.push_back({start + page * kTableBytes, kTablePages});
    runs.push_back({start, kHuge * kTablePages});                // longer than a turn's call
    runs.insert(runs.begin(), {start + kHuge * kTableBytes, 1}); // so that nothing ends where a huge page does
    ASSERT_TRUE(age_runs(subject->pidfd(), runs, pace));
    EXPECT_EQ(huge_pages(), before);
  }
}

// One call of the kernel's does 2 GiB at most, and does not say so.
TEST_F(CensusTest, aging_reaches_the_end_of_a_run_that_one_call_does_not) {
  constexpr std::uint64_t kRunPages = (std::uint64_t{9} << 30) / 4 / 4096; // 2.25 GiB, nearly all of it empty
  char* memory = map_pages(kRunPages, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
  QuietChild child({[&] {
    write_pages(memory, 0, 2);
    write_pages(memory, kRunPages - 2, kRunPages);
    write_pages(memory, kRunPages / 2, kRunPages / 2 + 256); // the newest pages are not on the kernel's lists yet
  }});
  child.run(0);
  Result<Census::Subject> subject = census->attach({child.pid(), 0});
  ASSERT_TRUE(subject);
  const auto start = reinterpret_cast<std::uint64_t>(memory);
  for (Pace pace : {Pace::steady, Pace::in_turns}) {
    child.run(0);
    Result<ClearReport> report = age_runs(subject->pidfd(), Runs{{start, kRunPages}, {start + 4096, 1}}, pace);
    ASSERT_TRUE(report) << to_sentence(report.error());
    EXPECT_EQ(report->runs, 2);
    EXPECT_EQ(report->pages, kRunPages + 1);
    unsigned accessed = 0;
    for (const Region& region : read(child.pid()).regions)
      for (std::uint64_t page : {std::uint64_t{0}, std::uint64_t{1}, kRunPages - 2, kRunPages - 1})
        if (const std::uint64_t offset = start + page * 4096 - region.address; offset < kTableBytes)
          accessed += (region.accessed & region.own()).test(static_cast<unsigned>(offset / 4096));
    EXPECT_EQ(accessed, 0);
  }
}

} // namespace
} // namespace hotset
