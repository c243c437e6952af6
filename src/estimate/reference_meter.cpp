// SPDX-License-Identifier: Apache-2.0
// The traditional measurement as an estimate, with all that is to be doubted about it.
//
// What it counts can be too low (no TLB flush) and too high (memory that counts though it was not touched), so its
// interval, from what was counted to the RSS, is the likely direction of the error and no bound: it has no confidence.
#include <fmt/format.h>

#include <algorithm>

#include "access/reference.h"
#include "base/units.h"
#include "estimate/meter.h"

namespace hotset {
namespace {

void add_flags(const MemoryTotals& totals, Estimate& estimate) {
  auto flag = [&](std::string code, std::string text) { estimate.flags.push_back({std::move(code), std::move(text)}); };
  flag("tlb_not_flushed", "a page whose translation stays in the TLB is not seen again: small hot sets read too low");
  flag("no_confidence", "what was mapped around a fault or read by others counts untouched: low is no certain bound");
  if (totals.referenced > totals.rss)
    flag("referenced_above_rss",
         fmt::format("the kernel said {} referenced, more than is resident: cut", human_bytes(totals.referenced)));
  if (totals.huge > 0)
    flag("huge_pages",
         fmt::format("{} is in huge pages, each of which counts whole for one touched byte", human_bytes(totals.huge)));
  if (totals.hugetlb > 0)
    flag("hugetlb_left_out", fmt::format("{} in hugetlb pages is not in these numbers", human_bytes(totals.hugetlb)));
}

class ReferenceMeter final : public Meter {
 public:
  ReferenceMeter(Reference reference, Process target, Clock& clock)
      : reference_(std::move(reference)), target_(std::move(target)), clock_(&clock) {}

  Result<> begin() override {
    HOTSET_CHECK(reference_.reset());
    has_window_ = true;
    return {};
  }

  Result<Estimate> read() override {
    HOTSET_TRY(ReferenceReading reading, reference_.read());
    return estimate_of(reading);
  }

 private:
  [[nodiscard]] Estimate estimate_of(const ReferenceReading& reading) const {
    const MemoryTotals& totals = reading.totals;
    Estimate estimate;
    estimate.wall = clock_->wall();
    estimate.target = target_;
    estimate.method = "reference";
    std::uint64_t touched = std::min(totals.referenced, totals.rss);
    estimate.wss = WorkingSet{touched, touched, totals.rss, std::nullopt};
    estimate.rss_bytes = totals.rss;
    estimate.pss_bytes = totals.pss;
    estimate.swap_bytes = totals.swap;
    estimate.granularity_bytes = page_bytes();
    estimate.coverage =
        totals.hugetlb == 0
            ? 1.0
            : static_cast<double>(totals.rss) / (static_cast<double>(totals.rss) + static_cast<double>(totals.hugetlb));
    estimate.cost = {.cpu_s = to_seconds(reading.cpu), .target_stall_s = to_seconds(reading.stall)};
    if (has_window_)
      estimate.effective_s = to_seconds(reading.effective());
    else
      estimate.flags.push_back({"window_unknown", "nothing was reset: this is since the last reset, or the start"});
    add_flags(totals, estimate);
    if (std::optional<Flag> thread = thread_flag(target_)) estimate.flags.push_back(*std::move(thread));
    return estimate;
  }

  Reference reference_;
  Process target_;
  Clock* clock_;
  bool has_window_ = false;
};

} // namespace

Result<std::unique_ptr<Meter>> open_reference_meter(const Files& files, const Process& target, Clock& clock,
                                                    const MeterOptions& /*options*/) {
  HOTSET_TRY(Reference reference, Reference::open(files, target.id, clock));
  return std::make_unique<ReferenceMeter>(std::move(reference), target, clock);
}

} // namespace hotset
