// SPDX-License-Identifier: Apache-2.0
// Tries to make rolling windows lose: LSM programs, which nothing keeps from interrupting each other on a kernel that
// preempts itself, run by threads of different real-time priorities on one CPU. The "seconds" are of 10 ms here, so
// that one begins often.
#include <bpf/bpf.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iostream>
#include <thread>
#include <vector>

#include "kernel/bpf_probes.h"
#include "kernel/loader.h"
#include "kernel/preemption.h"
#include "window/reader.h"
#include "window_nested_test.skel.h"

namespace hotset {
namespace {

constexpr std::uint64_t kSecond = 10'000'000;          // ns
constexpr auto kTime = std::chrono::milliseconds(800); // well within 299 of them
constexpr std::size_t kCounter = 5;
constexpr std::uint64_t kBumps = 50; // of each call

// As start_window() does, with seconds of another length.
void start(int fd, window_layout layout, const KernelTime& time) {
  window_header header = window_started(time, layout, WINDOW_PUBLISHED_COUNTERS, WINDOW_BOOTTIME);
  header.ticks_per_s = kSecond;
  header.epoch += 1'000'000'000 - kSecond;
  header.epoch_ns = header.epoch;
  bpf_map_info info{};
  std::uint32_t size = sizeof(info);
  ASSERT_EQ(bpf_obj_get_info_by_fd(fd, &info, &size), 0);
  std::vector<char> values(info.value_size * static_cast<std::size_t>(libbpf_num_possible_cpus()));
  for (std::size_t at = 0; at < values.size(); at += info.value_size)
    std::memcpy(&values[at], &header, sizeof(header));
  std::uint32_t key = 0;
  ASSERT_EQ(bpf_map_update_elem(fd, &key, values.data(), BPF_ANY), 0);
}

void call() {
  ::syscall(SYS_sched_getscheduler, 0);
}

// On CPU 0, until `stop`. The higher ones call a few times and rest a moment, so that they come in anywhere.
void run_calls(int priority, const std::atomic<bool>& stop) {
  cpu_set_t first;
  CPU_ZERO(&first);
  CPU_SET(0, &first);
  ::sched_setaffinity(0, sizeof(first), &first);
  sched_param parameter{.sched_priority = priority};
  ::sched_setscheduler(0, SCHED_FIFO, &parameter);
  while (!stop) {
    for (int i = 0; i < 3; ++i)
      call();
    timespec rest{0, 210'000L * priority};
    if (priority > 1) ::nanosleep(&rest, nullptr);
  }
}

void run_threads() {
  std::atomic<bool> stop = false;
  {
    std::vector<std::jthread> threads;
    for (int priority : {1, 2, 3, 4})
      threads.emplace_back([&stop, priority] { run_calls(priority, stop); });
    SystemClock().sleep_until(SystemClock().now() + kTime);
    stop = true;
  }
}

// Everything counted before the second that follows `second`.
std::uint64_t until(const WindowHistory& history, std::uint64_t second) {
  std::uint64_t sum = 0;
  for (std::uint64_t at = history.first(); at <= second; ++at)
    sum += history.count(at, kCounter).value();
  return sum;
}

// The bumps that a counter kept which is loaded and, after a call, stored: how well the others were tried.
std::uint64_t careless_sum(int fd) {
  struct Cpu {
    std::uint64_t running, careless;
  };
  std::vector<Cpu> cpus(static_cast<std::size_t>(libbpf_num_possible_cpus()));
  std::uint32_t key = 0;
  EXPECT_EQ(bpf_map_lookup_elem(fd, &key, cpus.data()), 0);
  std::uint64_t sum = 0;
  for (const Cpu& cpu : cpus)
    sum += cpu.careless;
  return sum;
}

TEST(WindowNested, loses_nothing_when_programs_preempt_each_other) {
  if (Result<> lsm = try_lsm(); !lsm) GTEST_SKIP() << to_sentence(lsm.error());
  Skeleton<window_nested_test_bpf> object = open_skeleton<window_nested_test_bpf>("the nesting test").value();
  Result<> loaded = load_skeleton(*object->skeleton, "the nesting test");
  // In these words alone the verifier says that it knows no atomic exchange.
  if (!loaded && to_sentence(loaded.error()).contains("BPF_STX uses reserved fields"))
    GTEST_SKIP() << "no atomic exchange before Linux 5.12: " << to_sentence(loaded.error());
  ASSERT_TRUE(loaded) << to_sentence(loaded.error());
  WindowMaps starts{.window = bpf_map__fd(object->maps.starts), .meta = -1};
  WindowMaps nested{.window = bpf_map__fd(object->maps.nested), .meta = bpf_map__fd(object->maps.nested_meta)};
  WindowMaps plain{.window = bpf_map__fd(object->maps.plain), .meta = bpf_map__fd(object->maps.plain_meta)};
  object->bss->tgid = static_cast<std::uint32_t>(::getpid());
  KernelTime time = kernel_time().value(); // one for all, so that their seconds are the same
  start(starts.window, WINDOW_STARTS, time);
  start(nested.meta, WINDOW_PUBLISHED, time);
  start(plain.meta, WINDOW_PUBLISHED, time);
  {
    Attachment attachment;
    bpf_link* link = bpf_program__attach(object->progs.bump_nested);
    ASSERT_NE(link, nullptr);
    attachment.emplace_back(link);
    run_threads();
  }
  WindowHistory by_starts = WindowReader::open(starts).value().read().value();
  WindowHistory by_nested = WindowReader::open(nested).value().read().value();
  WindowHistory by_plain = WindowReader::open(plain).value().read().value();
  std::uint64_t bumps = object->bss->calls * kBumps;
  std::uint64_t kept = until(by_plain, by_plain.running());
  std::uint64_t careless = careless_sum(bpf_map__fd(object->maps.cpus));
  std::cout << object->bss->calls << " calls, " << object->bss->nested_calls << " of them inside another; "
            << by_starts.running() << " seconds of 10 ms; the plain code of the published layout lost " << bumps - kept
            << " of " << bumps << " bumps, a load and a store " << bumps - careless << "\n";
  ASSERT_EQ(by_starts.first(), 1U) << "the machine was too slow: the first second is forgotten";
  EXPECT_EQ(by_starts.total(kCounter), bumps);
  EXPECT_EQ(by_starts.torn(), 0U);
  EXPECT_EQ(until(by_starts, by_starts.running()), bumps);
  EXPECT_EQ(by_nested.total(kCounter), bumps);
  EXPECT_EQ(until(by_nested, by_nested.running()), bumps);
  EXPECT_EQ(by_plain.total(kCounter), bumps);
  EXPECT_LE(kept, bumps);
  // Both put a bump into its second, but for those that were under way when the next one began: for each of the four
  // threads its bump of the one window, or the one of the other that it had not come to yet.
  for (std::uint64_t second = 1; second < std::min(by_starts.running(), by_nested.running()); ++second) {
    auto difference = static_cast<std::int64_t>(until(by_starts, second) - until(by_nested, second));
    EXPECT_LE(std::abs(difference), 8) << "second " << second;
  }
  if (object->bss->nested_calls == 0)
    GTEST_SKIP() << "no program was interrupted by another: "
                 << (preempts_itself(Files()) ? "it did not come to it" : "this kernel does not preempt itself");
}

} // namespace
} // namespace hotset
