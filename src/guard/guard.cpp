// SPDX-License-Identifier: Apache-2.0
#include "guard/guard.h"

#include <bpf/bpf.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "window/start.h"

namespace hotset {
namespace {

guard_rule_label label_of(const PolicyRule& rule) {
  guard_rule_label label{};
  label.line = rule.place.line;
  std::copy_n(rule.name.begin(), std::min(rule.name.size(), sizeof(label.name) - 1), label.name);
  return label;
}

} // namespace

Result<Guard> Guard::start(CompiledPolicy policy, const GuardOptions& options) {
  HOTSET_TRY(GuardSetup setup, choose_setup(Files(), options, policy.policy.mode));
  HOTSET_TRY(std::vector<std::string> notes, resolve_cgroups(Files(), policy));
  policy.image->generation = 1;
  HOTSET_TRY(GuardProgram program, GuardProgram::load(*policy.image, setup, options, nullptr));
  HOTSET_CHECK(start_window({.window = program.window_fd()}));
  Guard guard(std::move(program), std::move(policy), setup, options);
  guard.notes_ = std::move(notes);
  guard.note_storage(guard.program_.try_storage());
  guard.loaded_ = SystemClock().now();
  HOTSET_CHECK(guard.publish());
  HOTSET_CHECK(guard.program_.attach());
  return guard;
}

Result<> Guard::reload(CompiledPolicy policy) {
  HOTSET_TRY(GuardSetup setup, choose_setup(Files(), options_, policy.policy.mode));
  HOTSET_TRY(std::vector<std::string> notes, resolve_cgroups(Files(), policy));
  policy.image->generation = policy_.image->generation + 1;
  HOTSET_TRY(GuardProgram program, GuardProgram::load(*policy.image, setup, options_, &program_));
  Result<> keeps = program.try_storage();
  HOTSET_CHECK(program.attach());
  // While the old one still judges, and before it goes: where the kernel does not tell, it stays.
  HOTSET_TRY(GuardJudges judges, program_.judges());
  HOTSET_TRY(std::uint64_t missed, missed_runs(judges));
  missed_before_ += missed;
  program_ = std::move(program);
  policy_ = std::move(policy);
  setup_ = setup;
  notes_ = std::move(notes);
  note_storage(std::move(keeps));
  ++reloads_;
  loaded_ = SystemClock().now();
  return publish();
}

void Guard::note_storage(Result<> keeps) {
  keeps_ = std::move(keeps);
  if (!keeps_ && options_.cache) notes_.push_back(to_sentence(keeps_.error()));
}

Result<> Guard::reload_refused() {
  ++refused_;
  return publish();
}

Result<> Guard::publish() {
  auto state = std::make_unique<guard_state>();
  const Policy& policy = policy_.policy;
  state->version = GUARD_STATE_VERSION;
  state->pid = static_cast<std::uint32_t>(::getpid());
  state->loaded_ns = static_cast<std::uint64_t>(loaded_.count());
  state->generation = policy_.image->generation;
  state->reloads = reloads_;
  state->refused_reloads = refused_;
  state->events_per_second = options_.events_per_second;
  state->rules = static_cast<std::uint16_t>(policy.rules.size());
  state->hook = setup_.hook;
  state->topology = static_cast<std::uint8_t>(setup_.topology);
  state->mode = setup_.enforce ? POLICY_ENFORCE : POLICY_AUDIT;
  state->fallback = static_cast<std::uint8_t>(policy.fallback);
  state->unknown = static_cast<std::uint8_t>(policy.unknown);
  state->cache = options_.cache && setup_.topology != GUARD_TOPOLOGY_none && keeps_ ? 1 : 0;
  HOTSET_TRY(GuardJudges judges, program_.judges());
  std::ranges::copy(judges, state->judge);
  state->missed_before = missed_before_;
  std::copy_n(policy.file.begin(), std::min(policy.file.size(), sizeof(state->file) - 1), state->file);
  std::ranges::transform(policy.rules, state->label, label_of);
  std::uint32_t key = 0;
  if (bpf_map_update_elem(state_fd(), &key, state.get(), BPF_ANY) != 0)
    return fail(errno_error(errno, "publish", "the status of the policy"));
  return {};
}

Result<GuardStatus> Guard::status() const {
  return read_guard_status(state_fd());
}

Result<GuardStatus> read_guard_status(int state_fd) {
  auto state = std::make_unique<guard_state>();
  std::uint32_t key = 0;
  if (bpf_map_lookup_elem(state_fd, &key, state.get()) != 0)
    return fail(errno_error(errno, "read", "the status of the policy"));
  HOTSET_TRY(GuardStatus status, decode_guard_state(*state));
  status.missed = missed_runs(status.judges);
  if (status.missed) *status.missed += status.missed_before;
  return status;
}

Result<WindowHistory> Guard::history(std::uint64_t seconds) const {
  HOTSET_TRY(WindowReader reader, WindowReader::open({.window = window_fd()}));
  return reader.read(seconds);
}

} // namespace hotset
