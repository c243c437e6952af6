// SPDX-License-Identifier: Apache-2.0
#include "workload/children.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "base/fd.h"

namespace hotset {
namespace {

constexpr int kLook = 50; // ms between two looks at stop()

// What a child tells its parent, each in one write below PIPE_BUF.
struct Message {
  enum class Kind : std::uint32_t { ready, done, failed } kind;
  std::uint64_t touches = 0;
  std::uint64_t passes = 0;
  std::array<char, 256> text{}; // of an error
};

void send(const Fd& to, const Message& message) {
  [[maybe_unused]] ssize_t written = ::write(to.get(), &message, sizeof(message)); // the parent may be gone
}

void send_error(const Fd& to, const Error& error) {
  Message message{.kind = Message::Kind::failed};
  std::string text = to_sentence(error);
  std::memcpy(message.text.data(), text.data(), std::min(text.size(), message.text.size() - 1));
  send(to, message);
}

// How the parent ends its children: signals would race with the Ctrl-C that the whole group gets.
class StopFlag {
 public:
  static Result<StopFlag> create() {
    void* page = ::mmap(nullptr, sizeof(std::atomic<bool>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return fail(errno_error(errno, "share memory with", "the workload's children"));
    return StopFlag(new (page) std::atomic<bool>(false));
  }
  StopFlag(StopFlag&& other) noexcept : flag_(std::exchange(other.flag_, nullptr)) {}
  StopFlag(const StopFlag&) = delete;
  StopFlag& operator=(const StopFlag&) = delete;
  StopFlag& operator=(StopFlag&&) = delete;
  ~StopFlag() {
    if (flag_ != nullptr) ::munmap(flag_, sizeof(*flag_));
  }
  [[nodiscard]] bool raised() const { return flag_->load(std::memory_order_relaxed); }
  void raise() const { flag_->store(true); }

 private:
  explicit StopFlag(std::atomic<bool>* flag) : flag_(flag) {}
  std::atomic<bool>* flag_;
};

// One forked child. Destroyed: ended and reaped.
class Sibling {
 public:
  Sibling(pid_t pid, Fd from) : pid_(pid), from_(std::move(from)) {}
  Sibling(Sibling&& other) noexcept : pid_(std::exchange(other.pid_, -1)), from_(std::move(other.from_)) {}
  Sibling(const Sibling&) = delete;
  Sibling& operator=(const Sibling&) = delete;
  Sibling& operator=(Sibling&&) = delete;
  ~Sibling() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  [[nodiscard]] pid_t pid() const { return pid_; }

  // The child's next message; nothing when stop() said so first. An end without a message is an error.
  Result<std::optional<Message>> hear(const std::function<bool()>& stop) const {
    for (;;) {
      if (stop()) return std::nullopt;
      pollfd event{from_.get(), POLLIN, 0};
      if (::poll(&event, 1, kLook) <= 0) continue;
      Message message{};
      ssize_t got = ::read(from_.get(), &message, sizeof(message));
      if (got < 0 && errno == EINTR) continue;
      std::string object = fmt::format("{}", pid_);
      if (got != ssize_t{sizeof(message)})
        return fail(ErrorCode::internal, "go on with child", object, "it ended unexpectedly",
                    "see the kernel's log; it may have run out of memory");
      if (message.kind == Message::Kind::failed)
        return fail(ErrorCode::internal, "go on with child", object, message.text.data());
      return message;
    }
  }

 private:
  pid_t pid_;
  Fd from_;
};

// The life of a child. The pages are its own mapping now, the parent's record is not: it makes another.
[[noreturn]] void live(const WorkloadSpec& spec, Clock& clock, const StopFlag& stop, Worker& parent,
                       std::uint64_t number, const Fd& to) {
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGTERM, SIG_IGN);
  Region region = parent.release();
  Result<Worker> worker = Worker::create(spec, clock, [&] { return stop.raised(); }, number);
  if (!worker) {
    send_error(to, worker.error());
    ::_exit(1);
  }
  worker->adopt(std::move(region));
  send(to, {.kind = Message::Kind::ready});
  Result<WorkloadSummary> summary = worker->run();
  if (!summary)
    send_error(to, summary.error());
  else
    send(to, {.kind = Message::Kind::done, .touches = summary->touches, .passes = summary->passes});
  ::_exit(summary ? 0 : 1);
}

Result<Sibling> spawn(const WorkloadSpec& spec, Clock& clock, const StopFlag& stop, Worker& parent,
                      std::uint64_t number) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail(errno_error(errno, "start a child of", "the workload"));
  Fd from(ends[0]);
  Fd to(ends[1]);
  pid_t parent_pid = ::getpid();
  pid_t pid = ::fork();
  if (pid < 0) return fail(errno_error(errno, "start a child of", "the workload"));
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent_pid) ::_exit(1);
    live(spec, clock, stop, parent, number, to);
  }
  return Sibling(pid, std::move(from));
}

} // namespace

Result<WorkloadSummary> run_children(const WorkloadSpec& spec, Clock& clock, const WorkloadHooks& hooks,
                                     Worker& parent) {
  WorkloadReady ready = parent.ready();
  HOTSET_TRY(const StopFlag stop, StopFlag::create());
  std::vector<Sibling> children;
  for (std::uint64_t number = 0; number < spec.children && !hooks.stop(); ++number) {
    HOTSET_TRY(Sibling child, spawn(spec, clock, stop, parent, number));
    children.push_back(std::move(child));
    ready.children.push_back(children.back().pid());
  }
  WorkloadSummary summary;
  for (const Sibling& child : children) {
    HOTSET_TRY(std::optional<Message> message, child.hear(hooks.stop));
    if (!message) return summary;
  }
  if (hooks.stop()) return summary;
  const Nanoseconds begin = clock.now();
  hooks.ready(ready);

  // Wait for each child's own end; once asked to stop, all of them are told and each still gives its count.
  const std::function<bool()> never = [] { return false; };
  for (const Sibling& child : children) {
    HOTSET_TRY(std::optional<Message> message, child.hear(stop.raised() ? never : hooks.stop));
    if (!message) {
      stop.raise();
      HOTSET_TRY(message, child.hear(never));
    }
    summary.touches += message ? message->touches : 0;
    summary.passes += message ? message->passes : 0;
  }
  summary.seconds = to_seconds(clock.now() - begin);
  return summary;
}

} // namespace hotset
