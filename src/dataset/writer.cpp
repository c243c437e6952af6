// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"
#include "dataset/dataset.h"

namespace hotset {

Result<DatasetWriter> DatasetWriter::create(const std::string& path, const DatasetHeader& header, bool overwrite) {
  constexpr std::string_view kOperation = "write the data set";
  DatasetWriter writer;
  writer.path_ = path;
  // Only a call that makes the file can know that it was not there.
  writer.fd_ = Fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644));
  const bool made = static_cast<bool>(writer.fd_);
  if (!made) {
    HOTSET_TRY(writer.fd_, open_append(path));
  }
  struct stat status{};
  if (::fstat(writer.fd_.get(), &status) != 0) return fail(errno_error(errno, std::string(kOperation), path));
  // A device or a pipe holds no earlier rows and can be neither locked nor cut.
  if (S_ISREG(status.st_mode)) {
    if (::flock(writer.fd_.get(), LOCK_EX | LOCK_NB) != 0)
      return fail(ErrorCode::output, std::string(kOperation), path, "another recorder is writing it",
                  "choose another name");
    if (status.st_size > 0 && !overwrite)
      return fail(ErrorCode::output, std::string(kOperation), path, "it exists and is not empty",
                  "choose another name, or overwrite it with --force");
    if (::ftruncate(writer.fd_.get(), 0) != 0) return fail(errno_error(errno, std::string(kOperation), path));
    writer.before_ = made ? Before::none : status.st_size == 0 ? Before::empty : Before::something;
  }
  HOTSET_CHECK(writer.write_whole(header_text(header)));
  return writer;
}

DatasetWriter::~DatasetWriter() {
  if (!fd_ || rows_ > 0 || before_ == Before::something) return;
  struct stat ours{}, named{};
  if (::ftruncate(fd_.get(), 0) != 0 || before_ == Before::empty) return;
  // Not what somebody has put in its place meanwhile.
  if (::fstat(fd_.get(), &ours) == 0 && ::lstat(path_.c_str(), &named) == 0 && ours.st_dev == named.st_dev &&
      ours.st_ino == named.st_ino)
    ::unlink(path_.c_str());
}

Result<> DatasetWriter::append(const Row& row) {
  HOTSET_CHECK(write_whole(row_text(row)));
  ++rows_;
  return {};
}

Result<> DatasetWriter::write_whole(std::string_view line) {
  ssize_t written = 0;
  do {
    written = ::write(fd_.get(), line.data(), line.size());
  } while (written < 0 && errno == EINTR);
  if (written == static_cast<ssize_t>(line.size())) {
    bytes_ += line.size();
    return {};
  }
  // A short write to a file means that the disk ran full in the middle of the line; the rest would say the same.
  const int error = written < 0 ? errno : ENOSPC;
  if (written > 0 && ::ftruncate(fd_.get(), static_cast<off_t>(bytes_)) != 0) {
    // Not a file that can be cut: the reader drops an unfinished last line all the same.
  }
  Error failure = errno_error(error, "write the data set", path_);
  failure.code = ErrorCode::output;
  failure.cause += fmt::format("; the {} rows before are safe", rows_);
  return fail(std::move(failure));
}

} // namespace hotset
