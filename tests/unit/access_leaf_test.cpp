// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "access/leaf.h"
#include "access/snapshot.h"

namespace hotset {
namespace {

TEST(PageMask, range_holds_its_pages_and_no_others) {
  for (unsigned first : {0U, 1U, 63U, 64U, 65U, 300U, 511U})
    for (unsigned last : {0U, 1U, 64U, 65U, 128U, 301U, 512U}) {
      PageMask mask = PageMask::range(first, last);
      for (unsigned page = 0; page < kTablePages; ++page)
        ASSERT_EQ(mask.test(page), page >= first && page < last) << first << ".." << last << " page " << page;
      EXPECT_EQ(mask.count(), last > first ? last - first : 0);
    }
}

TEST(PageMask, nth_next_and_last_agree_with_a_list) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 50; ++round) {
    PageMask mask;
    std::vector<unsigned> list;
    for (unsigned page = 0; page < kTablePages; ++page)
      if (random() % 7 == 0) {
        mask.set(page);
        list.push_back(page);
      }
    for (unsigned i = 0; i < list.size(); ++i)
      ASSERT_EQ(mask.nth(i), list[i]);
    EXPECT_EQ(mask.last(), list.back());
    unsigned at = 0;
    for (unsigned page : list) {
      ASSERT_EQ(mask.next(at), page);
      at = page + 1;
    }
    EXPECT_EQ(mask.next(at), kTablePages);
  }
}

TEST(Leaf, fast_scan_equals_the_naive_scan) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 200; ++round) {
    std::vector<Entry> entries(kTablePages);
    for (auto& entry : entries)
      entry = random() & random();
    LeafPages fast = scan_leaf(entries), naive = scan_leaf_portable(entries);
    EXPECT_EQ(fast.present, naive.present);
    EXPECT_EQ(fast.accessed, naive.accessed);
    EXPECT_EQ(fast.writable, naive.writable);
  }
}

TEST(Leaf, a_part_of_a_table_is_scanned_as_in_the_whole) {
  std::mt19937_64 random(3);
  std::vector<Entry> entries(kTablePages);
  for (auto& entry : entries)
    entry = random();
  const LeafPages whole = scan_leaf(entries);
  for (unsigned first : {0U, 1U, 63U, 64U, 200U, 511U})
    for (unsigned last : {first + 1, (first + kTablePages) / 2, kTablePages}) {
      LeafPages part = scan_leaf(std::span(entries).subspan(first, last - first), first);
      EXPECT_EQ(part.present, whole.present & PageMask::range(first, last)) << first << ".." << last;
      EXPECT_EQ(part.accessed, whole.accessed & PageMask::range(first, last));
      EXPECT_EQ(part.writable, whole.writable & PageMask::range(first, last));
    }
}

TEST(Leaf, a_protected_page_is_resident_and_a_swapped_one_is_not) {
  std::vector<Entry> entries(kTablePages);
  entries[1] = kEntryPresent | kEntryAccessed;
  entries[2] = kEntryProtNone | kEntryAccessed; // mprotect(PROT_NONE), NUMA hinting
  entries[3] = kEntryAccessed | 0x7ffff000;     // a swap entry: its bits mean other things
  entries[4] = kEntryPresent | kEntryWritable;
  LeafPages pages = scan_leaf(entries);
  EXPECT_EQ(pages.present.count(), 3);
  EXPECT_EQ(pages.accessed.count(), 2);
  EXPECT_EQ(pages.writable.count(), 1);
  EXPECT_FALSE(pages.present.test(3));
}

TEST(Snapshot, totals_keep_hugetlb_and_special_mappings_out_of_the_resident_pages) {
  Snapshot snapshot;
  for (Mapping mapping : {Mapping::anonymous, Mapping::file, Mapping::hugetlb, Mapping::special}) {
    Region region{.address = kTableBytes * (1 + snapshot.regions.size()), .mapping = mapping};
    region.present = PageMask::range(0, 10);
    region.accessed = PageMask::range(0, 4);
    snapshot.regions.push_back(region);
  }
  PageCount resident = totals(snapshot).resident();
  EXPECT_EQ(resident.present, 20);
  EXPECT_EQ(resident.accessed, 8);
}

} // namespace
} // namespace hotset
