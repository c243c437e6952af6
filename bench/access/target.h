// SPDX-License-Identifier: Apache-2.0
// A busy process that times its own operations: what a measurement costs the measured.
//
// An operation writes to 64 pages of the hot set, drawn alike; how long it took goes into a histogram in shared memory,
// which the observer reads at any moment without the process noticing. Two readings subtracted are what happened
// between them: how many operations, and how long the slowest took.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>

#include "base/clock.h"

namespace hotset {

// Sixteen buckets for each power of two of nanoseconds: 6 % wide.
inline constexpr std::size_t kLatencyBuckets = 40 * 16;

struct Operations {
  std::array<std::uint64_t, kLatencyBuckets> count{};

  [[nodiscard]] std::uint64_t total() const;
  // How long the operation took that this share of them did not exceed; 0 to 1.
  [[nodiscard]] Nanoseconds quantile(double share) const;
  friend Operations operator-(Operations later, const Operations& earlier);
};

class BusyTarget {
 public:
  // Returns when the memory is filled. The process runs on the machine's last processor, and we on the others.
  BusyTarget(std::uint64_t rss_bytes, double hot, bool scattered);
  BusyTarget(const BusyTarget&) = delete;
  BusyTarget& operator=(const BusyTarget&) = delete;
  ~BusyTarget(); // killed and reaped

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] Operations operations() const; // since its start

 private:
  struct Shared;
  pid_t pid_ = -1;
  Shared* shared_ = nullptr;
};

} // namespace hotset
