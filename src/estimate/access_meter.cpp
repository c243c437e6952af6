// SPDX-License-Identifier: Apache-2.0
// The measurement by Accessed bits as an estimate record, with its bounds and every reason for them.
#include "access/meter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "base/units.h"
#include "estimate/meter.h"

namespace hotset {
namespace {

constexpr std::uint64_t kPage = 4096;

std::string bytes_text(std::uint64_t pages) {
  return human_bytes(pages * kPage);
}

// Monitoring that clears Accessed bits itself, so that a touch can be lost to it.
bool damon_is_on(const Files& files) {
  const std::string root = "/sys/kernel/mm/damon/admin/kdamonds";
  Result<std::vector<std::string>> names = files.list(root);
  if (!names) return false;
  return std::ranges::any_of(*names, [&](const std::string& name) {
    Result<std::string> state = files.read(fmt::format("{}/{}/state", root, name));
    return state && state->starts_with("on");
  });
}

// VmSwap of /proc/PID/status, in bytes.
std::optional<std::uint64_t> swap_of(const Files& files, pid_t pid) {
  Result<std::string> status = files.read(fmt::format("/proc/{}/status", pid));
  if (!status) return std::nullopt;
  constexpr std::string_view kField = "VmSwap:";
  std::size_t at = status->find(kField);
  if (at == std::string::npos) return std::nullopt;
  at = status->find_first_not_of(" \t", at + kField.size());
  std::optional<std::uint64_t> kb = parse_u64(std::string_view(*status).substr(at, status->find(' ', at) - at));
  return kb ? std::optional(*kb * 1024) : std::nullopt;
}

class AccessBitMeter final : public Meter {
 public:
  AccessBitMeter(std::unique_ptr<Census> census, AccessMeter meter, const Files& files, Process target, Clock& clock,
                 const MeterOptions& options, Aim::Method method)
      : census_(std::move(census)),
        meter_(std::move(meter)),
        files_(files),
        target_(std::move(target)),
        clock_(&clock),
        options_(options),
        method_(method),
        damon_(damon_is_on(files)) {}

  Result<> begin() override { return meter_.begin(aim()); }

  Result<Estimate> read() override {
    HOTSET_TRY(MeterReading reading, meter_.read());
    resident_ = static_cast<double>(reading.answer.resident);
    touched_ = reading.answer.touched;
    return estimate_of(reading);
  }

 private:
  [[nodiscard]] Aim aim() const {
    // Before the first window nothing is known; an aim of one part in a hundred of nothing would be no aim.
    double of = options_.relative && touched_ > 0 ? touched_ : resident_;
    return {.method = method_,
            .budget_us = options_.budget * to_seconds(options_.window) * 1e6,
            .error_pages = options_.error * of,
            .confidence = options_.confidence};
  }

  [[nodiscard]] Estimate estimate_of(const MeterReading& reading) const {
    const Answer& answer = reading.answer;
    Estimate estimate;
    estimate.wall = clock_->wall();
    estimate.target = target_;
    estimate.effective_s = to_seconds(reading.window);
    estimate.method = answer.exact() ? "exact" : answer.units > 0 ? "sample" : "bounds";
    auto bytes = [](double pages) { return static_cast<std::uint64_t>(pages) * kPage; };
    estimate.wss = WorkingSet{.bytes = bytes(std::round(answer.touched)),
                              .low_bytes = bytes(std::floor(answer.low)),
                              .high_bytes = bytes(std::ceil(answer.high)),
                              .confidence = answer.confidence};
    estimate.rss_bytes = answer.resident * kPage;
    estimate.swap_bytes = swap_of(files_, target_.id.pid);
    estimate.granularity_bytes = answer.huge > 0 ? kTableBytes : kPage;
    estimate.coverage = answer.coverage();
    estimate.cost = {.cpu_s = to_seconds(reading.cpu), .target_stall_s = to_seconds(reading.clear_time)};
    add_flags(reading, estimate);
    return estimate;
  }

  void add_flags(const MeterReading& reading, Estimate& estimate) const {
    const Answer& answer = reading.answer;
    auto flag = [&](std::string code, std::string text) {
      estimate.flags.push_back({std::move(code), std::move(text)});
    };
    flag("pss_not_measured", "the proportional share needs a walk of smaps, which costs more than all the rest");
    if (!estimate.swap_bytes) flag("swap_unknown", "/proc/PID/status has no VmSwap");
    if (reading.approach != ClearPlan::Approach::exact) flag("method_choice", reading.reason);
    for (const Held& held : answer.held)
      flag(fmt::format("held_{}", held.code), fmt::format("{} of {}", bytes_text(held.pages), held.text));
    if (answer.aged > 0)
      flag("aged_by_kernel", fmt::format("the kernel itself aged {} in the window (reclaim, DAMON): it may have been "
                                         "touched before that",
                                         bytes_text(answer.aged)));
    if (damon_) flag("damon_active", "DAMON clears Accessed bits of pages that it samples: touches can be lost to it");
    if (answer.huge > 0)
      flag("huge_pages", fmt::format("{} is in huge pages, each of which counts whole for one touched byte",
                                     bytes_text(answer.huge)));
    if (answer.hugetlb > 0)
      flag("hugetlb_left_out", fmt::format("{} in hugetlb pages is not in these numbers", bytes_text(answer.hugetlb)));
    if (reading.unreadable > 0)
      flag("tables_unreadable",
           fmt::format("{} page tables could not be read: all counts are lower bounds", reading.unreadable));
    if (std::optional<Flag> thread = thread_flag(target_)) estimate.flags.push_back(*std::move(thread));
  }

  std::unique_ptr<Census> census_;
  AccessMeter meter_; // refers to the census
  Files files_;
  Process target_;
  Clock* clock_;
  MeterOptions options_;
  Aim::Method method_;
  bool damon_;
  double resident_ = 0, touched_ = 0; // of the last window
};

Result<std::unique_ptr<Meter>> open(const Files& files, const Process& target, Clock& clock,
                                    const MeterOptions& options, Aim::Method method) {
  HOTSET_TRY(Census opened, Census::open(clock));
  auto census = std::make_unique<Census>(std::move(opened));
  HOTSET_TRY(AccessMeter meter, AccessMeter::open(*census, target.id, clock, std::random_device()()));
  return std::make_unique<AccessBitMeter>(std::move(census), std::move(meter), files, target, clock, options, method);
}

} // namespace

Result<std::unique_ptr<Meter>> open_access_meter(const Files& files, const Process& target, Clock& clock,
                                                 const MeterOptions& options) {
  return open(files, target, clock, options, Aim::Method::automatic);
}
Result<std::unique_ptr<Meter>> open_exact_meter(const Files& files, const Process& target, Clock& clock,
                                                const MeterOptions& options) {
  return open(files, target, clock, options, Aim::Method::exact);
}
Result<std::unique_ptr<Meter>> open_sample_meter(const Files& files, const Process& target, Clock& clock,
                                                 const MeterOptions& options) {
  return open(files, target, clock, options, Aim::Method::sample);
}

} // namespace hotset
