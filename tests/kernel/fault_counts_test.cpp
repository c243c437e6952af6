// SPDX-License-Identifier: Apache-2.0
// Each hook against the kernel's own counters: millions of faults of several threads, counted the same within what the
// hook's semantics explain.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "fault/collector.h"
#include "fault_target.h"

namespace hotset {
namespace {

// Faults that the kernel takes on a thread's behalf while it is made and ended (its stack, its thread control block),
// and while the target talks to us.
constexpr std::uint64_t kKernelFaultsPerThread = 32;

// An emulated processor (HOTSET_GUEST is set there) uses up whatever time it is given; a third brings faults enough.
double at_most(double seconds) {
  return std::getenv("HOTSET_GUEST") ? seconds / 3 : seconds;
}

class FaultHook : public testing::TestWithParam<Hook> {
 protected:
  // Attaches for this target, or skips with the kernel's reason.
  std::optional<FaultCollector> attach(FaultOptions options) {
    options.hook = GetParam().name;
    Result<FaultCollector> collector = FaultCollector::attach(options);
    if (collector) return *std::move(collector);
    reason_ = to_sentence(collector.error());
    std::cout << reason_ << '\n';
    EXPECT_FALSE(reason_.contains("the kernel's verifier rejects"));
    return std::nullopt;
  }
  std::string reason_;
};

FaultOptions only(const ProcessId& process) {
  FaultOptions options;
  options.filter = {.kind = FaultFilter::Kind::pid, .process = process, .comm = {}};
  return options;
}

void expect_explained(const Hook& hook, std::uint64_t counted, std::uint64_t stat, std::uint64_t threads,
                      std::uint64_t skipped) {
  std::uint64_t kernel_faults = kKernelFaultsPerThread * (threads + 2);
  std::cout << hook.name << " counted " << counted << ", /proc/PID/stat " << stat << ", skipped " << skipped << '\n';
  switch (hook.attach) {
    case Attach::fexit: // the very same
      EXPECT_LE(counted, stat);
      EXPECT_GE(counted + skipped, stat);
      break;
    case Attach::fentry:
    case Attach::kprobe: // and once more for those begun again
      EXPECT_GE(counted + skipped, stat);
      EXPECT_LE(counted, stat + stat / 100 + kernel_faults);
      break;
    case Attach::tp_btf:
    case Attach::raw_tp:
    case Attach::tracepoint: // without kernel mode
      EXPECT_LE(counted, stat);
      EXPECT_GE(counted + skipped + kernel_faults, stat);
      break;
    case Attach::perf_event: // without those of get_user_pages
      EXPECT_LE(counted, stat + kernel_faults);
      EXPECT_GE(counted + skipped + kernel_faults, stat);
      break;
  }
}

TEST_P(FaultHook, counts_the_faults_of_all_threads_as_the_kernel_does) {
  FaultTarget target = FaultTarget::start({.threads = 4, .faults = 300'000, .seconds = at_most(1.5)});
  std::optional<FaultCollector> collector = attach(only(target.id()));
  if (!collector) GTEST_SKIP() << reason_;
  EXPECT_EQ(collector->hook().name, GetParam().name);
  std::uint64_t before = target.stat_faults();
  target.run();
  expect_explained(GetParam(), collector->total(target.id()).value(), target.stat_faults() - before, 4,
                   collector->losses()->missed);
}

TEST_P(FaultHook, counts_threads_that_come_and_go) {
  constexpr unsigned kThreads = 16, kWaves = 8, kAllThreads = kThreads * kWaves;
  FaultTarget target =
      FaultTarget::start({.threads = kThreads, .waves = kWaves, .faults = 50'000, .seconds = at_most(1)});
  std::optional<FaultCollector> collector = attach(only(target.id()));
  if (!collector) GTEST_SKIP() << reason_;
  std::uint64_t before = target.stat_faults();
  target.run();
  expect_explained(GetParam(), collector->total(target.id()).value(), target.stat_faults() - before, kAllThreads,
                   collector->losses()->missed);
}

TEST_P(FaultHook, samples_and_the_rest_add_up_to_the_total) {
  FaultTarget target = FaultTarget::start({.threads = 2, .faults = 100'000, .seconds = 1});
  for (bool perf_buffer : {false, true}) {
    FaultOptions options = only(target.id());
    options.pace = std::chrono::milliseconds(10);
    options.perf_buffer = perf_buffer;
    std::optional<FaultCollector> collector = attach(options);
    if (!collector) GTEST_SKIP() << reason_;
    EXPECT_EQ(collector->transport(), perf_buffer ? "perf buffer" : "ring buffer");
    target.run();
    std::uint64_t sum = 0, samples = 0, stored = 0;
    auto take = [&](const FaultSample& sample) {
      ++samples;
      sum += sample.faults;
      stored = sample.total;
      EXPECT_EQ(sample.process, target.id());
      EXPECT_LT(sample.begin, sample.time);
    };
    // A perf buffer is ready when an interrupt of its own has said so.
    for (int polls = 0; polls < 100 && samples < 2; ++polls) {
      ASSERT_TRUE(collector->poll(polls == 0 ? Nanoseconds::zero() : Nanoseconds(std::chrono::milliseconds(10)), take));
    }
    std::uint64_t total = collector->total(target.id()).value();
    EXPECT_EQ(sum, stored);
    EXPECT_LE(stored, total);
    EXPECT_GT(samples, 1U);
    EXPECT_LT(samples, 1000U) << "far from one a fault";
    EXPECT_EQ(collector->losses()->buffer_full, 0U);
  }
}

// With the hook that this kernel gives by itself, a sample every millisecond, and a reader that keeps up.
TEST(FaultCounts, millions_of_faults_of_several_threads_are_neither_lost_nor_counted_twice) {
  FaultTarget target = FaultTarget::start({.threads = 4, .faults = 3'000'000, .seconds = at_most(15)});
  FaultOptions options = only(target.id());
  options.pace = std::chrono::milliseconds(1);
  FaultCollector collector = FaultCollector::attach(options).value();
  std::uint64_t before = target.stat_faults(), sum = 0, samples = 0;
  auto add = [&](const FaultSample& sample) {
    sum += sample.faults;
    ++samples;
  };
  target.begin();
  while (!target.is_done())
    ASSERT_TRUE(collector.poll(std::chrono::milliseconds(10), add));
  target.wait();
  ASSERT_TRUE(collector.poll(Nanoseconds::zero(), add));
  std::uint64_t total = collector.total(target.id()).value();
  expect_explained(collector.hook(), total, target.stat_faults() - before, 4, collector.losses()->missed);
  std::cout << samples << " samples\n";
  EXPECT_LE(sum, total);
  EXPECT_GT(sum, total - total / 10) << "what is left has not been due yet";
}

std::string hook_name(const testing::TestParamInfo<Hook>& info) {
  return std::string(info.param.program);
}

INSTANTIATE_TEST_SUITE_P(Each, FaultHook, testing::ValuesIn(page_fault_hooks().begin(), page_fault_hooks().end()),
                         hook_name);

} // namespace
} // namespace hotset
