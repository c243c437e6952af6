// SPDX-License-Identifier: Apache-2.0
#include "access/target.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <csignal>
#include <cstdlib>
#include <vector>

#include "workload/hot_set.h"
#include "workload/random.h"

namespace hotset {
namespace {

constexpr unsigned kTouches = 64; // of pages, an operation
constexpr std::uint64_t kPageBytes = 4096;

std::size_t bucket_of(std::uint64_t ns) {
  if (ns < 16) return ns;
  auto exponent = static_cast<unsigned>(std::bit_width(ns)) - 5; // four bits follow the first
  return std::min<std::size_t>((exponent + 1) * 16 + (ns >> exponent & 15), kLatencyBuckets - 1);
}

std::uint64_t middle_of(std::size_t bucket) {
  if (bucket < 16) return bucket;
  std::size_t exponent = bucket / 16 - 1;
  return ((16 + bucket % 16) << exponent) + (std::uint64_t{1} << exponent) / 2;
}

void stay_on(unsigned first, unsigned last) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (unsigned cpu = first; cpu <= last; ++cpu)
    CPU_SET(cpu, &set);
  ::sched_setaffinity(0, sizeof(set), &set); // on one processor the numbers include each other's time
}

void* map_or_abort(std::uint64_t bytes, int flags) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED) return memory;
  fmt::print(stderr, "bench: cannot map {} MiB\n", bytes >> 20);
  std::abort();
}

} // namespace

std::uint64_t Operations::total() const {
  std::uint64_t sum = 0;
  for (std::uint64_t n : count)
    sum += n;
  return sum;
}

Nanoseconds Operations::quantile(double share) const {
  const double wanted = share * static_cast<double>(total());
  double seen = 0;
  std::size_t highest = 0;
  for (std::size_t bucket = 0; bucket < count.size(); ++bucket) {
    if (count[bucket] == 0) continue;
    highest = bucket;
    seen += static_cast<double>(count[bucket]);
    if (seen >= wanted) break;
  }
  return Nanoseconds(middle_of(highest));
}

Operations operator-(Operations later, const Operations& earlier) {
  for (std::size_t bucket = 0; bucket < later.count.size(); ++bucket)
    later.count[bucket] -= earlier.count[bucket];
  return later;
}

struct BusyTarget::Shared {
  std::atomic<bool> ready;
  std::array<std::atomic<std::uint64_t>, kLatencyBuckets> count;

  [[noreturn]] void work(std::uint64_t pages, double hot, bool scattered) {
    auto* memory = static_cast<volatile char*>(map_or_abort(pages * kPageBytes, MAP_PRIVATE));
    ::madvise(const_cast<char*>(memory), pages * kPageBytes, MADV_NOHUGEPAGE);
    for (std::uint64_t page = 0; page < pages; ++page)
      memory[page * kPageBytes] = 1;
    const HotSet set(pages, {.share = hot, .scattered = scattered});
    std::vector<std::uint64_t> places(set.count());
    for (std::uint64_t k = 0; k < places.size(); ++k)
      places[k] = set.page(k, 0) * kPageBytes + k * 64 % kPageBytes;
    Random random(1);
    ready.store(true);
    for (Nanoseconds begin = read_clock(CLOCK_MONOTONIC), end{};; begin = end) {
      for (unsigned i = 0; i < kTouches; ++i)
        memory[places[random.below(places.size())]] = static_cast<char>(i);
      end = read_clock(CLOCK_MONOTONIC);
      count[bucket_of(static_cast<std::uint64_t>((end - begin).count()))].fetch_add(1, std::memory_order_relaxed);
    }
  }
};

BusyTarget::BusyTarget(std::uint64_t rss_bytes, double hot, bool scattered)
    : shared_(new(map_or_abort(sizeof(Shared), MAP_SHARED)) Shared) {
  const auto last = static_cast<unsigned>(::sysconf(_SC_NPROCESSORS_ONLN)) - 1;
  pid_ = ::fork();
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    stay_on(last, last);
    shared_->work(rss_bytes / kPageBytes, hot, scattered);
  }
  if (last > 0) stay_on(0, last - 1);
  SystemClock clock;
  while (!shared_->ready.load())
    clock.sleep_until(clock.now() + std::chrono::milliseconds(10));
}

BusyTarget::~BusyTarget() {
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  ::munmap(shared_, sizeof(Shared));
}

Operations BusyTarget::operations() const {
  Operations now;
  for (std::size_t bucket = 0; bucket < now.count.size(); ++bucket)
    now.count[bucket] = shared_->count[bucket].load(std::memory_order_relaxed);
  return now;
}

} // namespace hotset
