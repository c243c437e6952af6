// SPDX-License-Identifier: Apache-2.0
// Workloads on real memory: what they publish is what they do, and what they state is what the kernel says.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <optional>
#include <set>
#include <sstream>
#include <string>

#include "base/clock.h"
#include "base/units.h"
#include "identity/process.h"
#include "workload/process.h"
#include "workload/truth.h"

namespace hotset {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

WorkloadSpec spec_of(std::string_view pattern, std::uint64_t rss, double hot) {
  WorkloadSpec spec = default_spec(**find_pattern(pattern));
  spec.rss_bytes = rss;
  spec.hot = hot;
  return spec;
}

// Looks again and again, for half a minute at most.
bool eventually(const std::function<bool()>& holds) {
  SystemClock clock;
  for (Nanoseconds end = clock.now() + 30s; clock.now() < end; clock.sleep_until(clock.now() + 1ms))
    if (holds()) return true;
  return false;
}

TruthReader truth_of(pid_t pid) {
  return TruthReader::open(Files(), ProcessId{pid, 0}).value();
}

// One window, long enough for so many passes over the hot set.
std::vector<bool> observe(TruthReader& truth, std::uint32_t passes) {
  truth.next_window();
  std::uint32_t begin = truth.passes();
  EXPECT_TRUE(eventually([&] { return truth.passes() - begin > passes; }));
  return truth.touched(truth.next_window());
}

std::uint64_t count(const std::vector<bool>& touched) {
  return static_cast<std::uint64_t>(std::ranges::count(touched, true));
}

// A field in bytes, added up over the mappings of smaps that overlap the region.
std::optional<std::uint64_t> smaps_field(pid_t pid, std::uint64_t begin, std::uint64_t end, std::string_view field) {
  Result<std::string> text = Files().read(fmt::format("/proc/{}/smaps", pid));
  if (!text) return std::nullopt;
  std::istringstream lines(*text);
  std::uint64_t sum = 0;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    std::uint64_t from = 0, to = 0, kilobytes = 0;
    std::string word;
    std::istringstream words(line);
    char dash = 0;
    if (words >> std::hex >> from >> dash >> to && dash == '-') {
      inside = from < end && to > begin;
      continue;
    }
    words = std::istringstream(line);
    if (inside && words >> word >> kilobytes && word == fmt::format("{}:", field)) sum += kilobytes * 1024;
  }
  return sum;
}

std::optional<std::uint64_t> region_field(const WorkloadProcess& workload, pid_t pid, std::string_view field) {
  const WorkloadReady& ready = workload.ready();
  return smaps_field(pid, ready.address, ready.address + ready.pages * page_bytes(), field);
}

struct Cell {
  std::string_view pattern;
  double hot;
  bool scattered, shared, write, huge;
};

class WorkloadCell : public ::testing::TestWithParam<Cell> {};

TEST_P(WorkloadCell, touches_its_hot_set_exactly_and_has_all_of_its_memory_resident) {
  const Cell& cell = GetParam();
  WorkloadSpec spec = spec_of(cell.pattern, 16 * kMiB, cell.hot);
  spec.scattered = cell.scattered;
  spec.shared = cell.shared;
  spec.write = cell.write;
  spec.huge = cell.huge;
  Result<WorkloadProcess> workload = WorkloadProcess::start(spec);
  ASSERT_TRUE(workload) << to_sentence(workload.error());
  EXPECT_EQ(workload->ready().pages, 16 * kMiB / page_bytes());
  EXPECT_EQ(region_field(*workload, workload->pid(), "Rss"), 16 * kMiB);
  TruthReader truth = truth_of(workload->pid());
  EXPECT_EQ(truth.address(), workload->ready().address);
  for (int window = 0; window < 3; ++window)
    EXPECT_EQ(count(observe(truth, spec.pattern->order == Order::sequential ? 2 : 60)), workload->ready().hot_pages);
  EXPECT_EQ(truth.moves(), 1U);
}

