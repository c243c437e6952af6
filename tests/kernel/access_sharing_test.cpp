// SPDX-License-Identifier: Apache-2.0
// Pages that others map, too, or that the kernel maps without their being touched.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "access/meter.h"
#include "base/fd.h"
#include "kernel/access_child.h"
#include "kernel/census_test.h"

namespace hotset {
namespace {

using namespace std::chrono_literals;

// What a process touches beside what it is told to: stack, heap, code.
constexpr double kBeside = 64;

using SharingTest = WithCensus;

TEST_F(SharingTest, shared_memory_is_told_from_shared_memory_that_nobody_else_maps) {
  constexpr std::uint64_t kRegion = 1024;
  char* memory = map_pages(kRegion);
  ::munmap(memory, kRegion * 4096); // a place for the child's own
  pid_t grandchild = -1;
  QuietChild child({[&] {
                      constexpr int kFlags = MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED;
                      if (::mmap(memory, kRegion * 4096, PROT_READ | PROT_WRITE, kFlags, -1, 0) == MAP_FAILED)
                        ::abort();
                      write_pages(memory, 0, kRegion);
                    },
                    [&] { grandchild = fork_sleeper(); },
                    [&] {
                      ::kill(grandchild, SIGKILL);
                      ::waitpid(grandchild, nullptr, 0);
                    }});
  const auto start = reinterpret_cast<std::uint64_t>(memory);
  for (unsigned char step = 0; step < 3; ++step) {
    child.run(step);
    std::uint64_t pages = 0, exclusive = 0;
    for (const Region& region : read(child.pid()).regions) {
      if (region.mapping != Mapping::shmem || region.address + kTableBytes <= start ||
          region.address >= start + kRegion * 4096)
        continue;
      pages += region.present.count();
      exclusive += region.exclusive().count();
    }
    EXPECT_EQ(pages, kRegion);
    EXPECT_EQ(exclusive, step == 1 ? 0 : kRegion) << static_cast<unsigned>(step);
  }
}

TEST_F(SharingTest, a_fork_shows_in_its_number_and_nothing_else_does) {
  char* memory = map_pages(8);
  pid_t grandchild = -1;
  QuietChild child(
      {[&] { write_pages(memory, 0, 8); }, [&] { grandchild = fork_sleeper(); }, [&] { ::kill(grandchild, SIGKILL); }});
  auto forks = [&] { return read(child.pid()).regions.front().forks; };
  const std::uint32_t before = forks();
  child.run(0);
  EXPECT_EQ(forks(), before);
  child.run(1);
  const std::uint32_t after = forks();
  EXPECT_NE(after, before);
  child.run(2);
  EXPECT_EQ(forks(), after);
  ::munmap(memory, 8 * 4096);
}

// A server whose child, which shares its memory, ends just when that is cleared: nobody touches anything.
TEST_F(SharingTest, pages_whose_sharer_ends_meanwhile_are_not_taken_for_touched) {
  constexpr std::uint64_t kPages = 16384;
  constexpr int kTries = 40;
  char* memory = map_pages(kPages);
  auto* grandchild = reinterpret_cast<pid_t*>(map_pages(1, MAP_SHARED | MAP_ANONYMOUS));
  QuietChild child({[&] { write_pages(memory, 0, kPages); }, [&] { *grandchild = fork_sleeper(); },
                    [&] { ::waitpid(*grandchild, nullptr, 0); }});
  child.run(0);
  Result<AccessMeter> opened = AccessMeter::open(*census, {child.pid(), 0}, clock, 1);
  ASSERT_TRUE(opened) << to_sentence(opened.error());
  int caught = 0; // tries in which it ended between the clear and the look at what that did
  for (int i = 0; i < kTries; ++i) {
    child.run(0);
    child.run(1);
    std::jthread end([&] {
      clock.sleep_until(clock.now() + i * 100us);
      ::kill(*grandchild, SIGKILL);
    });
    ASSERT_TRUE(opened->begin({.method = Aim::Method::exact, .budget_us = 1e6}));
    end.join();
    Result<MeterReading> reading = opened->read();
    ASSERT_TRUE(reading);
    EXPECT_LE(reading->answer.low, kBeside) << i;
    caught += std::ranges::any_of(reading->answer.held,
                                  [](const Held& held) { return held.code == kHeldUndecided.code && held.pages > 64; });
    child.run(2);
  }
  ::munmap(grandchild, 4096);
  ::munmap(memory, kPages * 4096);
  if (caught == 0) GTEST_SKIP() << "it never ended at the right moment";
}

// One page in sixteen is touched, of a file in the page cache that was just mapped.
class AroundFaults : public WithCensus, public testing::WithParamInterface<bool> {
 protected:
  static constexpr std::uint64_t kPages = 480, kTouched = kPages / 16; // less than a huge page, which counts whole
};

TEST_P(AroundFaults, map_pages_that_are_not_taken_for_touched) {
  const bool writes = GetParam();
  char name[] = "/tmp/hotset-around-XXXXXX";
  const Fd on_disk(::mkstemp(name)), in_memory(::memfd_create("around", MFD_CLOEXEC));
  ::unlink(name);
  for (int file : {on_disk.get(), in_memory.get()}) {
    ASSERT_EQ(::ftruncate(file, kPages * 4096), 0);
    char* memory = map_pages(kPages, MAP_SHARED, file);
    write_pages(memory, 0, kPages); // they are in the page cache, but the child has its own page table
    auto touch = [&] {
      volatile char sum = 0;
      for (std::uint64_t page = 5; page < kPages; page += 16)
        if (writes)
          memory[page * 4096] = 1;
        else
          sum = static_cast<char>(sum + memory[page * 4096]);
    };
    QuietChild child({touch});
    Result<AccessMeter> opened = AccessMeter::open(*census, {child.pid(), 0}, clock, 1);
    ASSERT_TRUE(opened) << to_sentence(opened.error());
    for (int window = 0; window < 2; ++window) {
      ASSERT_TRUE(opened->begin({.method = Aim::Method::exact, .budget_us = 1e6}));
      child.run(0);
      const Result<MeterReading> reading = opened->read();
      ASSERT_TRUE(reading);
      EXPECT_LE(reading->answer.low, kTouched + kBeside) << window;
      EXPECT_GE(reading->answer.high, kTouched) << window;
      EXPECT_EQ(std::ranges::count(reading->answer.held, kHeldAround.code, &Held::code), window == 0 ? 1 : 0);
    }
    ::munmap(memory, kPages * 4096);
  }
}

INSTANTIATE_TEST_SUITE_P(Which, AroundFaults, testing::Bool(),
                         [](const auto& test) { return test.param ? "write" : "read"; });

// A window of a large file slides over it, always at the same address: each time one page in sixteen is read.
TEST_F(SharingTest, another_part_of_the_same_file_is_not_what_was_mapped_before) {
  constexpr std::uint64_t kPages = 480, kTouched = kPages / 16;
  const Fd file(::memfd_create("slides", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(file.get(), 2 * kPages * 4096), 0);
  char* memory = map_pages(2 * kPages, MAP_SHARED, file.get());
  write_pages(memory, 0, 2 * kPages);
  auto look = [&](std::uint64_t first) {
    void* at =
        ::mmap(memory, kPages * 4096, PROT_READ, MAP_SHARED | MAP_FIXED, file.get(), static_cast<off_t>(first * 4096));
    if (at == MAP_FAILED) ::abort();
    volatile char sum = 0;
    for (std::uint64_t page = 5; page < kPages; page += 16)
      sum = static_cast<char>(sum + memory[page * 4096]);
  };
  QuietChild child({[&] { look(0); }, [&] { look(kPages); }});
  child.run(0);
  Result<AccessMeter> opened = AccessMeter::open(*census, {child.pid(), 0}, clock, 1);
  ASSERT_TRUE(opened) << to_sentence(opened.error());
  for (unsigned char window = 0; window < 4; ++window) {
    ASSERT_TRUE(opened->begin({.method = Aim::Method::exact, .budget_us = 1e6}));
    child.run(window % 2 == 0 ? 1 : 0);
    const Result<MeterReading> reading = opened->read();
    ASSERT_TRUE(reading);
    EXPECT_LE(reading->answer.low, kTouched + kBeside) << int{window};
    EXPECT_GE(reading->answer.high, kTouched) << int{window};
  }
  ::munmap(memory, 2 * kPages * 4096);
}

// Pages whose bits could not be cleared, as a child shares them, go to another address: nobody touches them.
TEST_F(SharingTest, moved_memory_is_not_taken_for_touched) {
  constexpr std::uint64_t kPages = 2048;
  char* memory = map_pages(kPages);
  char* place = map_pages(kPages);
  volatile pid_t grandchild = 0;
  QuietChild child({[&] {
                      write_pages(memory, 0, kPages);
                      grandchild = fork_sleeper();
                    },
                    [&] { ::mremap(memory, kPages * 4096, kPages * 4096, MREMAP_MAYMOVE | MREMAP_FIXED, place); },
                    [&] { ::kill(grandchild, SIGKILL); }});
  child.run(0);
  Result<AccessMeter> opened = AccessMeter::open(*census, {child.pid(), 0}, clock, 1);
  ASSERT_TRUE(opened) << to_sentence(opened.error());
  ASSERT_TRUE(opened->begin({.method = Aim::Method::exact, .budget_us = 1}));
  child.run(1);
  const Result<MeterReading> reading = opened->read();
  ASSERT_TRUE(reading);
  EXPECT_LE(reading->answer.low, kBeside);
  EXPECT_GE(reading->answer.high, kPages);
  child.run(2);
  ::munmap(memory, kPages * 4096);
  ::munmap(place, kPages * 4096);
}

// The memory of the program before is gone, and most of what is mapped of the new one was mapped around faults.
TEST_F(SharingTest, an_exec_in_the_window_is_told_and_nothing_old_counts) {
  QuietChild child({[] { ::execl("/bin/sleep", "sleep", "60", nullptr); }});
  Result<AccessMeter> opened = AccessMeter::open(*census, {child.pid(), 0}, clock, 1);
  ASSERT_TRUE(opened) << to_sentence(opened.error());
  ASSERT_TRUE(opened->begin({.method = Aim::Method::exact, .budget_us = 1e6}));
  Result<MeterReading> reading = opened->read();
  ASSERT_TRUE(reading);
  EXPECT_FALSE(reading->execed);
  child.start(0);
  PageCount files; // in guests they are in memory
  for (int i = 0; i < 1000 && files.present == 0; ++i) {
    clock.sleep_until(clock.now() + 10ms);
    reading = opened->read();
    ASSERT_TRUE(reading);
    if (!reading->execed) continue;
    for (Mapping mapping : {Mapping::file, Mapping::shmem}) {
      files.present += reading->answer.by_mapping[static_cast<std::size_t>(mapping)].present;
      files.accessed += reading->answer.by_mapping[static_cast<std::size_t>(mapping)].accessed;
    }
  }
  EXPECT_GT(files.present, 0);
  EXPECT_LT(files.accessed, files.present);
  ASSERT_TRUE(opened->begin({.method = Aim::Method::exact, .budget_us = 1e6}));
  reading = opened->read();
  ASSERT_TRUE(reading);
  EXPECT_FALSE(reading->execed);
  ::kill(child.pid(), SIGKILL);
}

} // namespace
} // namespace hotset
