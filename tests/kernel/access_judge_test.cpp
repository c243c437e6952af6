// SPDX-License-Identifier: Apache-2.0
// Which pages MADV_COLD passes over, by what the kernel says of them.
#include "access/judge.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "kernel/access_child.h"

namespace hotset {
namespace {

// A page of memory that was huge and is no longer mapped so, but still is one piece to the kernel.
TEST(Judge, a_part_of_a_larger_folio_is_passed_over_and_a_whole_one_is_not) {
  Result<FrameFlags> flags = FrameFlags::open();
  if (!flags) GTEST_SKIP() << to_sentence(flags.error());
  Judge judge(std::move(*flags));
  char* memory = map_pages(2 * kTablePages);
  const auto start = (reinterpret_cast<std::uint64_t>(memory) + kTableBytes - 1) / kTableBytes * kTableBytes;
  char* huge = memory + (start - reinterpret_cast<std::uint64_t>(memory));
  ::madvise(huge, kTableBytes, MADV_HUGEPAGE);
  QuietChild child({[&] { write_pages(huge, 0, kTablePages); },
                    [&] { ::mprotect(huge + 4096, 4096, PROT_READ); }}); // its entry becomes a table of 512
  child.run(0);
  const PageMask pages = PageMask::range(100, 110);
  judge.restart();
  Result<Pagemap> pagemap = Pagemap::open(child.pid());
  ASSERT_TRUE(pagemap);
  const std::uint64_t frame = pagemap->read(start, 1).value()[0].frame();
  if (frame == 0 || (FrameFlags::open().value().read(frame).value_or(0) & FrameFlags::kOfFolio) == 0)
    GTEST_SKIP() << "the kernel gave no huge page";
  EXPECT_EQ(judge.passed_over(child.pid(), start, pages, true), PageMask{});
  child.run(1);
  judge.restart();
  EXPECT_EQ(judge.passed_over(child.pid(), start, pages, false), pages);
}

} // namespace
} // namespace hotset