constexpr Cell kCells[] = {
    {"sequential", 0.01, false, false, true, false}, {"sequential", 0.5, true, false, true, false},
    {"sequential", 1.0, false, true, false, false},  {"uniform", 0.01, true, false, true, false},
    {"uniform", 0.1, true, true, true, false},       {"uniform", 0.001, false, false, false, false},
    {"strided", 1.0, false, false, true, false},     {"file", 0.1, true, true, false, false},
    {"file", 0.1, false, false, true, false},        {"file", 0.1, false, true, true, false},
    {"bursts", 0.1, true, false, true, false},       {"uniform", 0.1, true, false, true, true},
};

INSTANTIATE_TEST_SUITE_P(Workloads, WorkloadCell, ::testing::ValuesIn(kCells));

TEST(WorkloadMemory, is_in_huge_pages_when_asked_for_and_never_otherwise) {
  for (bool huge : {false, true}) {
    WorkloadSpec spec = spec_of("uniform", 32 * kMiB, 0.1);
    spec.huge = huge;
    WorkloadProcess workload = WorkloadProcess::start(spec).value();
    std::optional<std::uint64_t> in_huge = region_field(workload, workload.pid(), "AnonHugePages");
    ASSERT_TRUE(in_huge);
    if (!huge) {
      EXPECT_EQ(*in_huge, 0U);
      continue;
    }
    Result<std::string> enabled = Files().read("/sys/kernel/mm/transparent_hugepage/enabled");
    if (!enabled || enabled->contains("[never]")) GTEST_SKIP() << "this kernel makes no transparent huge pages";
    if (*in_huge == 0) GTEST_SKIP() << "the kernel had no huge page free";
    EXPECT_EQ(workload.ready().address % (2 * kMiB), 0U);
    EXPECT_LE(*in_huge, 32 * kMiB);
  }
}

TEST(WorkloadMemory, of_the_ramp_grows_and_is_released) {
  WorkloadSpec spec = spec_of("ramp", 64 * kMiB, 1.0);
  spec.period = 1s;
  WorkloadProcess workload = WorkloadProcess::start(spec).value();
  auto rss = [&] { return read_process_stat(Files(), workload.pid()).value().rss_pages * page_bytes(); };
  const std::uint64_t least = rss();
  EXPECT_TRUE(eventually([&] { return rss() > least + 30 * kMiB; }));
  EXPECT_TRUE(eventually([&] { return rss() < least + 15 * kMiB; }));
  EXPECT_TRUE(eventually([&] { return rss() > least + 30 * kMiB; }));
}

TEST(WorkloadMemory, of_churn_comes_and_goes) {
  WorkloadSpec spec = spec_of("churn", 32 * kMiB, 1.0);
  spec.period = 200ms;
  WorkloadProcess workload = WorkloadProcess::start(spec).value();
  TruthReader truth = truth_of(workload.pid());
  for (int round = 0; round < 3; ++round) {
    EXPECT_TRUE(eventually([&] { return truth.address() == 0; }));
    EXPECT_TRUE(eventually([&] { return truth.address() != 0; }));
  }
}

TEST(WorkloadChildren, each_publish_a_hot_set_of_their_own_and_the_parent_touches_nothing) {
  for (bool write : {false, true})
    for (bool shared : {false, true}) {
      WorkloadSpec spec = spec_of("fork", 16 * kMiB, 0.25);
      spec.write = write;
      spec.shared = shared;
      spec.scattered = true;
      spec.children = 3;
      Result<WorkloadProcess> workload = WorkloadProcess::start(spec);
      ASSERT_TRUE(workload) << to_sentence(workload.error());
      ASSERT_EQ(workload->ready().children.size(), 3U);
      TruthReader parent = truth_of(workload->pid());
      parent.next_window();
      std::uint64_t all = 0;
      std::vector<bool> together(workload->ready().pages);
      for (pid_t child : workload->ready().children) {
        TruthReader truth = truth_of(child);
        std::vector<bool> touched = observe(truth, 60);
        EXPECT_EQ(count(touched), 1024U);
        // A fork copies the translations of private memory; those of shared memory come back with the touches.
        EXPECT_GE(region_field(*workload, child, "Rss"), shared ? count(touched) * page_bytes() : 16 * kMiB);
        for (std::size_t page = 0; page < touched.size(); ++page)
          together[page] = together[page] || touched[page];
        all += count(touched);
      }
      EXPECT_EQ(count(together), all) << "the sets overlap";
      EXPECT_EQ(parent.touched_pages(parent.next_window()), 0U);
    }
}

