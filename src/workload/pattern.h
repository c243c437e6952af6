// SPDX-License-Identifier: Apache-2.0
// The patterns: one table, one row each; the command line, its help and the man page's check derive from it.
//
// A pattern is a point in a space of independent choices: where the memory comes from, in which order its hot pages are
// touched, how that changes in time, and whether forked children do it. All other options apply to every pattern that
// does not say otherwise.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/file.h"
#include "base/result.h"
#include "workload/order.h"
#include "workload/schedule.h"

namespace hotset {

enum class Memory {
  mapped, // anonymous, by mmap
  heap,   // by malloc, whatever the allocator makes of it
  file,   // a temporary file, unlinked before it is used
};

struct Pattern {
  std::string_view name;
  std::string_view summary;
  Order order;
  Schedule schedule;
  Memory memory;
  bool strided;
  bool forks;
  double hot;               // default share
  bool write;               // default access
  bool shared;              // default mapping
  std::string_view options; // its own, each as " --name"
};

std::span<const Pattern> patterns();
// not_found, with the names there are.
Result<const Pattern*> find_pattern(std::string_view name);
// Whether an option (with its dashes) means something to this pattern.
bool takes(const Pattern& pattern, std::string_view option);

struct WorkloadSpec {
  const Pattern* pattern = nullptr;
  std::uint64_t rss_bytes = std::uint64_t{64} << 20; // of the region, rounded up to whole pages
  double hot = 1.0;                                  // share of the pages that are touched
  double rate = 0;                                   // page touches per second, 0: as fast as it can
  std::uint64_t seed = 1;
  Nanoseconds limit{}; // of time, 0: none
  bool scattered = false;
  bool write = true;
  bool shared = false;
  bool huge = false;   // MADV_HUGEPAGE; else MADV_NOHUGEPAGE, so that the system's default does not matter
  bool publish = true; // false: without a record, to see what the record costs
  bool fresh = false;  // array: allocated anew for each pass
  std::optional<std::uint64_t> mmap_threshold; // array: of malloc, in bytes; unset: the allocator's own
  std::uint64_t stride = 16;
  Nanoseconds period = std::chrono::seconds(2);
  double skew = 0.99;
  std::uint64_t children = 2;
  std::string directory = "/tmp"; // of the mapped file

  friend bool operator==(const WorkloadSpec&, const WorkloadSpec&) = default;
};

// The defaults of the pattern.
WorkloadSpec default_spec(const Pattern& pattern);

// Pages that the region covers at most: an array of the heap starts anywhere in its first page.
std::uint64_t region_pages(const WorkloadSpec& spec);

// Everything that can be known before memory is touched: usage errors for what makes no sense, and for more memory than
// is available now (MemAvailable of /proc/meminfo).
Result<> check_spec(const WorkloadSpec& spec, const Files& files);

} // namespace hotset
