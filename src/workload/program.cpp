// SPDX-License-Identifier: Apache-2.0
#include "workload/program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <utility>

#include "base/units.h"

namespace hotset {
namespace {

constexpr std::string_view kReady = "ready ";
constexpr std::size_t kMostReady = 1 << 16; // of a workload with a thousand children
constexpr int kNotStarted = 127;

[[noreturn]] void be_program(pid_t parent, const char* path, char* const* arguments, int to) {
  ::setpgid(0, 0); // Ctrl-C is for who measures
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kNotStarted); // it died before we asked to be told
  if (to == STDOUT_FILENO ? ::fcntl(to, F_SETFD, 0) == 0 : ::dup2(to, STDOUT_FILENO) >= 0) ::execv(path, arguments);
  ::_exit(kNotStarted);
}

} // namespace

std::vector<std::string> workload_arguments(const WorkloadSpec& spec) {
  const Pattern& pattern = *spec.pattern;
  std::vector<std::string> arguments{"workload", std::string(pattern.name)};
  auto add = [&](std::string_view option, std::string value) {
    if (!takes(pattern, option)) return;
    arguments.emplace_back(option);
    if (!value.empty()) arguments.push_back(std::move(value));
  };
  auto nanoseconds = [](Nanoseconds time) { return fmt::format("{}ns", time.count()); };
  add("--rss", fmt::format("{}", spec.rss_bytes));
  add("--hot", fmt::format("{}%", spec.hot * 100));
  add("--rate", fmt::format("{}", spec.rate));
  add("--seed", fmt::format("{}", spec.seed));
  if (spec.limit > Nanoseconds{}) add("--seconds", nanoseconds(spec.limit));
  add(spec.scattered ? "--scattered" : "--contiguous", "");
  add(spec.write ? "--write" : "--read", "");
  add(spec.shared ? "--shared" : "--private", "");
  add(spec.huge ? "--huge" : "--no-huge", "");
  add(spec.fresh ? "--fresh" : "--reuse", "");
  if (spec.mmap_threshold) add("--mmap-threshold", fmt::format("{}", *spec.mmap_threshold));
  add("--stride", fmt::format("{}", spec.stride));
  add("--period", nanoseconds(spec.period));
  add("--skew", fmt::format("{}", spec.skew));
  add("--children", fmt::format("{}", spec.children));
  add("--directory", spec.directory);
  if (!spec.publish) add("--no-record", "");
  return arguments;
}

Result<WorkloadProgram> WorkloadProgram::start(const std::string& hotset, const WorkloadSpec& spec) {
  std::vector<std::string> words = workload_arguments(spec);
  words.insert(words.begin(), "hotset");
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail(errno_error(errno, "start", "the workload"));
  Fd from(ends[0]);
  Fd to(ends[1]);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return fail(errno_error(errno, "start", "the workload"));
  if (pid == 0) be_program(parent, hotset.c_str(), arguments.data(), to.get());
  to.reset();
  WorkloadProgram program(pid, std::move(from));
  HOTSET_CHECK(program.hear_ready());
  return program;
}

WorkloadProgram::WorkloadProgram(WorkloadProgram&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), from_(std::move(other.from_)), ready_(std::move(other.ready_)) {}

WorkloadProgram::~WorkloadProgram() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL); // children die with their parent
  reap();
}

int WorkloadProgram::reap() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR)
    continue;
  pid_ = -1;
  return status;
}

// How it ended that closed its output, or said something that it should not.
std::string WorkloadProgram::end(bool closed) {
  if (!closed) ::kill(pid_, SIGKILL);
  const int status = reap();
  if (!closed) return "it is no workload";
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotStarted) return "it could not be started";
  if (WIFEXITED(status)) return fmt::format("it ended with exit code {} before it was ready", WEXITSTATUS(status));
  return fmt::format("it was ended by signal {} before it was ready", WTERMSIG(status));
}

Result<> WorkloadProgram::hear_ready() {
  std::string line;
  std::array<char, 512> part;
  bool closed = false;
  while (!line.ends_with('\n') && line.size() < kMostReady) {
    const ssize_t got = ::read(from_.get(), part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    closed = got <= 0;
    if (closed) break;
    line.append(part.data(), static_cast<std::size_t>(got));
  }
  if (!line.starts_with(kReady) || !line.ends_with('\n'))
    return fail(ErrorCode::internal, "run the workload", "", end(closed));
  ready_ = line.substr(kReady.size(), line.size() - kReady.size() - 1);
  return {};
}

} // namespace hotset
