// SPDX-License-Identifier: Apache-2.0
#include "guard/event.h"

#include <gtest/gtest.h>

#include <cstring>

namespace hotset {
namespace {

guard_event record_of(std::string_view path) {
  guard_event raw{};
  raw.begin = static_cast<std::uint16_t>(GUARD_PATH_BYTES - path.size());
  std::memcpy(raw.path + raw.begin, path.data(), path.size());
  raw.rule = POLICY_NO_RULE;
  return raw;
}

std::optional<GuardEvent> decode(const guard_event& raw) {
  return decode_guard_event({reinterpret_cast<const std::byte*>(&raw), sizeof(raw)});
}

TEST(GuardEventRecord, keeps_all_bytes_of_path_and_command) {
  guard_event raw = record_of("/a b/\n\xff");
  std::memcpy(raw.comm, "a) \xff\n", 5);
  raw.device = 259U << 20 | 3;
  std::optional<GuardEvent> event = decode(raw);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->path, "/a b/\n\xff");
  EXPECT_EQ(event->comm, "a) \xff\n");
  EXPECT_EQ(event->device_major, 259U);
  EXPECT_EQ(event->device_minor, 3U);
  EXPECT_FALSE(event->rule);
}

TEST(GuardEventRecord, of_the_root_has_a_path_of_one_slash) {
  EXPECT_EQ(decode(record_of(""))->path, "/");
  guard_event astray = record_of("");
  astray.walk = GUARD_WALK_detached;
  EXPECT_EQ(decode(astray)->path, "");
}

TEST(GuardEventRecord, of_a_full_command_has_no_zero_to_end_it) {
  guard_event raw = record_of("/a");
  std::memset(raw.comm, 'c', sizeof(raw.comm));
  EXPECT_EQ(decode(raw)->comm, std::string(GUARD_COMM_BYTES, 'c'));
}

TEST(GuardEventRecord, that_no_program_of_ours_sends_is_refused) {
  guard_event raw = record_of("/a");
  EXPECT_FALSE(decode_guard_event({reinterpret_cast<const std::byte*>(&raw), sizeof(raw) - 1}));
  raw.begin = GUARD_PATH_BYTES + 1;
  EXPECT_FALSE(decode(raw));
  raw = record_of("/a");
  raw.walk = GUARD_WALK_COUNT;
  EXPECT_FALSE(decode(raw));
  raw = record_of("/a");
  raw.reason = POLICY_BY_UNKNOWN + 1;
  EXPECT_FALSE(decode(raw));
}

} // namespace
} // namespace hotset
