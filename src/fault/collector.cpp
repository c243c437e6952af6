// SPDX-License-Identifier: Apache-2.0
#include "fault/collector.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "fault/ledger.h"
#include "fault/program.h"
#include "kernel/preemption.h"
#include "kernel/transport.h"

namespace hotset {
namespace {

constexpr Nanoseconds kReapInterval = std::chrono::seconds(1);

fault_key key_of(const ProcessId& process) {
  return {process.start_ticks, static_cast<std::uint32_t>(process.pid), 0};
}

// Gone for good, so that it can't fault again. A zombie is not: its other threads may still run.
bool has_ended(const Files& files, const ProcessId& process) {
  Result<ProcessStat> stat = read_process_stat(files, process.pid);
  if (!stat) return stat.error().code == ErrorCode::not_found || stat.error().code == ErrorCode::gone;
  return stat->start_ticks != process.start_ticks;
}

Error no_hook_works(const std::vector<HookRefusal>& refusals) {
  Error error{ErrorCode::unsupported, "count page faults", "", "", refusals.back().error.remedy};
  for (const HookRefusal& refusal : refusals) {
    if (refusal.error.code == ErrorCode::permission) error.code = ErrorCode::permission;
    if (refusal.error.code == ErrorCode::permission) error.remedy = refusal.error.remedy;
    // Neighbours in the table mostly fail alike: say each cause once.
    if (error.cause.find(refusal.error.cause) != std::string::npos) continue;
    error.cause += fmt::format("{}{}: {}", error.cause.empty() ? "" : ", ", refusal.hook->name, refusal.error.cause);
  }
  if (error.remedy.empty())
    error.remedy = "use another hook: hotset doctor says which work here, and what helps the others";
  return error;
}

Result<> check(const FaultOptions& options) {
  if (options.pace < Nanoseconds::zero())
    return fail(ErrorCode::usage, "count page faults", "", "the pace is below zero");
  if (options.max_processes == 0) return fail(ErrorCode::usage, "count page faults", "", "max_processes is zero");
  if (!options.hook.empty() && find_page_fault_hook(options.hook) == nullptr)
    return fail(ErrorCode::usage, "count page faults", "", fmt::format("there is no hook '{}'", options.hook),
                "hotset doctor lists them");
  return {};
}

struct Candidates {
  std::vector<const Hook*> order;
  std::vector<HookRefusal> passed_over; // at first those that were set back
};

Candidates candidates_for(const FaultOptions& options) {
  if (!options.hook.empty()) return {{find_page_fault_hook(options.hook)}, {}};
  bool preempting = preempts_itself(Files());
  Candidates candidates{page_fault_hook_order(preempting), {}};
  for (const Hook& hook : page_fault_hooks())
    if (preempting && hook.misses_when_preempted)
      candidates.passed_over.push_back(
          {&hook,
           {ErrorCode::unsupported, "use", std::string(hook.name),
            "this kernel preempts itself, and the hook then misses faults", "it can be forced by its name"}});
  return candidates;
}

Result<std::unique_ptr<Transport>> open_transport(const FaultProgram& program, std::size_t cpu_bytes) {
  constexpr const char* kRecords = "fault samples";
  return program.uses_perf_buffer() ? Transport::of_perf_buffer(program.buffer_fd(), cpu_bytes, kRecords)
                                    : Transport::of_ring_buffer(program.buffer_fd(), kRecords);
}

} // namespace

struct FaultCollector::State {
  FaultProgram program;
  const Hook* hook;
  std::vector<HookRefusal> refusals;
  std::unique_ptr<Transport> transport;
  SampleLedger ledger;
  bool may_fill; // more than one process can come into the map
  Nanoseconds reaped_at;

