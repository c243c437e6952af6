// SPDX-License-Identifier: Apache-2.0
#include "app/suite.h"

#include <fmt/format.h>

#include <array>

#include "base/units.h"

namespace hotset {
namespace {

using std::chrono::milliseconds;

constexpr std::array kSuites{
    Suite{"paper", "the published collection", 1250, milliseconds(10)},
    Suite{"demo", "the same, an eighth as long, for a first look", 150, milliseconds(10)},
};

// What `hotset record --suite demo` took beyond its windows, on a virtual machine of two processors.
constexpr Nanoseconds kLabel = std::chrono::microseconds(700);
constexpr Nanoseconds kStart = milliseconds(100);

constexpr int kFirstExponent = 7, kLastExponent = 22; // array elements, as published

// The ways in which "an array that is written in an endless loop" can get its memory. With glibc a fresh array stops
// faulting after its second pass, for free() raises the threshold above which malloc() maps (docs/workloads.md); with
// that threshold pinned, every array from 2^15 elements on faults on each page of each pass.
struct Allocation {
  std::string_view group;
  std::vector<std::string> arguments;
  int first_exponent;
};

const std::vector<Allocation>& allocations() {
  static const std::vector<Allocation> kAllocations{
      {"array-reuse", {"--reuse"}, kFirstExponent},
      {"array-fresh", {"--fresh"}, kFirstExponent},
      {"array-mapped", {"--fresh", "--mmap-threshold", "128KiB"}, 15},
  };
  return kAllocations;
}

} // namespace

std::span<const Suite> suites() {
  return kSuites;
}

Result<const Suite*> find_suite(std::string_view name) {
  std::string known;
  for (const Suite& suite : kSuites) {
    if (suite.name == name) return &suite;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", suite.name);
  }
  return fail(ErrorCode::usage, "find the suite", fmt::format("'{}'", printable(name)), "there is none of that name",
              "choose one of: " + known);
}

std::vector<SuiteEntry> suite_entries(const std::string& program) {
  std::vector<SuiteEntry> entries;
  for (const Allocation& allocation : allocations())
    for (int exponent = allocation.first_exponent; exponent <= kLastExponent; ++exponent) {
      SuiteEntry entry{.file = fmt::format("{}-2^{:02}.csv", allocation.group, exponent),
                       .group = std::string(allocation.group),
                       .command = {program, "workload", "array", "--elements", fmt::format("2^{}", exponent)}};
      entry.command.insert(entry.command.end(), allocation.arguments.begin(), allocation.arguments.end());
      entries.push_back(std::move(entry));
    }
  return entries;
}

Nanoseconds usual_time(const Suite& suite) {
  return suite_entries("").size() * (kStart + suite.samples * (suite.interval + kLabel));
}

} // namespace hotset
