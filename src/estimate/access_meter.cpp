// SPDX-License-Identifier: Apache-2.0
// The measurement by Accessed bits as an estimate record, with its bounds and every reason for them.
#include "access/meter.h"

#include <random>

#include "estimate/access_record.h"
#include "estimate/meter.h"

namespace hotset {
namespace {

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

  Result<> begin() override { return meter_.begin(aim_of(options_, method_, resident_, touched_)); }

  Result<Estimate> read() override {
    HOTSET_TRY(MeterReading reading, meter_.read());
    resident_ = static_cast<double>(reading.answer.resident);
    touched_ = reading.answer.touched;
    return estimate_of(reading);
  }

 private:
  [[nodiscard]] Estimate estimate_of(const MeterReading& reading) const {
    const Answer& answer = reading.answer;
    Estimate estimate;
    estimate.wall = clock_->wall();
    estimate.target = target_;
    set_working_set(answer, estimate);
    estimate.swap_bytes = swap_of(files_, target_.id.pid);
    if (!is_alive(files_, target_.id)) estimate.swap_bytes.reset(); // the pid may be another process's by now
    if (!estimate.swap_bytes) estimate.flags.push_back({"swap_unknown", "/proc/PID/status has no VmSwap"});
    add_access_flags(answer, reading, options_, damon_, estimate);
    if (std::optional<Flag> thread = thread_flag(target_)) estimate.flags.push_back(*std::move(thread));
    return estimate;
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
