// SPDX-License-Identifier: Apache-2.0
// What libbpf has to say, kept instead of printed: the real cause of a failure stands there, often beside a wrong hint.
#pragma once

#include <string>

namespace hotset {

// While one exists, libbpf's warnings of this thread are collected in it; otherwise they are dropped. The newest 64 KiB
// are kept, which holds the end of any verifier log. Nested ones: the innermost collects.
class LibbpfLog {
 public:
  LibbpfLog();
  ~LibbpfLog();
  LibbpfLog(const LibbpfLog&) = delete;
  LibbpfLog& operator=(const LibbpfLog&) = delete;

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  friend struct LibbpfSink;
  std::string text_;
  LibbpfLog* outer_;
};

} // namespace hotset
