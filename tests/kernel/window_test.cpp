// SPDX-License-Identifier: Apache-2.0
// Rolling windows in the kernel: bumped by real programs on chosen CPUs and on the page-fault path, read by our reader,
// and the published layout also the way it was published.
#include <bpf/bpf.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/units.h"
#include "kernel/loader.h"
#include "window/reader.h"
#include "window_test.skel.h"

namespace hotset {
namespace {

std::vector<std::size_t> online_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  ::sched_getaffinity(0, sizeof(set), &set);
  std::vector<std::size_t> cpus;
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

class OnCpu {
 public:
  explicit OnCpu(std::size_t cpu) {
    ::sched_getaffinity(0, sizeof(before_), &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    ::sched_setaffinity(0, sizeof(one), &one);
  }
  ~OnCpu() { ::sched_setaffinity(0, sizeof(before_), &before_); }

 private:
  cpu_set_t before_{};
};

constexpr std::uint32_t kBumpsOfARun = 25; // MOST_BUMPS of the program

class Window : public testing::TestWithParam<window_clock> {
 protected:
  // The maps, and this program; the verifier takes its time for each.
  void load(std::span<const std::string_view> programs) {
    choose_programs(*object_->obj, programs);
    Result<> loaded = load_skeleton(*object_->skeleton, "the window test");
    ASSERT_TRUE(loaded) << to_sentence(loaded.error());
  }
  void load(std::string_view program) { load(std::span(&program, 1)); }
  void load_maps() { load(std::span<const std::string_view>()); }

  [[nodiscard]] WindowMaps seven() const { return {.window = bpf_map__fd(object_->maps.seven), .meta = -1}; }
  [[nodiscard]] WindowMaps twelve() const { return {.window = bpf_map__fd(object_->maps.twelve), .meta = -1}; }
  [[nodiscard]] WindowMaps targets() const { return {.window = bpf_map__fd(object_->maps.targets), .meta = -1}; }
  [[nodiscard]] WindowMaps cache() const {
    return {.window = bpf_map__fd(object_->maps.cache), .meta = bpf_map__fd(object_->maps.cache_meta)};
  }
  void start_all(window_clock clock) {
    for (const WindowMaps& maps : {seven(), twelve(), targets(), cache()})
      ASSERT_TRUE(start_window(maps, clock));
  }
  void bump(std::size_t cpu, std::uint32_t times) {
    for (std::uint32_t left = times; left > 0; left -= object_->bss->bumps) {
      object_->bss->bumps = std::min(left, kBumpsOfARun);
      bpf_test_run_opts options{};
      options.sz = sizeof(options);
      options.flags = BPF_F_TEST_RUN_ON_CPU;
      options.cpu = static_cast<std::uint32_t>(cpu);
      ASSERT_EQ(bpf_prog_test_run_opts(bpf_program__fd(object_->progs.bump), &options), 0) << "errno " << errno;
    }
  }
  static std::uint64_t all(const WindowHistory& history, std::size_t counter) {
    return history.last(kWindowSeconds).sums[counter] + history.count(history.running(), counter).value();
  }

