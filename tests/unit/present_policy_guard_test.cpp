// SPDX-License-Identifier: Apache-2.0
#include "present/policy_guard.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>

#include "golden.h"

namespace hotset {
namespace {

using std::chrono::seconds;

GuardStatus status() {
  GuardStatus status;
  status.file = "/etc/hotset/policy.toml";
  status.pid = 4711;
  status.generation = 3;
  status.reloads = 2;
  status.refused_reloads = 1;
  status.hook = GUARD_LSM;
  status.topology = GUARD_TOPOLOGY_directories;
  status.mode = POLICY_ENFORCE;
  status.unknown = POLICY_DENY;
  status.cache = true;
  status.events_per_second = 100;
  status.rules = {{5, ""}, {12, "keys\n"}};
  return status;
}

GuardEvent event() {
  GuardEvent event;
  event.path = "/home/Ann/.ssh/id\x1b_rsa";
  event.access = POLICY_READ | POLICY_WRITE;
  event.rule = 1;
  event.pid = 12;
  event.comm = "cat";
  event.uid = 1000;
  event.cgroup = 2345;
  event.inode = 99;
  event.device_major = 8;
  event.device_minor = 1;
  event.generation = 3;
  return event;
}

PolicyStats stats() {
  PolicyStats stats;
  stats.requested_s = 60;
  stats.known_s = 42;
  stats.span.of = {100, 50, 30, 10, 10, 9, 1, 2, 11, 0, 0, 0};
  stats.total.of = {1000, 500, 300, 100, 100, 90, 10, 20, 110, 3, 4, 5};
  stats.missed = 6;
  return stats;
}

std::string pretty(const std::string& json) {
  return nlohmann::ordered_json::parse(json).dump(2) + "\n";
}

TEST(PolicyGuardText, says_what_is_held_what_was_judged_and_what_was_denied) {
  Style plain(false);
  GuardStatus audit = status();
  audit.mode = POLICY_AUDIT;
  audit.hook = GUARD_CALLS;
  audit.cache = false;
  audit.missed = 2129;
  GuardStatus skipped = status(), unasked = status();
  skipped.missed = 7;
  unasked.missed = fail(ErrorCode::permission, "open", "a program of the policy", "not permitted");
  GuardEvent blocked = event(), cut = event(), unknown = event(), older = event();
  blocked.blocked = true;
  cut.walk = GUARD_WALK_too_deep;
  unknown.reason = POLICY_BY_UNKNOWN;
  unknown.rule.reset();
  unknown.walk = GUARD_WALK_detached;
  unknown.path.clear();
  unknown.pid = 0;
  older.generation = 1;
  std::string text = policy_status_text(status(), seconds(125), plain) + "\n" +
                     policy_status_text(audit, seconds(1), plain) + "\n" +
                     policy_status_text(skipped, seconds(1), plain) + "\n" +
                     policy_status_text(unasked, seconds(1), plain) + "\n" + policy_stats_text(stats(), plain) + "\n";
  for (const GuardEvent& one : {event(), blocked, cut, unknown, older})
    text += policy_event_text(one, status(), seconds(1'700'000'000), plain) + "\n";
  expect_golden("policy_guard.txt", text);
}

TEST(PolicyGuardJson, has_all_that_the_text_has) {
  GuardStatus unasked = status();
  unasked.missed = fail(ErrorCode::permission, "open", "a program of the policy", "not permitted");
  expect_golden("policy_guard.json", pretty(policy_status_json(unasked, seconds(125))) +
                                         pretty(policy_status_json(status(), seconds(125))) +
                                         pretty(policy_stats_json(stats())) + pretty(policy_stats_json({})) +
                                         pretty(policy_event_json(event(), status(), seconds(1'700'000'000))));
}

TEST(GuardState, of_another_version_is_refused) {
  auto state = std::make_unique<guard_state>();
  state->version = GUARD_STATE_VERSION;
  state->rules = 1;
  state->judge[1] = 47;
  state->missed_before = 11;
  state->label[0].line = 7;
  std::fill(std::begin(state->label[0].name), std::end(state->label[0].name), 'n'); // without an end
  std::fill(std::begin(state->file), std::end(state->file), 'f');
  Result<GuardStatus> status = decode_guard_state(*state);
  ASSERT_TRUE(status);
  EXPECT_EQ(status->file.size(), sizeof(state->file));
  EXPECT_EQ(status->rules[0].name.size(), sizeof(state->label[0].name));
  EXPECT_EQ(status->rules[0].line, 7U);
  EXPECT_EQ(status->judges, (GuardJudges{0, 47}));
  EXPECT_EQ(status->missed.value(), 11U);
  ++state->version;
  EXPECT_FALSE(decode_guard_state(*state));
  --state->version;
  state->topology = GUARD_TOPOLOGY_COUNT;
  EXPECT_FALSE(decode_guard_state(*state));
}

} // namespace
} // namespace hotset
