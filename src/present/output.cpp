// SPDX-License-Identifier: Apache-2.0
#include "present/output.h"

#include <poll.h>

#include <cerrno>

#include "base/interrupt.h"

namespace hotset {
namespace {

// Whatever the reason is, to the user it is an output that could not be written.
Error output_error(int error_number, const std::string& name) {
  Error error = errno_error(error_number, "write to", name);
  error.code = ErrorCode::output;
  if (error_number == EBADF) error.remedy = "open it for writing";
  return error;
}

// Someone may have made the descriptor non-blocking (a terminal shared with another program): wait, don't lose.
void wait_for_room(int fd) {
  pollfd room{fd, POLLOUT, 0};
  ::poll(&room, 1, -1);
}

} // namespace

Result<> Output::print(std::string_view text) {
  while (!text.empty() && !reader_gone_) {
    ssize_t written = ::write(fd_, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EPIPE) {
      reader_gone_ = true;
    } else if (errno == EAGAIN) {
      wait_for_room(fd_);
    } else if (errno != EINTR) {
      return fail(output_error(errno, name_));
    }
  }
  return {};
}

Result<> Output::line(std::string_view text) {
  std::string record(text);
  record += '\n';
  return print(record);
}

void Output::watch_reader() const {
  hotset::watch_reader(fd_);
}

Result<> Output::finish() {
  // Closing a duplicate makes the file system report, and leaves the borrowed descriptor open.
  int copy = ::dup(fd_);
  if (copy < 0 || (::close(copy) != 0 && errno != EINTR)) return fail(output_error(errno, name_));
  return {};
}

} // namespace hotset
