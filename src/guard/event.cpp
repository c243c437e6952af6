// SPDX-License-Identifier: Apache-2.0
#include "guard/event.h"

#include <array>
#include <cstring>

namespace hotset {
namespace {

#define GUARD_WALK_TEXT(name, text) std::string_view(text),
constexpr std::array kWalkTexts{GUARD_WALKS(GUARD_WALK_TEXT)};
#undef GUARD_WALK_TEXT

// As the kernel keeps device numbers, which is not as stat(2) tells them: MINORBITS is 20.
constexpr unsigned kMinorBits = 20;

} // namespace

std::optional<GuardEvent> decode_guard_event(std::span<const std::byte> record) {
  guard_event raw{};
  if (record.size() != sizeof(raw)) return std::nullopt;
  std::memcpy(&raw, record.data(), sizeof(raw));
  if (raw.begin > GUARD_PATH_BYTES || raw.walk >= GUARD_WALK_COUNT || raw.reason > POLICY_BY_UNKNOWN)
    return std::nullopt;
  GuardEvent event;
  event.time = Nanoseconds(raw.time_ns);
  event.path.assign(raw.path + raw.begin, GUARD_PATH_BYTES - raw.begin);
  event.walk = static_cast<guard_walk_end>(raw.walk);
  if (event.path.empty() && event.walk == GUARD_WALK_whole) event.path = "/";
  event.access = raw.access;
  event.blocked = raw.blocked != 0;
  event.reason = static_cast<policy_reason>(raw.reason);
  if (raw.rule != POLICY_NO_RULE) event.rule = raw.rule;
  event.pid = raw.pid;
  event.comm.assign(raw.comm, ::strnlen(raw.comm, sizeof(raw.comm)));
  event.uid = raw.uid;
  event.cgroup = raw.cgroup;
  event.inode = raw.inode;
  event.device_major = raw.device >> kMinorBits;
  event.device_minor = raw.device & ((1U << kMinorBits) - 1);
  event.generation = raw.generation;
  return event;
}

std::string_view walk_end_text(guard_walk_end end) {
  return kWalkTexts.at(end);
}

} // namespace hotset
