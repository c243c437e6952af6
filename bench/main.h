// SPDX-License-Identifier: Apache-2.0
// The main of a benchmark: what it is asked for, and an error as one sentence with its exit code.
#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hotset {

struct BenchOptions {
  bool json = false;                     // one object a row (row.h), no table
  bool full = false;                     // more cases and rounds, where there are more
  std::vector<std::string_view> cases{}; // these alone, where they can be chosen; empty: all
};

// `bench`: Result<>(const BenchOptions&).
template <class Bench>
int bench_main(int argc, char** argv, Bench bench) {
  BenchOptions options;
  for (std::string_view word : std::span(argv, static_cast<std::size_t>(argc)).subspan(1)) {
    if (word == "--json")
      options.json = true;
    else if (word == "--full")
      options.full = true;
    else
      options.cases.push_back(word);
  }
  Result<> done = bench(options);
  if (done) return 0;
  fmt::print(stderr, "{}: {}\n", program_invocation_short_name, to_sentence(done.error()));
  return static_cast<int>(done.error().code);
}

} // namespace hotset
