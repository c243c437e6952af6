// SPDX-License-Identifier: Apache-2.0
// The file is read and written, and not mapped: whoever may write to it could cut it short, and a full disk has no room
// for its next page, both of which are SIGBUS to who has mapped it.
#include "access/clear_count.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <thread>

#include "base/fd.h"

namespace hotset {
namespace {

constexpr const char* kFolder = "/run/hotset";
constexpr const char* kName = "clears";
constexpr int kTries = 20; // for the lock, a millisecond each: who holds it for longer was stopped in the middle

// Closed where it is not ours alone.
Fd open_file() {
  ::mkdir(kFolder, 0700);
  const Fd folder(::open(kFolder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status{};
  if (!folder || ::fstat(folder.get(), &status) != 0 || status.st_uid != 0 || (status.st_mode & 022) != 0) return {};
  Fd file(::openat(folder.get(), kName, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
  if (!file || ::fstat(file.get(), &status) != 0 || status.st_uid != 0 || !S_ISREG(status.st_mode)) return {};
  return file;
}

// Of the file that has the name now; one that was removed is nobody's any more.
const Fd& file() {
  static Fd fd;
  struct stat status{};
  if (!fd || ::fstat(fd.get(), &status) != 0 || status.st_nlink == 0) fd = open_file();
  return fd;
}

off_t place_of(pid_t pid) {
  return static_cast<off_t>(pid) * static_cast<off_t>(sizeof(std::uint32_t));
}

// The number of one process, locked or unlocked; whether it is.
bool set_lock(const Fd& fd, pid_t pid, short type) {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = place_of(pid);
  lock.l_len = sizeof(std::uint32_t);
  for (int i = 0; i < kTries; ++i) {
    if (::fcntl(fd.get(), F_OFD_SETLK, &lock) == 0) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

// Behind the end of the file are zeros, too.
std::optional<std::uint32_t> number_at(const Fd& fd, pid_t pid) {
  std::uint32_t number = 0;
  const ssize_t got = ::pread(fd.get(), &number, sizeof(number), place_of(pid));
  return got == sizeof(number) || got == 0 ? std::optional(number) : std::nullopt;
}

} // namespace

std::optional<std::uint32_t> count_clear(pid_t pid) {
  const Fd& fd = file();
  if (!fd || pid <= 0) return std::nullopt;
  if (!set_lock(fd, pid, F_WRLCK)) return std::nullopt;
  std::optional<std::uint32_t> number = number_at(fd, pid);
  if (number && ::pwrite(fd.get(), &++*number, sizeof(*number), place_of(pid)) != sizeof(*number)) number.reset();
  set_lock(fd, pid, F_UNLCK);
  return number;
}

std::optional<std::uint32_t> clears_of(pid_t pid) {
  const Fd& fd = file();
  return fd && pid > 0 ? number_at(fd, pid) : std::nullopt;
}

} // namespace hotset
