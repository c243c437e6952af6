// SPDX-License-Identifier: Apache-2.0
// The loop of one process of a workload.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "base/clock.h"
#include "base/result.h"
#include "workload/hot_set.h"
#include "workload/order.h"
#include "workload/pattern.h"
#include "workload/region.h"
#include "workload/run.h"
#include "workload/schedule.h"
#include "workload/truth.h"

namespace hotset {

class Worker {
 public:
  // `first_phase` numbers the hot set to begin with: the children of one parent have one each.
  static Result<Worker> create(const WorkloadSpec& spec, Clock& clock, std::function<bool()> stop,
                               std::uint64_t first_phase = 0);

  // Allocates and fills what the pattern has at its start.
  Result<> prepare();
  // Takes over a region that is filled already.
  void adopt(Region region);
  // In a forked child: gives up the region, for another worker to adopt, and the parent's record.
  Region release() {
    record_.reset();
    return std::move(region_);
  }

  [[nodiscard]] WorkloadReady ready() const;
  // Touches until the limit or the stop.
  Result<WorkloadSummary> run();

 private:
  Worker(const WorkloadSpec& spec, Clock& clock, std::function<bool()> stop, std::uint64_t first_phase,
         std::optional<TruthRecord> record);

  void use(Region region);
  Result<> follow(const Moment& moment);
  void fill_to(std::uint64_t grown);
  void step(const Moment& moment, Nanoseconds elapsed);
  void visit(std::span<const std::uint64_t> pages, bool write);
  void end_passes(std::uint64_t touches, std::uint64_t hot);
  void wait_until(Nanoseconds elapsed);
  [[nodiscard]] bool each_pass_is_fresh() const { return spec_.fresh && spec_.pattern->memory == Memory::heap; }

  WorkloadSpec spec_;
  Clock* clock_;
  std::function<bool()> stop_;
  std::uint64_t first_phase_;
  std::optional<TruthRecord> record_;
  Sequence sequence_;
  Pacer pacer_;
  Region region_;
  HotSet hot_set_;
  std::uint64_t allocation_ = 0; // number of the one that region_ is
  std::uint64_t filled_ = 0;     // pages of it that were touched for the first time
  std::uint64_t in_pass_ = 0;    // touches since the last pass ended
  std::uint64_t value_ = 0;      // written to pages, another one in each batch
  WorkloadSummary summary_;
  Nanoseconds begin_{};
};

} // namespace hotset
