// SPDX-License-Identifier: Apache-2.0
#include "base/interrupt.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>

namespace hotset {
namespace {

constexpr int kSignalExit = 128;

volatile std::sig_atomic_t requested = 0;
int wake_fd = -1;
int reader_fd = -1;

void on_signal(int number) {
  if (requested != 0) ::_exit(kSignalExit + number);
  int saved = errno;
  requested = number;
  std::uint64_t one = 1;
  [[maybe_unused]] ssize_t written = ::write(wake_fd, &one, sizeof(one));
  errno = saved;
}

} // namespace

void catch_interrupts() {
  wake_fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  struct sigaction action{};
  action.sa_handler = on_signal;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  action.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &action, nullptr);
  ::sigaction(SIGXFSZ, &action, nullptr); // the write says so (EFBIG)
}

bool interrupt_requested() {
  return requested != 0;
}

int interrupt_signal() {
  return requested;
}

int interrupt_exit_code() {
  return kSignalExit + requested;
}

int interrupt_fd() {
  return wake_fd;
}

void watch_reader(int fd) {
  reader_fd = fd;
}

// Of a descriptor that is asked for nothing, poll tells errors and the other side's end alone.
bool end_requested() {
  if (interrupt_requested()) return true;
  pollfd reader{reader_fd, 0, 0};
  return reader_fd >= 0 && ::poll(&reader, 1, 0) > 0;
}

// Poll passes over what is negative.
bool wait_readable(int fd, std::chrono::nanoseconds timeout) {
  std::array<pollfd, 3> sources{pollfd{fd, POLLIN, 0}, pollfd{interrupt_fd(), POLLIN, 0}, pollfd{reader_fd, 0, 0}};
  timespec limit{};
  limit.tv_sec = std::chrono::floor<std::chrono::seconds>(timeout).count();
  limit.tv_nsec = (timeout % std::chrono::seconds(1)).count();
  return ::ppoll(sources.data(), sources.size(), &limit, nullptr) >= 0 || errno == EINTR;
}

} // namespace hotset
