// SPDX-License-Identifier: Apache-2.0
// A live redis: 600,000 keys of 1 kB, of which clients get a random 5 %.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace hotset {

class LiveRedis {
 public:
  // Nothing when redis is not installed or does not start.
  static std::optional<LiveRedis> start();
  LiveRedis(LiveRedis&& other) noexcept;
  LiveRedis(const LiveRedis&) = delete;
  LiveRedis& operator=(const LiveRedis&) = delete;
  LiveRedis& operator=(LiveRedis&&) = delete;
  ~LiveRedis(); // ends the server and its clients

  [[nodiscard]] pid_t pid() const { return server_; }

 private:
  LiveRedis() = default;
  std::string folder_;
  pid_t server_ = -1, clients_ = -1;
};

} // namespace hotset
