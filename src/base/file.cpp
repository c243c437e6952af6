// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>

#include "base/interrupt.h"

namespace hotset {
namespace {

constexpr mode_t kReadableByAll = 0644;

Result<Fd> open_path(const std::string& path, int flags, std::string operation) {
  int fd = ::open(path.c_str(), flags | O_CLOEXEC, kReadableByAll);
  if (fd < 0) {
    const int cause = errno;
    Error error = errno_error(cause, std::move(operation), path);
    // Whoever asked for an output wants to know that it can't be written, whatever the reason is.
    const bool writing = (flags & O_ACCMODE) != O_RDONLY;
    if (writing && error.code != ErrorCode::permission) error.code = ErrorCode::output;
    if (writing && (cause == ENOENT || cause == ENOTDIR)) error.remedy = "make its directory first, or choose another";
    return fail(std::move(error));
  }
  return Fd(fd);
}

// Until a read would not block; false when an interrupt was requested and it still would. A signal alone would not do:
// it may come between the look at the request and the read.
bool wait_for_input(int fd) {
  std::array<pollfd, 2> sources{pollfd{fd, POLLIN, 0}, pollfd{interrupt_fd(), POLLIN, 0}};
  while (::poll(sources.data(), sources.size(), -1) < 0 && errno == EINTR) {
  }
  return sources[0].revents != 0 || !interrupt_requested();
}

} // namespace

Result<std::string> Files::read(std::string_view path, std::size_t max_bytes) const {
  std::string full = resolve(path);
  HOTSET_TRY(Fd fd, open_read(full));
  return read_all(fd.get(), full, max_bytes);
}

Result<> Files::write(std::string_view path, std::string_view text) const {
  std::string full = resolve(path);
  Fd fd(::open(full.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd) return fail(errno_error(errno, "open", full));
  ssize_t written = ::write(fd.get(), text.data(), text.size());
  if (written < 0) return fail(errno_error(errno, "write", full));
  if (static_cast<std::size_t>(written) != text.size())
    return fail(ErrorCode::internal, "write", full,
                fmt::format("only {} of {} bytes were taken", written, text.size()));
  return {};
}

Result<std::vector<std::string>> Files::list(std::string_view path) const {
  std::string full = resolve(path);
  std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(full.c_str()), ::closedir);
  if (!directory) return fail(errno_error(errno, "list", full));
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(directory.get())) {
    std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(std::move(name));
    errno = 0;
  }
  if (errno != 0) return fail(errno_error(errno, "list", full));
  std::ranges::sort(names);
  return names;
}

bool Files::exists(std::string_view path) const {
  return ::access(resolve(path).c_str(), F_OK) == 0;
}

Result<Fd> open_read(const std::string& path) {
  return open_path(path, O_RDONLY, "read");
}

Result<Fd> open_write(const std::string& path) {
  return open_path(path, O_WRONLY | O_CREAT | O_TRUNC, "write");
}

Result<Fd> open_append(const std::string& path) {
  return open_path(path, O_WRONLY | O_CREAT | O_APPEND, "write");
}

Result<> write_all(int fd, std::string_view text, std::string_view object) {
  while (!text.empty()) {
    ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail(errno_error(errno, "write", std::string(object)));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<std::string> read_all(int fd, std::string_view object, std::size_t max_bytes) {
  constexpr std::size_t kChunk = 16384;
  std::string text;
  for (;;) {
    if (!wait_for_input(fd)) return fail(errno_error(EINTR, "read", std::string(object)));
    std::size_t used = text.size();
    text.resize(used + kChunk);
    ssize_t got = ::read(fd, text.data() + used, kChunk);
    if (got < 0 && errno == EINTR)
      got = 0;
    else if (got < 0)
      return fail(errno_error(errno, "read", std::string(object)));
    else if (got == 0) {
      text.resize(used);
      return text;
    }
    text.resize(used + static_cast<std::size_t>(got));
    if (text.size() > max_bytes)
      return fail(ErrorCode::bad_data, "read", std::string(object),
                  fmt::format("it is longer than {} bytes", max_bytes));
  }
}

Result<> replace_file(const std::string& path, std::string_view text) {
  // A device or a pipe is written to: renaming over it, as root, would put a file in the place of /dev/null.
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    HOTSET_TRY(Fd device, open_write(path));
    return write_all(device.get(), text, path);
  }
  std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  Result<Fd> fd = open_write(temporary);
  if (!fd) {
    fd.error().object = path; // the name that was asked for; nobody knows the other
    return fail(std::move(fd).error());
  }
  Result<> written = write_all(fd->get(), text, path);
  if (written && ::fsync(fd->get()) != 0) written = fail(errno_error(errno, "write", path));
  if (written && ::rename(temporary.c_str(), path.c_str()) != 0) written = fail(errno_error(errno, "replace", path));
  if (!written) ::unlink(temporary.c_str());
  return written;
}

} // namespace hotset
