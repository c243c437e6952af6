// SPDX-License-Identifier: Apache-2.0
// Splits into training, validation and test.
//
// By row, as published, neighbouring windows of one recording fall into different parts, so the test asks only whether
// the model remembers a recording. By data set, all windows of a recording fall into one part, so the test asks what
// the model says about a target that it has never seen, which is what anyone wants to know.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hotset {

enum class SplitKind { row, dataset };

Result<SplitKind> parse_split(std::string_view name);
std::string_view split_name(SplitKind kind);

// Indices of samples, each at most once.
struct Split {
  std::vector<std::size_t> train, valid, test;
};

inline constexpr std::size_t kFewestDatasets = 3; // one for each part
inline constexpr std::size_t kFewestRows = 30;    // below it no part says anything

// 70 %, 15 % and 15 % (the publication names no shares), drawn with `seed`; by data set each part gets at least one.
// `dataset_of[i]` is the data set of sample i. bad_data with fewer rows or data sets than above.
Result<Split> make_split(std::span<const std::size_t> dataset_of, SplitKind kind, std::uint64_t seed);

// Parts of the samples in turn for the test, by data set: at most `folds` of them, as even in data sets as can be, and
// every data set in exactly one. The samples of the others train. At least two data sets.
std::vector<Split> leave_out_folds(std::span<const std::size_t> dataset_of, std::size_t folds, std::uint64_t seed);

} // namespace hotset
