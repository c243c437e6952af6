// SPDX-License-Identifier: Apache-2.0
#include "workload/process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>
#include <utility>

#include "base/clock.h"
#include "base/interrupt.h"

namespace hotset {
namespace {

constexpr std::size_t kMostText = 1024;

enum class Tag : std::uint32_t { ready, summary, failed };

// What goes through the pipe: a head, then `count` child pids or bytes of text.
struct Head {
  Tag tag = Tag::failed;
  ErrorCode code = ErrorCode::internal;
  std::uint64_t count = 0;
  std::uint64_t pages = 0, hot_pages = 0, address = 0;
  std::uint64_t touches = 0, passes = 0;
  double seconds = 0;
};

bool send(int fd, const void* bytes, std::size_t size) {
  const auto* at = static_cast<const std::byte*>(bytes);
  while (size > 0) {
    ssize_t written = ::write(fd, at, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    at += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

bool receive(int fd, void* bytes, std::size_t size) {
  auto* at = static_cast<std::byte*>(bytes);
  while (size > 0) {
    ssize_t got = ::read(fd, at, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

[[noreturn]] void live(const WorkloadSpec& spec, const Files& files, int to) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  catch_interrupts();
  SystemClock clock;
  WorkloadHooks hooks{.ready =
                          [&](const WorkloadReady& ready) {
                            Head head{.tag = Tag::ready,
                                      .count = ready.children.size(),
                                      .pages = ready.pages,
                                      .hot_pages = ready.hot_pages,
                                      .address = ready.address};
                            send(to, &head, sizeof(head));
                            send(to, ready.children.data(), ready.children.size() * sizeof(pid_t));
                          },
                      .stop = interrupt_requested};
  Result<WorkloadSummary> summary = run_workload(spec, files, clock, hooks);
  if (summary) {
    Head head{.tag = Tag::summary, .touches = summary->touches, .passes = summary->passes, .seconds = summary->seconds};
    send(to, &head, sizeof(head));
  } else {
    std::string text = summary.error().cause.substr(0, kMostText);
    Head head{.tag = Tag::failed, .code = summary.error().code, .count = text.size()};
    send(to, &head, sizeof(head));
    send(to, text.data(), text.size());
  }
  ::_exit(0);
}

std::unexpected<Error> hear_error(int from, const Head& head, bool heard) {
  std::string text = "it ended without a word";
  ErrorCode code = ErrorCode::internal;
  if (heard && head.tag == Tag::failed && head.count <= kMostText) {
    text.resize(head.count);
    if (receive(from, text.data(), text.size())) code = head.code;
  }
  return fail(code, "run the workload", "", std::move(text));
}

} // namespace

Result<WorkloadProcess> WorkloadProcess::start(const WorkloadSpec& spec, const Files& files) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail(errno_error(errno, "start", "the workload"));
  Fd from(ends[0]);
  Fd to(ends[1]);
  pid_t pid = ::fork();
  if (pid < 0) return fail(errno_error(errno, "start", "the workload"));
  if (pid == 0) {
    from.reset();
    live(spec, files, to.get());
  }
  to.reset();
  WorkloadProcess process(pid, std::move(from));
  HOTSET_CHECK(process.hear_ready());
  return process;
}

WorkloadProcess::WorkloadProcess(WorkloadProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), from_(std::move(other.from_)), ready_(std::move(other.ready_)) {}

WorkloadProcess::~WorkloadProcess() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL); // children die with their parent
  ::waitpid(pid_, nullptr, 0);
}

Result<> WorkloadProcess::hear_ready() {
  Head head{};
  bool heard = receive(from_.get(), &head, sizeof(head));
  if (!heard || head.tag != Tag::ready) return hear_error(from_.get(), head, heard);
  ready_ = {.pid = pid_,
            .pages = head.pages,
            .hot_pages = head.hot_pages,
            .address = head.address,
            .children = std::vector<pid_t>(head.count)};
  if (!receive(from_.get(), ready_.children.data(), ready_.children.size() * sizeof(pid_t)))
    return hear_error(from_.get(), head, false);
  return {};
}

Result<WorkloadSummary> WorkloadProcess::stop() {
  ::kill(pid_, SIGTERM);
  Head head{};
  bool heard = receive(from_.get(), &head, sizeof(head));
  if (!heard || head.tag != Tag::summary) return hear_error(from_.get(), head, heard);
  return WorkloadSummary{.touches = head.touches, .passes = head.passes, .seconds = head.seconds};
}

} // namespace hotset
