// SPDX-License-Identifier: Apache-2.0
// Page faults of one process per window, counted in the kernel: no working set, and the record says so.
//
// Faults see first touch and growth, not reuse: a process in steady state faults zero times whatever its working set
// is. So `wss` stays absent and the count goes into `faults`, with the hook and what that hook can see.
#include <fmt/format.h>

#include "base/units.h"
#include "estimate/meter.h"
#include "fault/collector.h"

namespace hotset {
namespace {

class FaultMeter final : public Meter {
 public:
  FaultMeter(FaultCollector collector, const Files& files, Process target, Clock& clock)
      : collector_(std::move(collector)), files_(files), target_(std::move(target)), clock_(&clock) {}

  Result<> begin() override {
    Nanoseconds cpu = own_cpu_time();
    HOTSET_TRY(begin_total_, collector_.total(target_.id));
    HOTSET_TRY(begin_losses_, collector_.losses());
    begin_ = clock_->now();
    cpu_ = own_cpu_time() - cpu;
    return {};
  }

  Result<Estimate> read() override {
    Nanoseconds cpu = own_cpu_time();
    HOTSET_TRY(std::uint64_t total, collector_.total(target_.id));
    Nanoseconds end = clock_->now();
    HOTSET_TRY(FaultLosses losses, collector_.losses());
    Result<ProcessStat> stat = read_process_stat(files_, target_.id.pid);
    if (!stat || stat->start_ticks != target_.id.start_ticks || stat->rss_pages == 0)
      return fail(ErrorCode::gone, "read the memory of", fmt::format("process {}", target_.id.pid),
                  "the process has ended");
    Estimate estimate = estimate_of(total, losses, stat->rss_pages * page_bytes());
    estimate.effective_s = to_seconds(end - begin_);
    estimate.cost.cpu_s = to_seconds(std::exchange(cpu_, {}) + (own_cpu_time() - cpu));
    return estimate;
  }

 private:
  [[nodiscard]] Estimate estimate_of(std::uint64_t total, const FaultLosses& losses, std::uint64_t rss_bytes) const {
    Estimate estimate;
    estimate.wall = clock_->wall();
    estimate.target = target_;
    estimate.method = "faults";
    estimate.rss_bytes = rss_bytes;
    estimate.granularity_bytes = page_bytes();
    estimate.faults = FaultCount{.count = total - begin_total_,
                                 .hook = std::string(collector_.hook().name),
                                 .semantics = std::string(collector_.hook().semantics)};
    estimate.flags.push_back({"faults_only",
                              "page faults show first touch and growth, not reuse: they tell no working set, and "
                              "neither PSS, swap nor stall is measured"});
    estimate.flags.push_back({"rss_approximate", "the RSS is the kernel's quick count, off by some pages a CPU"});
    std::uint64_t lost = losses.untracked + losses.missed - begin_losses_.untracked - begin_losses_.missed;
    if (lost > 0) estimate.flags.push_back({"faults_lost", fmt::format("{} faults were not counted", lost)});
    if (std::optional<Flag> thread = thread_flag(target_)) estimate.flags.push_back(*std::move(thread));
    return estimate;
  }

  FaultCollector collector_;
  Files files_;
  Process target_;
  Clock* clock_;
  std::uint64_t begin_total_ = 0;
  FaultLosses begin_losses_;
  Nanoseconds begin_{};
  Nanoseconds cpu_{};
};

} // namespace

Result<std::unique_ptr<Meter>> open_fault_meter(const Files& files, const Process& target, Clock& clock,
                                                const MeterOptions& /*options*/) {
  FaultOptions options;
  options.filter = {.kind = FaultFilter::Kind::pid, .process = target.id, .comm = ""};
  options.pace = Nanoseconds::zero(); // counts are read, no samples are wanted
  HOTSET_TRY(FaultCollector collector, FaultCollector::attach(options));
  return std::make_unique<FaultMeter>(std::move(collector), files, target, clock);
}

} // namespace hotset
