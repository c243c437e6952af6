// SPDX-License-Identifier: Apache-2.0
#include "workload/order.h"

#include <algorithm>
#include <cmath>

namespace hotset {
namespace {

constexpr double kSmall = 1e-8;

// log(1 + x) / x and (exp(x) - 1) / x, continued through x = 0.
double log1p_over(double x) {
  return std::abs(x) > kSmall ? std::log1p(x) / x : 1 - x / 2;
}
double expm1_over(double x) {
  return std::abs(x) > kSmall ? std::expm1(x) / x : 1 + x / 2;
}

} // namespace

Zipf::Zipf(std::uint64_t count, double skew)
    : count_(static_cast<double>(count)),
      skew_(skew),
      first_(integral(1.5) - 1),
      last_(integral(count_ + 0.5)),
      sure_(2 - inverse(integral(2.5) - density(2))) {}

// Of the density x^-skew, from 1 to x.
double Zipf::integral(double x) const {
  double log_x = std::log(x);
  return expm1_over((1 - skew_) * log_x) * log_x;
}

double Zipf::density(double x) const {
  return std::exp(-skew_ * std::log(x));
}

double Zipf::inverse(double y) const {
  double t = std::max(y * (1 - skew_), -1.0);
  return std::exp(log1p_over(t) * y);
}

std::uint64_t Zipf::draw(Random& random) const {
  for (;;) {
    double y = last_ + random.unit() * (first_ - last_);
    double x = inverse(y);
    double rank = std::clamp(std::round(x), 1.0, count_);
    if (rank - x <= sure_ || y >= integral(rank + 0.5) - density(rank)) return static_cast<std::uint64_t>(rank) - 1;
  }
}

void Sequence::fill(std::uint64_t count, std::span<std::uint64_t> numbers) {
  switch (order_) {
    case Order::sequential:
      for (std::uint64_t& number : numbers) {
        number = next_ < count ? next_ : 0;
        next_ = number + 1;
      }
      return;
    case Order::uniform:
      for (std::uint64_t& number : numbers)
        number = random_.below(count);
      return;
    case Order::zipf:
      if (count != zipf_count_) {
        zipf_ = Zipf(count, skew_);
        zipf_count_ = count;
      }
      for (std::uint64_t& number : numbers)
        number = zipf_.draw(random_);
      return;
  }
}

} // namespace hotset
