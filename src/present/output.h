// SPDX-License-Identifier: Apache-2.0
// Results on their way out, with every write checked.
//
// A tool that prints to a full disk and exits 0 has lied. So results don't go through stdio, whose errors come late and
// are easily missed: each print is one checked write(2). A reader that went away (`| head -1`) is no error: what comes
// after is dropped, and a command that would go on forever asks reader_gone().
#pragma once

#include <unistd.h>

#include <string>
#include <string_view>

#include "base/result.h"

namespace hotset {

// Not thread-safe. The descriptor is borrowed and stays open.
class Output {
 public:
  explicit Output(int fd = STDOUT_FILENO, std::string name = "the standard output") : fd_(fd), name_(std::move(name)) {}

  // Writes all of `text` now, so that a reader of a pipe sees whole records. ErrorCode::output when that fails (disk
  // full, descriptor closed or not for writing), with what failed.
  Result<> print(std::string_view text);
  // The same with a line feed behind it, in the same write: one record of JSON Lines or CSV.
  Result<> line(std::string_view text);
  // Says what the file system kept to itself until now (quota, network file systems). Once, at the end.
  Result<> finish();

  // The reader closed its end; nothing more will be written.
  [[nodiscard]] bool reader_gone() const { return reader_gone_; }
  // For who does nothing but print: from now on it ends all waiting, too (base/interrupt.h).
  void watch_reader() const;
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
  std::string name_;
  bool reader_gone_ = false;
};

} // namespace hotset
