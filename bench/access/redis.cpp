// SPDX-License-Identifier: Apache-2.0
#include "access/redis.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace hotset {
namespace {

constexpr int kKeys = 600'000;
constexpr int kHotKeys = kKeys / 20;

pid_t run(std::vector<std::string> words) {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int quiet = ::open("/dev/null", O_RDWR);
  for (int fd : {0, 1, 2})
    ::dup2(quiet, fd);
  std::vector<char*> arguments;
  for (std::string& word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  ::_exit(127);
}

bool succeeds(std::vector<std::string> words) {
  int status = -1;
  ::waitpid(run(std::move(words)), &status, 0);
  return status == 0;
}

void end(pid_t pid) {
  if (pid <= 0) return;
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

} // namespace

std::optional<LiveRedis> LiveRedis::start() {
  LiveRedis redis;
  std::string folder = (std::filesystem::temp_directory_path() / "hotset-bench-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return std::nullopt;
  redis.folder_ = folder;
  const std::string socket = folder + "/redis.sock";
  redis.server_ =
      run({"redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no", "--dir", folder});
  SystemClock clock;
  for (int looks = 0; !succeeds({"redis-cli", "-s", socket, "ping"}); ++looks) {
    if (looks == 50) return std::nullopt;
    clock.sleep_until(clock.now() + std::chrono::milliseconds(100));
  }
  if (!succeeds({"redis-benchmark", "-s", socket, "-t", "set", "-n", fmt::format("{}", 2 * kKeys), "-r",
                 fmt::format("{}", kKeys), "-d", "1000", "-P", "64", "-q"}))
    return std::nullopt;
  redis.clients_ = run({"redis-benchmark", "-s", socket, "-t", "get", "-n", "2000000000", "-r",
                        fmt::format("{}", kHotKeys), "-P", "16", "-q"});
  return redis;
}

LiveRedis::LiveRedis(LiveRedis&& other) noexcept
    : folder_(std::exchange(other.folder_, {})),
      server_(std::exchange(other.server_, -1)),
      clients_(std::exchange(other.clients_, -1)) {}

LiveRedis::~LiveRedis() {
  end(clients_);
  end(server_);
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

} // namespace hotset
