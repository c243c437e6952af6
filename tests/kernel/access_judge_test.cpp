// SPDX-License-Identifier: Apache-2.0
// Which pages MADV_COLD passes over, by what the kernel says of them.
#include "access/judge.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <csignal>
#include <optional>

#include "kernel/access_child.h"

namespace hotset {
namespace {

// A page of memory that was huge and is no longer mapped so, but still is one piece to the kernel.
class JudgeTest : public testing::TestWithParam<bool> {
 protected:
  JudgeTest() { ::madvise(huge, kTableBytes, MADV_HUGEPAGE); }
  ~JudgeTest() override { ::munmap(memory, 2 * kTableBytes); }
  void SetUp() override {
    Result<FrameFlags> opened = FrameFlags::open();
    if (!opened) GTEST_SKIP() << to_sentence(opened.error());
    judge.emplace(std::move(*opened), AgeTraits{.stops_at_folios = GetParam()});
  }
  // The child touches all of it; whether it got one huge page.
  [[nodiscard]] bool is_huge(const QuietChild& child) const {
    Result<Pagemap> pagemap = Pagemap::open(child.pid());
    const std::uint64_t frame = pagemap ? pagemap->read(start, 1).value()[0].frame() : 0;
    return frame != 0 && (FrameFlags::open().value().read(frame).value_or(0) & FrameFlags::kOfFolio) != 0;
  }
  // All pages when it could not be told.
  Judged judged(const QuietChild& child, const PageMask& pages, bool is_huge) {
    judge->restart();
    const std::optional<Judged> told = judge->judge(child.pid(), start, {.address = start, .huge = is_huge}, pages);
    EXPECT_TRUE(told);
    return told.value_or(Judged{.passed = pages});
  }

  char* memory = map_pages(2 * kTablePages);
  std::uint64_t start = (reinterpret_cast<std::uint64_t>(memory) + kTableBytes - 1) / kTableBytes * kTableBytes;
  char* huge = memory + (start - reinterpret_cast<std::uint64_t>(memory));
  std::optional<Judge> judge;
};

// Memory that was huge and is no longer mapped so, but still is one piece to the kernel.
TEST_P(JudgeTest, a_part_of_a_larger_folio_is_passed_over_and_a_whole_one_is_not) {
  QuietChild child({[&] { write_pages(huge, 0, kTablePages); },
                    [&] { ::mprotect(huge + 4096, 4096, PROT_READ); }}); // its entry becomes a table of 512
  child.run(0);
  if (!is_huge(child)) GTEST_SKIP() << "the kernel gave no huge page";
  const PageMask pages = PageMask::range(100, 110);
  EXPECT_EQ(judged(child, pages, true).passed, PageMask{});
  child.run(1);
  EXPECT_EQ(judged(child, pages, false).passed, pages);
  EXPECT_EQ(judged(child, pages, false).small, PageMask{});
}

TEST_P(JudgeTest, what_lies_behind_a_part_of_a_larger_folio_is_passed_over_where_madv_cold_stops_there) {
  volatile pid_t grandchild = 0;
  QuietChild child({[&] { write_pages(huge, 0, kTablePages); },
                    [&] {
                      grandchild = fork_sleeper(); // these become small pages of our own, the rest is shared with it
                      write_pages(huge, 0, 10);
                      write_pages(huge, 20, kTablePages, 2);
                    },
                    [&] { ::kill(grandchild, SIGKILL); }});
  child.run(0);
  if (!is_huge(child)) GTEST_SKIP() << "the kernel gave no huge page";
  child.run(1);
  const PageMask before = PageMask::range(0, 10);
  PageMask behind;
  for (unsigned page = 20; page < 400; page += 2)
    behind.set(page);
  EXPECT_EQ(judged(child, behind, false).passed == behind, GetParam());
  EXPECT_EQ(judged(child, before, false).small, GetParam() ? before : PageMask{});
  child.run(2);
}

INSTANTIATE_TEST_SUITE_P(Where, JudgeTest, testing::Bool(),
                         [](const auto& test) { return test.param ? "it_stops" : "it_goes_on"; });

} // namespace
} // namespace hotset
