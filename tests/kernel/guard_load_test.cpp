// SPDX-License-Identifier: Apache-2.0
// Under load: counts that add up, and no verdict from before a rename after it.
#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>
#include <vector>

#include "guard/event_reader.h"
#include "guard_files.h"

namespace hotset {
namespace {

class GuardLoad : public GuardTest {
 protected:
  Folder folder_;
};

TEST_P(GuardLoad, the_counts_add_up_to_the_opens) {
  constexpr int kThreads = 4, kOpens = 4000, kFiles = 50;
  for (int i = 0; i < kFiles; ++i)
    folder_.file(fmt::format("{}/{}", i % 3 == 0 ? "denied" : "allowed", i));
  std::filesystem::create_directories(folder_ / "moved");
  Guard guard = start(auditing(rule("/**/denied/", "deny") + rule("/**/allowed/", "allow")));
  GuardCounts before = totals_of(guard.history().value());
  std::atomic<std::uint64_t> opened = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&, thread] {
      for (int i = 0; i < kOpens; ++i) {
        int file = (i * 7 + thread * 13) % kFiles;
        std::string path = folder_ / fmt::format("{}/{}", file % 3 == 0 ? "denied" : "allowed", file);
        if (open_errno(path) == 0) ++opened;
        if (i % 100 == 0) { // a rename of a directory ends much of what is known
          std::string from = folder_ / fmt::format("moved/{}", thread);
          std::filesystem::create_directories(from);
          std::filesystem::rename(from, from + "-again");
          std::filesystem::remove(from + "-again");
        }
      }
    });
  for (std::thread& thread : threads)
    thread.join();
  GuardCounts after = totals_of(guard.history().value());
  std::uint64_t judged = after[GuardCounter::lookups] - before[GuardCounter::lookups];
  std::uint64_t missed = guard.status().value().missed.value();
  EXPECT_LE(judged, opened.load());
  EXPECT_GE(judged + missed, opened.load());
  if (missed == 0) {
    EXPECT_EQ(judged, opened.load());
  }
  EXPECT_EQ(opened.load(), static_cast<std::uint64_t>(kThreads) * kOpens);
  EXPECT_TRUE(after.adds_up());
  if (guard.keeps()) {
    EXPECT_GT(after.hits(), before.hits());
  }
  // A walk that meets a rename under way again and again gives up: emulated processors take turns in the midst of one.
  EXPECT_LE(after[GuardCounter::unknown] - before[GuardCounter::unknown], 4U);
}

// Others fill what they can while the directory goes to and fro. Whoever renamed it opens the file right afterwards,
// and an event says what the verdict was; the others, who are denied nothing, have none.
TEST_P(GuardLoad, an_open_after_a_rename_is_never_judged_by_the_old_name) {
  constexpr int kRounds = 2000;
  folder_.file("allowed/x/a");
  std::filesystem::create_directories(folder_ / "denied");
  GuardOptions many = options();
  many.events_per_second = 100'000'000;
  Guard guard = start(auditing(rule("/**/denied/", "deny", "command = \"renamer\"")), many);
  GuardEventReader reader = GuardEventReader::open(guard.events_fd()).value();
  std::string allowed = folder_ / "allowed/x", denied = folder_ / "denied/x";
  std::atomic<bool> over = false;
  std::vector<std::thread> fillers;
  for (int i = 0; i < 2; ++i)
    fillers.emplace_back([&] {
      ::prctl(PR_SET_NAME, "filler");
      while (!over) {
        open_errno(allowed + "/a");
        open_errno(denied + "/a");
      }
    });
  ::prctl(PR_SET_NAME, "renamer");
  int wrong = 0; // judged by the old name, or missed
  int denied_by_the_old = 0;
  auto renamer_was_denied = [&] { return reader.poll(Nanoseconds::zero(), [](const GuardEvent&) {}).value() > 0; };
  for (int round = 0; round < kRounds; ++round) {
    bool to_denied = round % 2 == 0;
    const std::string& from = to_denied ? allowed : denied;
    const std::string& to = to_denied ? denied : allowed;
    if (::rename(from.c_str(), to.c_str()) != 0 || open_errno(to + "/a") != 0) {
      ADD_FAILURE() << "round " << round << " " << errno;
      break;
    }
    bool was_denied = renamer_was_denied();
    if (was_denied != to_denied) ++wrong;
    if (was_denied && !to_denied) ++denied_by_the_old;
  }
  over = true;
  for (std::thread& thread : fillers)
    thread.join();
  // An open that the kernel did not show is told by no event either.
  std::uint64_t missed = guard.status().value().missed.value();
  EXPECT_LE(static_cast<std::uint64_t>(wrong), missed) << "of " << kRounds;
  EXPECT_EQ(denied_by_the_old, 0) << "of " << kRounds;
  GuardCounts counts = totals_of(guard.history().value());
  EXPECT_EQ(counts[GuardCounter::events_lost], 0U) << "then it could not be told";
  if (guard.keeps()) {
    EXPECT_GT(counts[GuardCounter::fills], 0U);
  }
  EXPECT_TRUE(counts.adds_up());
}

HOTSET_GUARD_TESTS(GuardLoad);

} // namespace
} // namespace hotset
