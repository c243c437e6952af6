// SPDX-License-Identifier: Apache-2.0
#include "workload/truth.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "base/units.h"

namespace hotset {
namespace {

constexpr auto kNoAccess = [] {};

// A record of this very process, found as an observer would find it.
struct Pair {
  TruthRecord record;
  TruthReader reader;

  explicit Pair(std::uint64_t pages)
      : record(TruthRecord::create(pages).value()),
        reader(TruthReader::open(Files(), ProcessId{::getpid(), 0}).value()) {}
  void touch(std::uint64_t page) { record.touch(page, kNoAccess); }
};

TEST(Truth, no_page_is_touched_before_the_first_window) {
  Pair pair(8);
  pair.touch(3);
  EXPECT_EQ(pair.reader.next_window(), 0U);
  EXPECT_EQ(pair.reader.touched_pages(0), 0U);
}

TEST(Truth, a_window_holds_exactly_the_pages_touched_within_it) {
  Pair pair(8);
  pair.reader.next_window();
  pair.touch(1);
  pair.touch(6);
  pair.touch(6);
  std::uint32_t ended = pair.reader.next_window();
  EXPECT_EQ(pair.reader.touched_pages(ended), 2U);
  EXPECT_EQ(pair.reader.touched(ended), (std::vector<bool>{false, true, false, false, false, false, true, false}));
}

TEST(Truth, a_touch_in_the_next_window_does_not_erase_the_window_before) {
  Pair pair(4);
  pair.reader.next_window();
  pair.touch(0);
  pair.touch(1);
  std::uint32_t first = pair.reader.next_window();
  pair.touch(1);
  pair.touch(2);
  EXPECT_EQ(pair.reader.touched_pages(first), 2U);
  std::uint32_t second = pair.reader.next_window();
  EXPECT_EQ(pair.reader.touched(second), (std::vector<bool>{false, true, true, false}));
}

TEST(Truth, a_page_left_alone_drops_out_of_every_later_window) {
  Pair pair(2);
  pair.reader.next_window();
  pair.touch(0);
  EXPECT_EQ(pair.reader.touched_pages(pair.reader.next_window()), 1U);
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(pair.reader.touched_pages(pair.reader.next_window()), 0U);
}

TEST(Truth, a_page_in_flight_at_the_seam_is_in_the_window_that_saw_the_touch) {
  Pair pair(2);
  pair.reader.next_window();
  std::uint32_t ended = 0;
  pair.record.touch(1, [&] { ended = pair.reader.next_window(); });
  EXPECT_EQ(pair.reader.touched_pages(ended), 1U);
  EXPECT_EQ(pair.reader.touched_pages(pair.reader.next_window()), 1U);
}

TEST(Truth, a_touch_that_sleeps_over_two_seams_does_not_lose_the_newest_window) {
  Pair pair(2);
  pair.reader.next_window();
  pair.record.touch(1, [&] {
    pair.reader.next_window();
    pair.reader.next_window();
  });
  EXPECT_EQ(pair.reader.touched_pages(pair.reader.next_window()), 1U);
}

TEST(Truth, window_numbers_wrap_past_zero_and_keep_the_tables_alternating) {
  EXPECT_EQ(window_after(0), 1U);
  EXPECT_EQ(window_after(1), 2U);
  EXPECT_EQ(window_after(UINT32_MAX), 2U);
  EXPECT_NE(window_after(UINT32_MAX) & 1, UINT32_MAX & 1);
}

TEST(Truth, an_observer_that_comes_later_goes_on_with_fresh_window_numbers) {
  Pair pair(2);
  pair.reader.next_window();
  pair.touch(0);
  TruthReader later = TruthReader::open(Files(), ProcessId{::getpid(), 0}).value();
  std::uint32_t ended = later.next_window();
  EXPECT_EQ(ended, 1U);
  EXPECT_EQ(later.touched_pages(later.next_window()), 0U);
}

TEST(Truth, says_where_the_region_is_and_how_often_it_moved) {
  Pair pair(4);
  EXPECT_EQ(pair.reader.address(), 0U);
  pair.record.set_region(reinterpret_cast<void*>(0x10000), 4);
  pair.record.set_region(reinterpret_cast<void*>(0x10000), 3);
  pair.record.set_region(reinterpret_cast<void*>(0x20000), 4);
  EXPECT_EQ(pair.reader.address(), 0x20000U);
  EXPECT_EQ(pair.reader.covered(), 4U);
  EXPECT_EQ(pair.reader.moves(), 2U);
}

TEST(Truth, a_process_without_a_record_is_not_found) {
  Result<TruthReader> reader = TruthReader::open(Files(), ProcessId{::getpid(), 0});
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().code, ErrorCode::not_found);
}

TEST(Truth, a_process_that_does_not_exist_is_not_found) {
  Result<TruthReader> reader = TruthReader::open(Files(), ProcessId{0x3FFFFFFF, 0});
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().code, ErrorCode::not_found);
}

