// SPDX-License-Identifier: Apache-2.0
// What the census tells of who else maps a page.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <csignal>

#include "kernel/access_child.h"
#include "kernel/census_test.h"

namespace hotset {
namespace {

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
  const std::uint16_t before = forks();
  child.run(0);
  EXPECT_EQ(forks(), before);
  child.run(1);
  const std::uint16_t after = forks();
  EXPECT_NE(after, before);
  child.run(2);
  EXPECT_EQ(forks(), after);
  ::munmap(memory, 8 * 4096);
}

} // namespace
} // namespace hotset
