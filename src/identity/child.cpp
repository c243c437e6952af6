// SPDX-License-Identifier: Apache-2.0
// Starts a program that waits at a gate, and sees to it that nothing of it outlives us.
//
// Two pipes: `gate` carries one byte that lets the child exec (its end closed without a byte means: give up); `failure`
// is closed by a successful exec and carries errno of one that failed. Between fork and exec the child calls only what
// is safe there; all that allocates happens before.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <string_view>

#include "base/units.h"
#include "identity/target.h"

namespace hotset {
namespace {

constexpr int kGraceSteps = 200;
constexpr timespec kGraceStep{0, 5'000'000}; // 200 × 5 ms: a second

Error cannot_run(const std::string& program, int error_number) {
  Error error = errno_error(error_number, "run", fmt::format("'{}'", printable(program)));
  if (error_number == ENOENT) error.remedy = "check the spelling, or give the whole path";
  if (error_number == EACCES) {
    error.cause = "it is not a file that may be executed";
    error.remedy = "make it executable (chmod +x)";
  }
  if (error_number == ENOEXEC) {
    error.code = ErrorCode::bad_data;
    error.cause = "it is neither a program of this machine nor a script with a first line of #!";
    error.remedy = "run it by its interpreter";
  }
  return error;
}

// 0 when `path` is a file that may be executed, else errno.
int executable_error(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return errno;
  if (!S_ISREG(status.st_mode)) return EACCES;
  return ::access(path.c_str(), X_OK) == 0 ? 0 : errno;
}

// As execvp looks a program up, but before the fork, so that a mistyped name costs nothing.
Result<std::string> look_up(const std::string& program) {
  if (program.find('/') != std::string::npos) {
    int error = executable_error(program);
    if (error != 0) return fail(cannot_run(program, error));
    return program;
  }
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  int best_error = ENOENT;
  while (!program.empty()) {
    std::string_view folder = rest.substr(0, rest.find(':'));
    std::string candidate = fmt::format("{}/{}", folder.empty() ? "." : folder, program);
    int error = executable_error(candidate);
    if (error == 0) return candidate;
    if (error == EACCES) best_error = error;
    if (folder.size() == rest.size()) break;
    rest.remove_prefix(folder.size() + 1);
  }
  return fail(cannot_run(program, best_error));
}

struct Pipe {
  Fd read, write;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail(errno_error(errno, "make", "a pipe"));
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

// Our handlers and ignored signals are not the program's.
void default_signals() {
  for (int signal : {SIGINT, SIGTERM, SIGPIPE, SIGXFSZ, SIGHUP, SIGCHLD})
    ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void be_child(pid_t parent, const char* path, char* const* arguments, Pipe& gate, Pipe& failure) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127); // it died before we asked to be told
  default_signals();
  ::close(gate.write.get()); // or we would wait for ourselves
  ::close(failure.read.get());
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  if (::isatty(STDIN_FILENO) != 0) {
    int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null >= 0) ::dup2(null, STDIN_FILENO);
  }
  char go = 0;
  ssize_t got = 0;
  do
    got = ::read(gate.read.get(), &go, 1);
  while (got < 0 && errno == EINTR);
  if (got != 1) ::_exit(127);
  ::execv(path, arguments);
  int error = errno;
  [[maybe_unused]] ssize_t written = ::write(failure.write.get(), &error, sizeof(error));
  ::_exit(127);
}

// As waitpid would give it.
int wait_status(const siginfo_t& info) {
  if (info.si_code == CLD_EXITED) return (info.si_status & 0xFF) << 8;
  return info.si_status | (info.si_code == CLD_DUMPED ? 0x80 : 0);
}

} // namespace

Result<Child> Child::start(const std::vector<std::string>& command) {
  if (command.empty()) return fail(ErrorCode::usage, "run", "a command", "none is given");
  HOTSET_TRY(std::string path, look_up(command.front()));
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str())); // execv does not write to them
  arguments.push_back(nullptr);
  HOTSET_TRY(Pipe gate, make_pipe());
  HOTSET_TRY(Pipe failure, make_pipe());

  // No signal may run our handlers in the child, which would take them for ours.
  sigset_t all, before;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &before);
  pid_t parent = ::getpid();
  pid_t pid = ::fork();
  int error = errno;
  if (pid == 0) be_child(parent, path.c_str(), arguments.data(), gate, failure);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) return fail(errno_error(error, "start", fmt::format("'{}'", printable(command.front()))));
  ::setpgid(pid, pid); // here as well: whoever comes first

  Child child;
  child.pid_ = pid;
  child.name_ = command.front();
  child.gate_ = std::move(gate.write);
  child.failure_ = std::move(failure.read);
  return child;
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      name_(std::move(other.name_)),
      gate_(std::move(other.gate_)),
      failure_(std::move(other.failure_)),
      status_(other.status_) {}

Child& Child::operator=(Child&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(name_, other.name_);
  std::swap(gate_, other.gate_);
  std::swap(failure_, other.failure_);
  std::swap(status_, other.status_);
  return *this;
}

Result<> Child::release() {
  if (!gate_) return {};
  ssize_t written = ::write(gate_.get(), "", 1);
  int write_error = errno;
  gate_.reset();
  int error = 0;
  ssize_t got = 0;
  do
    got = ::read(failure_.get(), &error, sizeof(error));
  while (got < 0 && errno == EINTR);
  failure_.reset();
  if (got == static_cast<ssize_t>(sizeof(error))) return fail(cannot_run(name_, error));
  if (written != 1) return fail(errno_error(write_error, "start", fmt::format("'{}'", printable(name_))));
  return {};
}

std::optional<int> Child::ended() {
  if (status_ || pid_ < 0) return status_;
  siginfo_t info{};
  // WNOWAIT: it stays a zombie, so that neither its pid nor its group can become another's before we are done with it.
  if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid_)
    status_ = wait_status(info);
  return status_;
}

Child::~Child() {
  if (pid_ < 0) return;
  gate_.reset();
  if (!ended()) {
    ::kill(-pid_, SIGTERM);
    ::kill(-pid_, SIGCONT); // a stopped one would not see the other
    for (int step = 0; step < kGraceSteps && !ended(); ++step)
      ::nanosleep(&kGraceStep, nullptr);
  }
  ::kill(-pid_, SIGKILL); // what it started and left in its group
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

} // namespace hotset