TEST(Truth, a_record_of_no_pages_or_too_many_is_a_usage_error) {
  EXPECT_EQ(TruthRecord::create(0).error().code, ErrorCode::usage);
  EXPECT_EQ(TruthRecord::create(kTruthMaxPages + 1).error().code, ErrorCode::usage);
  EXPECT_EQ(TruthRecord::create(UINT64_MAX / 4).error().code, ErrorCode::usage);
}

// What another program could publish under our name.
struct Forgery {
  unsigned flags = MFD_ALLOW_SEALING;
  int seals = F_SEAL_SHRINK | F_SEAL_GROW;
  std::uint64_t bytes = kTruthStampsOffset + 2 * 4 * 16;
  bool allocated = true;
  std::uint64_t magic = kTruthMagic;
  std::uint32_t version = kTruthVersion;
  std::uint64_t pages = 16;

  [[nodiscard]] ErrorCode verdict() const {
    Fd fd(::memfd_create("hotset-truth", flags));
    struct {
      std::uint64_t magic;
      std::uint32_t version, page_bytes;
      std::uint64_t pages;
    } head{magic, version, static_cast<std::uint32_t>(page_bytes()), pages};
    auto size = static_cast<off_t>(bytes);
    bool made = fd.valid() && ::ftruncate(fd.get(), size) == 0 &&
                (!allocated || ::fallocate(fd.get(), 0, 0, size) == 0) &&
                (bytes < sizeof(head) || ::pwrite(fd.get(), &head, sizeof(head), 0) == ssize_t{sizeof(head)}) &&
                (seals == 0 || ::fcntl(fd.get(), F_ADD_SEALS, seals) == 0);
    EXPECT_TRUE(made) << std::strerror(errno);
    Result<TruthReader> reader = TruthReader::open(Files(), ProcessId{::getpid(), 0});
    return reader ? ErrorCode{} : reader.error().code;
  }
};

TEST(TruthOfAStranger, is_taken_when_it_is_well_formed) {
  EXPECT_EQ(Forgery{}.verdict(), ErrorCode{});
}

TEST(TruthOfAStranger, that_could_shrink_under_the_reader_is_refused) {
  EXPECT_EQ(Forgery{.seals = 0}.verdict(), ErrorCode::bad_data);
  EXPECT_EQ(Forgery{.seals = F_SEAL_GROW}.verdict(), ErrorCode::bad_data);
}

TEST(TruthOfAStranger, that_is_truncated_or_has_holes_is_refused) {
  EXPECT_EQ((Forgery{.bytes = kTruthStampsOffset + 128, .allocated = false}.verdict()), ErrorCode::bad_data);
  EXPECT_EQ(Forgery{.bytes = 1}.verdict(), ErrorCode::bad_data);
  EXPECT_EQ(Forgery{.bytes = 63}.verdict(), ErrorCode::bad_data);
  EXPECT_EQ(Forgery{.bytes = kTruthStampsOffset}.verdict(), ErrorCode::bad_data);
  EXPECT_EQ(
      (Forgery{.bytes = kTruthStampsOffset + 8 * (1ULL << 20), .allocated = false, .pages = 1ULL << 20}).verdict(),
      ErrorCode::bad_data);
}

TEST(TruthOfAStranger, whose_page_count_does_not_fit_its_size_is_refused) {
  for (unsigned long long pages : {0ULL, 15ULL, 17ULL, 1ULL << 61, (1ULL << 61) + 16, ~0ULL})
    EXPECT_EQ(Forgery{.pages = pages}.verdict(), ErrorCode::bad_data) << pages;
}

TEST(TruthOfAStranger, with_another_magic_or_version_is_refused) {
  EXPECT_EQ(Forgery{.magic = 1}.verdict(), ErrorCode::bad_data);
  EXPECT_EQ(Forgery{.version = kTruthVersion + 1}.verdict(), ErrorCode::bad_data);
}

} // namespace
} // namespace hotset
