// SPDX-License-Identifier: Apache-2.0
// Random numbers that are the same on every machine for the same seed: the distributions of the standard library are
// not. SplitMix64 (Steele, Lea, Flood 2014) has 64 bits of state and passes BigCrush.
#pragma once

#include <cstdint>

namespace hotset {

// A bijection of 64-bit words that looks random.
constexpr std::uint64_t mix64(std::uint64_t word) {
  word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9ULL;
  word = (word ^ (word >> 27)) * 0x94D049BB133111EBULL;
  return word ^ (word >> 31);
}

class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) : state_(mix64(seed)) {}

  constexpr std::uint64_t next() { return mix64(state_ += 0x9E3779B97F4A7C15ULL); }
  // Uniform in [0, n), n above 0. The bias is below n / 2^64 (multiply-shift, Lemire 2019, without the rejection).
  constexpr std::uint64_t below(std::uint64_t n) {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(next()) * n) >> 64);
  }
  // Uniform in [0, 1).
  constexpr double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

} // namespace hotset