  Skeleton<window_test_bpf> object_ = open_skeleton<window_test_bpf>("the window test").value();
};

INSTANTIATE_TEST_SUITE_P(Clock, Window, testing::Values(WINDOW_JIFFIES, WINDOW_BOOTTIME),
                         [](const auto& clock) { return clock.param == WINDOW_JIFFIES ? "jiffies" : "boottime"; });

TEST_P(Window, bumps_on_chosen_cpus_are_what_the_reader_says) {
  load("bump");
  start_all(GetParam());
  std::uint64_t expected = 0;
  for (std::size_t cpu : online_cpus())
    for (std::uint32_t times : {1U, 100U, 7U}) {
      bump(cpu, times);
      expected += times;
    }
  WindowReader seven_reader = WindowReader::open(seven()).value();
  WindowHistory history = seven_reader.read().value();
  EXPECT_EQ(all(history, 0), expected);
  EXPECT_EQ(all(history, 6), 3 * expected);
  EXPECT_EQ(history.total(6), 3 * expected);
  EXPECT_EQ(all(history, 1), 0U);
  for (std::size_t cpu : online_cpus())
    EXPECT_EQ(seven_reader.image().totals(cpu)[0], 108U) << "CPU " << cpu;
  WindowHistory of_twelve = WindowReader::open(twelve()).value().read().value();
  EXPECT_EQ(of_twelve.counters(), 12U);
  EXPECT_EQ(all(of_twelve, 11), expected);
  WindowHistory published = WindowReader::open(cache()).value().read().value();
  EXPECT_EQ(all(published, 0), expected);
  EXPECT_EQ(all(published, 5), 2 * expected);
  EXPECT_EQ(published.total(5), 2 * expected);
}

TEST_P(Window, a_bump_counts_in_the_second_that_the_reader_calls_running) {
  load("bump");
  start_all(GetParam());
  WindowReader reader = WindowReader::open(seven()).value();
  SystemClock clock;
  Nanoseconds began = clock.now(); // the running second, as far as we saw
  std::set<std::uint64_t> seconds;
  for (std::uint64_t round = 1; seconds.size() < 3; ++round) { // into the third second
    bump(online_cpus().front(), 1);
    WindowHistory history = reader.read().value();
    ASSERT_EQ(all(history, 0), round);
    ASSERT_EQ(history.torn(), 0U);
    if (seconds.insert(history.running()).second) began = clock.now();
    // It may go wrong where a second ends: there without a pause.
    if (clock.now() - began < std::chrono::milliseconds(800))
      clock.sleep_until(clock.now() + std::chrono::milliseconds(5));
  }
  EXPECT_EQ(*seconds.begin(), 1U);
  EXPECT_EQ(*seconds.rbegin(), 3U);
}

TEST_P(Window, on_the_page_fault_path_counts_every_fault) {
  load("on_fault");
  object_->bss->tgid = static_cast<std::uint32_t>(::getpid());
  object_->bss->target = 2;
  start_all(GetParam());
  {
    Attachment attachment;
    bpf_link* link = bpf_program__attach(object_->progs.on_fault);
    ASSERT_NE(link, nullptr);
    attachment.emplace_back(link);
    constexpr std::size_t kPages = 3000;
    for (std::size_t cpu : online_cpus()) {
      OnCpu there(cpu);
      void* memory = ::mmap(nullptr, kPages * page_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      ASSERT_NE(memory, MAP_FAILED);
      ::madvise(memory, kPages * page_bytes(), MADV_NOHUGEPAGE);
      for (std::size_t page = 0; page < kPages; ++page)
        static_cast<volatile char*>(memory)[page * page_bytes()] = 1;
      ::munmap(memory, kPages * page_bytes());
    }
  }
  std::uint64_t faults = object_->bss->faults;
  EXPECT_GE(faults, 3000 * online_cpus().size());
  EXPECT_EQ(all(WindowReader::open(seven()).value().read().value(), 2), faults);
  EXPECT_EQ(all(WindowReader::open(cache()).value().read().value(), 3), faults);
  WindowReader of_targets = WindowReader::open(targets()).value();
  EXPECT_EQ(of_targets.cpus(), 1U);
  EXPECT_EQ(all(of_targets.read(kWindowSeconds, 2).value(), 2), faults);
  EXPECT_EQ(of_targets.read(kWindowSeconds, 1).value().total(2), 0U);
}

using Windows = Window;

TEST_F(Windows, that_nobody_started_count_totals_and_are_refused_by_the_reader) {
  load("bump");
  bump(online_cpus().front(), 5);
  WindowReader reader = WindowReader::open(seven()).value();
  Result<WindowHistory> history = reader.read();
  ASSERT_FALSE(history);
  EXPECT_EQ(history.error().code, ErrorCode::bad_data);
  EXPECT_NE(to_sentence(history.error()).find("has not been started"), std::string::npos);
  EXPECT_EQ(reader.image().totals(online_cpus().front())[0], 5U);
}

TEST_F(Windows, have_a_copy_for_each_possible_cpu) {
  load_maps();
  EXPECT_EQ(WindowReader::open(seven()).value().cpus(), static_cast<std::size_t>(libbpf_num_possible_cpus()));
}

TEST_F(Windows, maps_that_are_none_are_refused) {
  load_maps();
  Result<WindowReader> reader = WindowReader::open({.window = bpf_map__fd(object_->maps.cache), .meta = -1});
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().code, ErrorCode::bad_data);
  EXPECT_FALSE(WindowReader::open({.window = seven().window, .meta = seven().window}));
}

// What bpftool says of the map, as one would read it on a machine without hotset.
nlohmann::json dump(int map_fd) {
  bpf_map_info info{};
  std::uint32_t size = sizeof(info);
  bpf_obj_get_info_by_fd(map_fd, &info, &size);
  std::unique_ptr<FILE, int (*)(FILE*)> pipe(
      ::popen(fmt::format("bpftool -j map dump id {} 2>/dev/null", info.id).c_str(), "r"), ::pclose);
  std::string text;
  std::vector<char> part(1 << 16);
  while (std::size_t bytes = std::fread(part.data(), 1, part.size(), pipe.get()))
    text.append(part.data(), bytes);
  return nlohmann::json::parse(text, nullptr, false);
}

bool has_bpftool() {
  return std::system("bpftool version >/dev/null 2>&1") == 0;
}

TEST_F(Windows, in_the_published_layout_add_up_in_what_bpftool_dumps) {
  if (!has_bpftool()) GTEST_SKIP() << "there is no bpftool here";
  load("bump");
  start_all(WINDOW_JIFFIES);
  for (std::size_t cpu : online_cpus())
    bump(cpu, 41);
  std::map<std::string, std::uint64_t> sums;
  nlohmann::json entries = dump(cache().window);
  ASSERT_EQ(entries.size(), 300U);
  for (const nlohmann::json& entry : entries)
    for (const nlohmann::json& value : entry.at("formatted").at("values"))
      for (const auto& [name, count] : value.at("value").items())
        sums[name] += count.get<std::uint64_t>();
  EXPECT_EQ(sums.at("lookups"), 41 * online_cpus().size());
  EXPECT_EQ(sums.at("fills"), 2 * 41 * online_cpus().size());
  EXPECT_EQ(sums.at("hits_no_policy"), 0U);
  EXPECT_EQ(sums.size(), 7U) << "six counters and abs_bucket";
}

TEST_F(Windows, show_their_counters_names_in_what_bpftool_dumps) {
  if (!has_bpftool()) GTEST_SKIP() << "there is no bpftool here";
  load("bump");
  start_all(WINDOW_JIFFIES);
  bump(online_cpus().front(), 9);
  nlohmann::json entries = dump(seven().window);
  ASSERT_EQ(entries.size(), 1U);
  const nlohmann::json& copy = entries[0].at("formatted").at("values").at(online_cpus().front()).at("value");
  EXPECT_EQ(copy.at("total").at("first").get<int>(), 9);
  EXPECT_EQ(copy.at("total").at("seventh").get<int>(), 27);
  EXPECT_EQ(copy.at("header").at("version").get<int>(), 1);
  EXPECT_EQ(copy.at("slots").size(), 300U);
}

TEST(WindowClock, counts_jiffies_as_the_kernel_does) {
  KernelTime first = kernel_time().value();
  std::int64_t least_late = 1000;
  SystemClock clock;
  for (int look = 0; look < 20; ++look) {
    clock.sleep_until(clock.now() + std::chrono::milliseconds(3)); // another tick for most of them
    KernelTime later = kernel_time().value();
    auto jiffies = static_cast<std::int64_t>(later.jiffies - first.jiffies);
    std::int64_t by_clock = (later.monotonic - first.monotonic) / tick_length();
    EXPECT_LE(jiffies, by_clock + 1) << "the first look may have been at the end of its tick";
    least_late = std::min(least_late, by_clock - jiffies);
  }
  EXPECT_LE(least_late, 0) << "ticks come late now and then, but not always";
}

TEST(WindowClock, is_the_clock_that_the_programs_see) {
  Nanoseconds monotonic = window_time(WINDOW_JIFFIES), boottime = window_time(WINDOW_BOOTTIME);
  KernelTime kernel = kernel_time().value();
  EXPECT_LE(monotonic, kernel.monotonic);
  EXPECT_LE(boottime, kernel.boottime);
  EXPECT_GE(window_time(WINDOW_JIFFIES), kernel.monotonic);
  EXPECT_GE(window_time(WINDOW_BOOTTIME), kernel.boottime);
}

} // namespace
} // namespace hotset
