// SPDX-License-Identifier: Apache-2.0
// In which order the pages of a hot set are touched: a pure generator of numbers, deterministic by its seed.
#pragma once

#include <cstdint>
#include <span>

#include "workload/random.h"

namespace hotset {

enum class Order {
  sequential, // 0, 1, 2, … and from the start again
  uniform,    // each drawn alike
  zipf,       // number k drawn with probability proportional to 1 / (k + 1)^skew
};

// Zipf's law by rejection-inversion (Hörmann and Derflinger 1996): constant time and memory for any size.
class Zipf {
 public:
  // Over 0 … count - 1; skew above 0.
  Zipf(std::uint64_t count, double skew);
  std::uint64_t draw(Random& random) const;

 private:
  [[nodiscard]] double integral(double x) const;
  [[nodiscard]] double density(double x) const;
  [[nodiscard]] double inverse(double y) const;

  double count_;
  double skew_;
  double first_; // integral at the left edge
  double last_;  // integral at the right edge
  double sure_;  // a draw this close to its number needs no second look
};

class Sequence {
 public:
  Sequence(Order order, double skew, std::uint64_t seed) : order_(order), skew_(skew), random_(seed), zipf_(1, skew) {}

  // The next numbers, all below `count` (above 0), which may differ from call to call.
  void fill(std::uint64_t count, std::span<std::uint64_t> numbers);

 private:
  Order order_;
  double skew_;
  Random random_;
  std::uint64_t next_ = 0; // of the sequential order
  std::uint64_t zipf_count_ = 1;
  Zipf zipf_;
};

} // namespace hotset