  // What hands over a sample that has arrived.
  Transport::Take storing(const std::function<void(const FaultSample&)>& consume);
  // Takes those that ended out of the map, and hands over what their last sample left.
  Result<> reap(const std::function<void(const FaultSample&)>& consume);
};

Transport::Take FaultCollector::State::storing(const std::function<void(const FaultSample&)>& consume) {
  return [&](const void* data, std::size_t bytes) {
    fault_sample sample{};
    if (bytes < sizeof(sample)) return; // cannot be: the program sends nothing else
    std::memcpy(&sample, data, sizeof(sample));
    if (std::optional<FaultSample> stored = ledger.store(sample)) consume(*stored);
  };
}

Result<> FaultCollector::State::reap(const std::function<void(const FaultSample&)>& consume) {
  const Files files;
  Nanoseconds now = SystemClock().now();
  HOTSET_TRY(auto entries, program.counts().entries());
  for (const auto& [key, count] : entries) {
    ProcessId process = process_of(key);
    if (!has_ended(files, process)) continue;
    fault_sample last{key, static_cast<std::uint64_t>(now.count()), count.since_ns, count.total, {}};
    std::memcpy(last.comm, count.comm, sizeof(last.comm));
    if (std::optional<FaultSample> rest = ledger.store(last)) consume(*rest);
    ledger.forget(process);
    HOTSET_CHECK(program.counts().erase(key));
  }
  reaped_at = now;
  return {};
}

FaultCollector::FaultCollector(std::unique_ptr<State> state) : state_(std::move(state)) {}
FaultCollector::FaultCollector(FaultCollector&&) noexcept = default;
FaultCollector& FaultCollector::operator=(FaultCollector&&) noexcept = default;
FaultCollector::~FaultCollector() = default;

Result<FaultCollector> FaultCollector::attach(const FaultOptions& options) {
  HOTSET_CHECK(check(options));
  Candidates candidates = candidates_for(options);
  for (const Hook* hook : candidates.order) {
    std::erase_if(candidates.passed_over, [&](const HookRefusal& refusal) { return refusal.hook == hook; });
    Result<FaultProgram> program = FaultProgram::attach(options, *hook);
    if (!program) {
      candidates.passed_over.push_back({hook, std::move(program).error()});
      continue;
    }
    HOTSET_TRY(auto transport, open_transport(*program, options.buffer_bytes));
    return FaultCollector(std::unique_ptr<State>(new State{
        *std::move(program), hook, std::move(candidates.passed_over), std::move(transport),
        SampleLedger(options.min_value), options.filter.kind != FaultFilter::Kind::pid, SystemClock().now()}));
  }
  return fail(no_hook_works(candidates.passed_over));
}

const Hook& FaultCollector::hook() const {
  return *state_->hook;
}

const std::vector<HookRefusal>& FaultCollector::refusals() const {
  return state_->refusals;
}

std::string_view FaultCollector::transport() const {
  return state_->transport->name();
}

Result<> FaultCollector::poll(Nanoseconds timeout, const std::function<void(const FaultSample&)>& consume) {
  HOTSET_CHECK(state_->transport->poll(timeout, state_->storing(consume)));
  if (state_->may_fill && SystemClock().now() - state_->reaped_at >= kReapInterval) HOTSET_CHECK(state_->reap(consume));
  return {};
}

Result<std::uint64_t> FaultCollector::total(const ProcessId& process) {
  HOTSET_TRY(std::optional<fault_count> count, state_->program.counts().find(key_of(process)));
  return count ? count->total : 0;
}

Result<std::vector<FaultCollector::Count>> FaultCollector::totals() {
  HOTSET_TRY(auto entries, state_->program.counts().entries());
  std::vector<Count> counts;
  counts.reserve(entries.size());
  for (const auto& [key, count] : entries)
    counts.push_back({process_of(key), comm_of(count.comm), count.total});
  return counts;
}

Result<> FaultCollector::reap(const std::function<void(const FaultSample&)>& consume) {
  HOTSET_CHECK(state_->transport->consume(state_->storing(consume))); // first what they sent while they lived
  if (!state_->may_fill) return {};
  return state_->reap(consume);
}

Result<FaultLosses> FaultCollector::losses() const {
  FaultLosses losses;
  HOTSET_TRY(losses.buffer_full, state_->program.lost(FAULT_LOSS_buffer_full));
  HOTSET_TRY(losses.untracked, state_->program.lost(FAULT_LOSS_untracked));
  HOTSET_TRY(losses.missed, state_->program.skipped());
  losses.below_min_value = state_->ledger.below_min_value();
  return losses;
}

} // namespace hotset
