// SPDX-License-Identifier: Apache-2.0
#include "e2e/run_hotset.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <sstream>

#include "missing.h"

namespace hotset {
namespace {

using SteadyClock = std::chrono::steady_clock;

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) std::abort();
    read = Fd(ends[0]);
    write = Fd(ends[1]);
  }
  Fd read, write;
};

// What the started program has as its three standard descriptors; -1 is closed.
struct Standard {
  int in = -1, out = -1, err = -1;
};

void put(int from, int to) {
  if (from < 0)
    ::close(to);
  else
    ::dup2(from, to);
}

// Starts `command`, looked up in PATH; a program that can't be run ends with 127. Returns when exec is behind it.
pid_t spawn(const std::vector<std::string>& command, const std::vector<std::string>& environment, Standard standard) {
  std::vector<char*> arguments;
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  Pipe exec;
  pid_t pid = ::fork();
  if (pid != 0) {
    exec.write.reset();
    char none = 0;
    while (::read(exec.read.get(), &none, 1) < 0 && errno == EINTR) {
    }
    return pid;
  }
  for (const std::string& variable : environment)
    ::putenv(const_cast<char*>(variable.c_str()));
  put(standard.in, STDIN_FILENO);
  put(standard.out, STDOUT_FILENO);
  put(standard.err, STDERR_FILENO);
  ::execvp(arguments[0], arguments.data());
  ::_exit(127);
}

// A pipe with a short text in it. Longer than a pipe holds would block: no test needs it.
Pipe holding(std::string_view text) {
  Pipe pipe;
  if (::write(pipe.write.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) std::abort();
  return pipe;
}

// Appends what is there; closes the descriptor at its end.
void take(Fd& fd, std::string& to) {
  std::array<char, 65536> buffer{};
  ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
  if (got > 0) to.append(buffer.data(), static_cast<std::size_t>(got));
  if (got == 0 || (got < 0 && errno != EINTR)) fd.reset();
}

} // namespace

bool RunResult::lacks_something() const {
  if (err.contains("the kernel's verifier rejects")) return false;
  return exit_code == static_cast<int>(ErrorCode::permission) ||
         (exit_code == static_cast<int>(ErrorCode::unsupported) && names_what_is_missing(err));
}

std::vector<nlohmann::json> RunResult::json_lines() const {
  std::vector<nlohmann::json> lines;
  std::istringstream stream(out);
  for (std::string line; std::getline(stream, line);) {
    nlohmann::json value = nlohmann::json::parse(line, nullptr, false);
    if (value.is_discarded()) ADD_FAILURE() << "not JSON: " << line;
    lines.push_back(std::move(value));
  }
  return lines;
}

RunningHotset::RunningHotset(const std::vector<std::string>& arguments, RunOptions options)
    : deadline_(SteadyClock::now() + options.timeout) {
  std::vector<std::string> command = options.wrapper;
  command.emplace_back(HOTSET_BINARY);
  command.insert(command.end(), arguments.begin(), arguments.end());
  Pipe out, err;
  Pipe in = holding(options.input);
  if (options.close_input) in.read.reset();
  if (!options.keep_input_open) in.write.reset();
  Fd file;
  if (!options.output_path.empty()) {
    file = Fd(::open(options.output_path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    EXPECT_TRUE(file) << options.output_path;
  }
  const int output = options.close_output ? -1 : file ? file.get() : out.write.get();
  pid_ = spawn(command, options.environment, {in.read.get(), output, err.write.get()});
  in_ = std::move(in.write);
  out_ = std::move(out.read);
  err_ = std::move(err.read);
}

RunningHotset::~RunningHotset() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  reap();
}

bool RunningHotset::pump() {
  if (!out_ && !err_) return false;
  auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - SteadyClock::now());
  if (left.count() <= 0) {
    result_.timed_out = true;
    return false;
  }
  std::array<pollfd, 2> wait{pollfd{out_.get(), POLLIN, 0}, pollfd{err_.get(), POLLIN, 0}};
  ::poll(wait.data(), wait.size(), static_cast<int>(left.count()));
  if (wait[0].revents != 0) take(out_, result_.out);
  if (wait[1].revents != 0) take(err_, result_.err);
  return true;
}

bool RunningHotset::wait_for(const std::string& stream, std::string_view text) {
  while (stream.find(text) == std::string::npos)
    if (!pump()) return stream.find(text) != std::string::npos;
  return true;
}

void RunningHotset::wait_for_input_to_be_read() const {
  for (int left = 1; ::ioctl(in_.get(), FIONREAD, &left) == 0 && left > 0;)
    ::usleep(1000);
}

RunResult RunningHotset::finish() {
  while (pump()) {
  }
  if (result_.timed_out) {
    ADD_FAILURE() << "hotset did not end in time; it printed:\n" << result_.out << result_.err;
    ::kill(pid_, SIGKILL);
  }
  reap();
  return std::move(result_);
}

void RunningHotset::reap() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  if (WIFEXITED(status)) result_.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result_.signal = WTERMSIG(status);
}

RunResult run_hotset(const std::vector<std::string>& arguments, RunOptions options) {
  return RunningHotset(arguments, std::move(options)).finish();
}

Program::Program(const std::vector<std::string>& command) {
  Pipe out;
  Pipe in = holding("");
  in.write.reset();
  pid_ = spawn(command, {}, {in.read.get(), out.write.get(), STDERR_FILENO});
  out_ = std::move(out.read);
}

Program::~Program() {
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::string Program::wait_for_line() {
  std::string line;
  char byte = 0;
  for (;;) {
    ssize_t got = ::read(out_.get(), &byte, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || byte == '\n') return line;
    line += byte;
  }
}

bool is_installed(std::string_view program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (::access((folder + "/" + std::string(program)).c_str(), X_OK) == 0) return true;
  return false;
}

} // namespace hotset
