// SPDX-License-Identifier: Apache-2.0
#include "access/claim.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <limits>
#include <random>
#include <utility>

namespace hotset {

Claim::Claim(Fd clear_refs) : fd_(std::move(clear_refs)) {
  std::random_device random;
  struct flock byte{};
  byte.l_type = F_WRLCK;
  byte.l_whence = SEEK_SET;
  byte.l_start = std::uniform_int_distribution<off_t>(0, std::numeric_limits<off_t>::max() - 1)(random);
  byte.l_len = 1;
  ::fcntl(fd_.get(), F_OFD_SETLK, &byte); // of the open file, which no child inherits
}

Result<Claim> Claim::on(pid_t pid) {
  const std::string path = fmt::format("/proc/{}/clear_refs", pid);
  Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd) return fail(errno_error(errno, "open", path));
  return Claim(std::move(fd));
}

bool Claim::alone() const {
  if (!fd_) return true;
  struct flock other{};
  other.l_type = F_WRLCK;
  other.l_whence = SEEK_SET; // and to the end
  return ::fcntl(fd_.get(), F_OFD_GETLK, &other) != 0 || other.l_type == F_UNLCK;
}

} // namespace hotset