TEST(WorkloadChildren, end_with_their_parent_however_it_ends) {
  std::vector<pid_t> pids;
  {
    WorkloadProcess workload = WorkloadProcess::start(spec_of("fork", kMiB, 0.25)).value();
    pids = workload.ready().children;
    EXPECT_EQ(pids.size(), 2U);
  } // killed
  for (pid_t pid : pids)
    EXPECT_TRUE(eventually([&] { return !Files().exists(fmt::format("/proc/{}/fd/0", pid)); }));
  WorkloadProcess workload = WorkloadProcess::start(spec_of("fork", kMiB, 0.25)).value();
  Result<WorkloadSummary> summary = workload.stop();
  ASSERT_TRUE(summary) << to_sentence(summary.error());
  for (pid_t pid : workload.ready().children)
    EXPECT_FALSE(Files().exists(fmt::format("/proc/{}", pid)));
}

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
constexpr bool kAllocatorOfGlibc = true;
void give_back_free_memory() {
  ::malloc_trim(0);
}
#else
constexpr bool kAllocatorOfGlibc = false;
void give_back_free_memory() {}
#endif

// Minor faults per pass of the array, once it is under way, over so many passes.
double faults_per_pass(const WorkloadSpec& spec, std::uint32_t passes = 20) {
  WorkloadProcess workload = WorkloadProcess::start(spec).value();
  TruthReader truth = truth_of(workload.pid());
  auto faults = [&] { return read_process_stat(Files(), workload.pid()).value().minor_faults; };
  EXPECT_TRUE(eventually([&] { return truth.passes() > 5; }));
  std::uint64_t faults_before = faults();
  std::uint32_t passes_before = truth.passes();
  EXPECT_TRUE(eventually([&] { return truth.passes() > passes_before + passes; }));
  std::uint64_t taken = faults() - faults_before;
  return static_cast<double>(taken) / (truth.passes() - passes_before);
}

// Where transparent huge pages are always on, one fault brings 512 pages. While this lives, new processes have none.
class WithoutHugePages {
 public:
  WithoutHugePages() { ::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); }
  WithoutHugePages(const WithoutHugePages&) = delete;
  WithoutHugePages& operator=(const WithoutHugePages&) = delete;
  ~WithoutHugePages() { ::prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0); }
};

TEST(Array, faults_on_each_page_of_each_pass_when_the_allocator_maps_it_anew) {
  if (!kAllocatorOfGlibc) GTEST_SKIP() << "the allocator is not glibc's, which can be told when to map";
  // The workload is forked from the tests, and malloc maps nothing while the heap they left has a free piece large
  // enough: so this is larger than any piece that malloc puts there (32 MiB), and what is free at its end is given
  // back.
  give_back_free_memory();
  constexpr std::uint64_t kBytes = 34 * kMiB, kPages = kBytes / 4096 + 1;
  WorkloadSpec spec = spec_of("array", kBytes, 1.0);
  spec.fresh = true;
  spec.mmap_threshold = 128 * 1024;
  WithoutHugePages small_pages;
  EXPECT_NEAR(faults_per_pass(spec, 8), kPages, 0.1 * kPages);
}

TEST(Array, stops_faulting_when_the_allocator_keeps_what_was_freed) {
  if (!kAllocatorOfGlibc) GTEST_SKIP() << "the allocator is not glibc's, which raises its threshold of mapping";
  WorkloadSpec spec = spec_of("array", 4 * kMiB, 1.0);
  spec.fresh = true;
  EXPECT_LT(faults_per_pass(spec), 1);
}

TEST(Array, faults_never_again_when_it_is_reused) {
  EXPECT_LT(faults_per_pass(spec_of("array", 4 * kMiB, 1.0)), 1);
}

TEST(Array, writes_the_last_element_of_an_allocation_smaller_than_a_page) {
  WorkloadSpec spec = spec_of("array", 512, 1.0);
  WorkloadProcess workload = WorkloadProcess::start(spec).value();
  TruthReader truth = truth_of(workload.pid());
  EXPECT_EQ(count(observe(truth, 10)), workload.ready().pages);
  EXPECT_LE(workload.ready().pages, 2U);
}

} // namespace
} // namespace hotset
