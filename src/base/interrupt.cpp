// SPDX-License-Identifier: Apache-2.0
#include "base/interrupt.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>

namespace hotset {
namespace {

constexpr int kSignalExit = 128;

volatile std::sig_atomic_t requested = 0;
int wake_fd = -1;

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

} // namespace hotset
