// SPDX-License-Identifier: Apache-2.0
// Small text files of /proc, /sys and the user, read and written whole.
//
// Everything that reads the system's files takes a Files, so that a test can point it at a tree of recorded text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace hotset {

inline constexpr std::size_t kSmallFileBytes = std::size_t{1} << 20;

class Files {
 public:
  // `root` stands in front of every path: "" is the real system.
  explicit Files(std::string root = "") : root_(std::move(root)) {}

  // The whole file, at most max_bytes; a longer one is an error (bad_data), never a silent cut.
  Result<std::string> read(std::string_view path, std::size_t max_bytes = kSmallFileBytes) const;
  // One write(2) to a file that exists, as the control files of /proc and /sys want it.
  Result<> write(std::string_view path, std::string_view text) const;
  // Names in a directory, sorted, without "." and "..".
  Result<std::vector<std::string>> list(std::string_view path) const;
  [[nodiscard]] bool exists(std::string_view path) const;
  [[nodiscard]] std::string resolve(std::string_view path) const { return root_ + std::string(path); }

 private:
  std::string root_;
};

// Opens for reading; the error names the path.
Result<Fd> open_read(const std::string& path);
// Creates or truncates, mode 0644, close-on-exec.
Result<Fd> open_write(const std::string& path);
// Opens for appending, created with mode 0644 when absent.
Result<Fd> open_append(const std::string& path);
// All of the text or an error that names `object` (ENOSPC and the like: ErrorCode::output).
Result<> write_all(int fd, std::string_view text, std::string_view object);
// Reads an open descriptor from where it is to its end, at most max_bytes. ErrorCode::interrupted when an interrupt was
// requested (base/interrupt.h) and there is nothing to read yet; what is there is read nevertheless.
Result<std::string> read_all(int fd, std::string_view object, std::size_t max_bytes = kSmallFileBytes);
// Writes to a temporary name beside `path` and renames: readers see the old file or the whole new one. What is there
// and is no file (a device, a pipe) is written to instead.
Result<> replace_file(const std::string& path, std::string_view text);

} // namespace hotset
