// SPDX-License-Identifier: Apache-2.0
// Filters, losses and life cycles, with whatever hook this kernel gives.
#include "fault/collector.h"

#include <bpf/bpf.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>
#include <thread>

#include "base/file.h"
#include "fault_target.h"

namespace hotset {
namespace {

using Kind = FaultFilter::Kind;

// The time is only there to end a test on a machine that is stuck: what is asserted is the number of faults.
constexpr FaultLoad kSmall{.threads = 1, .waves = 1, .faults = 20'000, .seconds = 60};

// What one run of it brings at least, on the slowest machine.
constexpr std::uint64_t kMany = 200;

FaultOptions options_for(Kind kind, const ProcessId& process = {}, const std::string& comm = "") {
  FaultOptions options;
  options.filter = {.kind = kind, .process = process, .comm = comm};
  return options;
}

void ignore(const FaultSample& /*sample*/) {}

// Faults of the target by the collector, and by the kernel: user-mode hooks leave out a few.
void expect_about(std::uint64_t counted, std::uint64_t stat) {
  EXPECT_GE(counted + 100, stat);
  EXPECT_LE(counted, stat + stat / 100 + 100);
}

TEST(FaultCollector, of_one_process_counts_no_other) {
  FaultTarget watched = FaultTarget::start(kSmall), other = FaultTarget::start(kSmall);
  FaultCollector collector = FaultCollector::attach(options_for(Kind::pid, watched.id())).value();
  other.run();
  EXPECT_EQ(collector.total(watched.id()).value(), 0U);
  EXPECT_EQ(collector.total(other.id()).value(), 0U);
  EXPECT_TRUE(collector.totals()->empty());
  watched.run();
  EXPECT_GT(collector.total(watched.id()).value(), kMany);
}

TEST(FaultCollector, of_a_pid_with_another_start_time_counts_nothing) {
  FaultTarget target = FaultTarget::start(kSmall);
  ProcessId other = target.id();
  ++other.start_ticks;
  FaultCollector collector = FaultCollector::attach(options_for(Kind::pid, other)).value();
  target.run();
  EXPECT_TRUE(collector.totals()->empty());
}

TEST(FaultCollector, without_a_filter_keeps_processes_apart) {
  FaultTarget first = FaultTarget::start(kSmall);
  FaultLoad more = kSmall;
  more.faults *= 3;
  FaultTarget second = FaultTarget::start(more);
  FaultCollector collector = FaultCollector::attach(options_for(Kind::none)).value();
  std::uint64_t first_before = first.stat_faults(), second_before = second.stat_faults();
  first.begin();
  second.begin();
  first.wait();
  second.wait();
  expect_about(collector.total(first.id()).value(), first.stat_faults() - first_before);
  expect_about(collector.total(second.id()).value(), second.stat_faults() - second_before);
}

TEST(FaultCollector, by_name_takes_blanks_and_parentheses_and_no_longer_name) {
  FaultTarget odd = FaultTarget::start(kSmall, "a) b (c");
  FaultTarget longer = FaultTarget::start(kSmall, "a) b (cd");
  FaultTarget shorter = FaultTarget::start(kSmall, "a) b (");
  FaultCollector collector = FaultCollector::attach(options_for(Kind::comm, {}, "a) b (c")).value();
  for (FaultTarget* target : {&odd, &longer, &shorter})
    target->run();
  std::vector<FaultCollector::Count> counts = collector.totals().value();
  ASSERT_EQ(counts.size(), 1U);
  EXPECT_EQ(counts[0].process, odd.id());
  EXPECT_EQ(counts[0].comm, "a) b (c");
  EXPECT_GT(counts[0].total, kMany);
}

TEST(FaultCollector, by_a_name_of_more_than_15_bytes_takes_what_the_kernel_keeps_of_it) {
  FaultTarget target = FaultTarget::start(kSmall, "a-rather-long-name");
  FaultCollector collector = FaultCollector::attach(options_for(Kind::comm, {}, "a-rather-long-name")).value();
  target.run();
  EXPECT_GT(collector.total(target.id()).value(), kMany);
}

TEST(FaultCollector, counts_the_samples_that_found_the_buffer_full_and_loses_no_fault) {
  FaultTarget target = FaultTarget::start({.threads = 2, .waves = 1, .faults = 200'000, .seconds = 2});
  for (bool perf_buffer : {false, true}) {
    FaultOptions options = options_for(Kind::pid, target.id());
    options.pace = std::chrono::microseconds(10); // a sample every few faults, and nobody reads
    options.buffer_bytes = 1;
    options.perf_buffer = perf_buffer;
    FaultCollector collector = FaultCollector::attach(options).value();
    std::uint64_t before = target.stat_faults();
    target.run();
    EXPECT_GT(collector.losses()->buffer_full, 0U);
    std::uint64_t total = collector.total(target.id()).value(), sum = 0;
    expect_about(total, target.stat_faults() - before);
    auto add = [&](const FaultSample& sample) { sum += sample.faults; };
    ASSERT_TRUE(collector.poll(Nanoseconds::zero(), add));
    EXPECT_LT(sum, total);
    target.run(); // now there is room: the faults of the dropped samples come with the next
    ASSERT_TRUE(collector.poll(Nanoseconds::zero(), add));
    EXPECT_GE(sum, total);
    EXPECT_LE(sum, collector.total(target.id()).value());
  }
}

TEST(FaultCollector, counts_the_faults_that_found_the_map_full) {
  std::vector<FaultTarget> targets;
  targets.reserve(6);
  for (int i = 0; i < 6; ++i)
    targets.push_back(FaultTarget::start(kSmall, "map-full"));
  FaultOptions options = options_for(Kind::comm, {}, "map-full");
  options.max_processes = 4;
  FaultCollector collector = FaultCollector::attach(options).value();
  for (FaultTarget& target : targets)
    target.run();
  EXPECT_EQ(collector.totals()->size(), 4U);
  EXPECT_GT(collector.losses()->untracked, 2 * kMany);
}

TEST(FaultCollector, drops_samples_below_min_value_and_says_how_many) {
  FaultTarget target = FaultTarget::start(kSmall);
  FaultOptions options = options_for(Kind::pid, target.id());
  options.min_value = 1'000'000'000;
  FaultCollector collector = FaultCollector::attach(options).value();
  target.run();
  ASSERT_TRUE(collector.poll(Nanoseconds::zero(), [](const FaultSample&) { ADD_FAILURE() << "not dropped"; }));
  EXPECT_GT(collector.losses()->below_min_value, 0U);
}

TEST(FaultCollector, hands_over_the_rest_of_a_process_that_ended_and_forgets_it) {
  FaultTarget target = FaultTarget::start(kSmall, "ends-soon");
  FaultCollector collector = FaultCollector::attach(options_for(Kind::comm, {}, "ends-soon")).value();
  ProcessId id = target.id();
  target.run();
  std::uint64_t total = collector.total(id).value(), sum = 0;
  ASSERT_TRUE(collector.reap([&](const FaultSample& sample) { sum += sample.faults; }));
  EXPECT_LE(sum, total);
  EXPECT_FALSE(collector.totals()->empty()) << "it lives";
  target.end();
  ASSERT_TRUE(collector.reap([&](const FaultSample& sample) { sum += sample.faults; }));
  EXPECT_GE(sum, total) << "it may fault while it ends";
  EXPECT_TRUE(collector.totals()->empty());
}

TEST(FaultCollector, takes_a_pid_that_is_used_again_for_another_process) {
  FaultTarget first = FaultTarget::start(kSmall, "used-again");
  FaultCollector collector = FaultCollector::attach(options_for(Kind::comm, {}, "used-again")).value();
  ProcessId first_id = first.id();
  first.run();
  first.end();
  // The start time counts in hundredths of a second: the next process is another one a tick later at the latest.
  FaultTarget second = FaultTarget::start(kSmall, "used-again", first_id.pid);
  while (second.valid() && second.id() == first_id) {
    second.end();
    second = FaultTarget::start(kSmall, "used-again", first_id.pid);
  }
  if (!second.valid()) GTEST_SKIP() << "this kernel does not let us choose the pid of a child";
  second.run();
  std::uint64_t second_total = collector.total(second.id()).value();
  EXPECT_GT(second_total, kMany);
  EXPECT_LT(second_total, 30'000U);
  EXPECT_GT(collector.total(first_id).value(), kMany);
}

TEST(FaultCollector, the_first_sample_begins_when_the_collector_attached) {
  FaultTarget target = FaultTarget::start(kSmall);
  Nanoseconds before = SystemClock().now();
  FaultCollector collector = FaultCollector::attach(options_for(Kind::pid, target.id())).value();
  Nanoseconds after = SystemClock().now();
  target.run();
  std::vector<FaultSample> samples;
  ASSERT_TRUE(collector.poll(Nanoseconds::zero(), [&](const FaultSample& sample) { samples.push_back(sample); }));
  ASSERT_FALSE(samples.empty());
  EXPECT_GE(samples[0].begin, before);
  EXPECT_LE(samples[0].begin, after);
  EXPECT_GE(samples[0].time, after);
}

TEST(FaultCollector, refuses_a_hook_that_does_not_exist_by_name) {
  FaultOptions options;
  options.hook = "kprobe:nothing";
  Result<FaultCollector> collector = FaultCollector::attach(options);
  ASSERT_FALSE(collector);
  EXPECT_EQ(collector.error().code, ErrorCode::usage);
  EXPECT_NE(to_sentence(collector.error()).find("kprobe:nothing"), std::string::npos);
}

// Numbers of the BPF objects of a kind that this process holds, from its descriptors: other processes have theirs.
std::multiset<std::uint32_t> held(std::string_view kind) {
  std::multiset<std::uint32_t> ids;
  std::string key = fmt::format("{}:\t", kind);
  const std::vector<std::string> fds = Files().list("/proc/self/fdinfo").value();
  for (const std::string& fd : fds) {
    Result<std::string> text = Files().read("/proc/self/fdinfo/" + fd);
    std::size_t at = text ? text->find(key) : std::string::npos;
    if (at != std::string::npos) ids.insert(static_cast<std::uint32_t>(std::stoul(text->substr(at + key.size()))));
  }
  return ids;
}

TEST(FaultCollector, attaches_exactly_one_program_and_leaves_nothing_behind) {
  ASSERT_TRUE(held("prog_id").empty());
  std::multiset<std::uint32_t> programs, maps;
  {
    FaultCollector collector = FaultCollector::attach(options_for(Kind::none)).value();
    programs = held("prog_id");
    maps = held("map_id");
    EXPECT_EQ(std::set<std::uint32_t>(programs.begin(), programs.end()).size(), 1U);
    EXPECT_FALSE(maps.empty());
    ASSERT_TRUE(collector.poll(Nanoseconds::zero(), ignore));
  }
  EXPECT_TRUE(held("prog_id").empty());
  EXPECT_TRUE(held("map_id").empty());
  // The kernel frees them after a grace period.
  auto gone = [](std::uint32_t id, int (*open)(std::uint32_t)) {
    for (int tries = 0; tries < 1000; ++tries) {
      Fd fd(open(id));
      if (!fd) return true;
      fd.reset();
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  };
  for (std::uint32_t id : programs)
    EXPECT_TRUE(gone(id, bpf_prog_get_fd_by_id)) << "program " << id;
  for (std::uint32_t id : maps)
    EXPECT_TRUE(gone(id, bpf_map_get_fd_by_id)) << "map " << id;
}

} // namespace
} // namespace hotset
