// SPDX-License-Identifier: Apache-2.0
#include "workload/hot_set.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "workload/random.h"

namespace hotset {

Permutation::Permutation(std::uint64_t size, std::uint64_t seed)
    : size_(size), half_bits_(std::max(1U, (static_cast<unsigned>(std::bit_width(size - 1)) + 1) / 2)) {
  Random random(seed);
  for (std::uint64_t& key : keys_)
    key = random.next();
}

std::uint64_t Permutation::encrypt(std::uint64_t number) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t left = number >> half_bits_;
  std::uint64_t right = number & mask;
  for (std::uint64_t key : keys_)
    left = std::exchange(right, left ^ (mix64(right + key) & mask));
  return left << half_bits_ | right;
}

std::uint64_t Permutation::operator()(std::uint64_t number) const {
  // The network permutes at most four times as many numbers as we have: walk its cycle back into ours.
  do {
    number = encrypt(number);
  } while (number >= size_);
  return number;
}

HotSet::HotSet(std::uint64_t pages, const HotSetShape& shape)
    : pages_(pages), shape_(shape), permutation_(pages, shape.seed) {}

std::uint64_t HotSet::hot(std::uint64_t grown) const {
  auto pages = static_cast<std::uint64_t>(std::llround(static_cast<double>(grown) * shape_.share));
  return std::clamp<std::uint64_t>(pages, 1, grown);
}

std::uint64_t HotSet::count(std::uint64_t grown) const {
  return (hot(grown) + shape_.stride - 1) / shape_.stride;
}

} // namespace hotset
