// SPDX-License-Identifier: Apache-2.0
#include "guard/counters.h"

#include <algorithm>

namespace hotset {

std::uint64_t GuardCounts::hits() const {
  return (*this)[GuardCounter::hits_no_policy] + (*this)[GuardCounter::hits_allow] + (*this)[GuardCounter::hits_deny];
}

std::optional<double> GuardCounts::hit_rate() const {
  std::uint64_t lookups = (*this)[GuardCounter::lookups];
  if (lookups == 0) return std::nullopt;
  return static_cast<double>(hits()) / static_cast<double>(lookups);
}

GuardCounts totals_of(const WindowHistory& history) {
  GuardCounts counts;
  for (std::size_t i = 0; i < std::min(counts.of.size(), history.counters()); ++i)
    counts.of[i] = history.total(i);
  return counts;
}

GuardCounts counts_of(const WindowSpan& span) {
  GuardCounts counts;
  std::ranges::copy_n(span.sums.begin(), static_cast<std::ptrdiff_t>(std::min(counts.of.size(), span.sums.size())),
                      counts.of.begin());
  return counts;
}

} // namespace hotset
