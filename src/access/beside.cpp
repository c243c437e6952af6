// SPDX-License-Identifier: Apache-2.0
#include "access/beside.h"

#include <algorithm>
#include <utility>

namespace hotset {
namespace {

constexpr std::size_t kLeastRuns = 12;      // going there and back costs as much as six interrupts
constexpr std::uint64_t kPagesPerRun = 64;  // on average: more, and the pages take longer than the interrupts
constexpr std::uint64_t kLongestRun = 1024; // pages: the target waits for 0.1 ms

} // namespace

bool is_worth_going_beside(std::span<const Run> runs) {
  if (runs.size() < kLeastRuns) return false;
  std::uint64_t pages = 0;
  for (const Run& run : runs) {
    if (run.pages > kLongestRun) return false;
    pages += run.pages;
  }
  return pages <= kPagesPerRun * runs.size();
}

Beside Beside::go(std::optional<unsigned> processor, std::span<const Run> runs) {
  Beside beside;
  if (!processor || *processor >= CPU_SETSIZE || !is_worth_going_beside(runs)) return beside;
  beside.policy_ = ::sched_getscheduler(0);
  if (beside.policy_ != SCHED_OTHER && beside.policy_ != SCHED_BATCH && beside.policy_ != SCHED_IDLE) return beside;
  if (::sched_getparam(0, &beside.priority_) != 0) return beside;
  if (::sched_getaffinity(0, sizeof(cpu_set_t), &beside.allowed_) != 0 || !CPU_ISSET(*processor, &beside.allowed_))
    return beside;
  const sched_param lowest{.sched_priority = ::sched_get_priority_min(SCHED_FIFO)};
  if (::sched_setscheduler(0, SCHED_FIFO, &lowest) != 0) return beside;
  beside.there_ = true; // there is something to take back
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(*processor, &one);
  ::sched_setaffinity(0, sizeof(one), &one); // failing, we are where we were, and no worse off
  return beside;
}

Beside::Beside(Beside&& other) noexcept
    : there_(std::exchange(other.there_, false)),
      policy_(other.policy_),
      priority_(other.priority_),
      allowed_(other.allowed_) {}

Beside::~Beside() {
  if (!there_) return;
  ::sched_setaffinity(0, sizeof(allowed_), &allowed_);
  ::sched_setscheduler(0, policy_, &priority_);
}

} // namespace hotset
