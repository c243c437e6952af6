// SPDX-License-Identifier: Apache-2.0
// Prints readings of windows, one after the other or, on a terminal, each in the place of the one before.
#pragma once

#include <cstddef>
#include <span>

#include "app/window_reading.h"
#include "present/output.h"

namespace hotset {

class WindowPrinter {
 public:
  struct Format {
    bool json = false;
    bool series = false;
    bool repeated = false; // there is more than one reading
  };
  // The output is borrowed.
  WindowPrinter(Output& output, Format format);

  // `wall`: when they were read.
  Result<> print(std::span<const WindowReading> readings, Nanoseconds wall);

 private:
  Result<> print_text(std::span<const WindowReading> readings);

  Output* output_;
  Format format_;
  bool terminal_, in_place_;
  std::size_t lines_ = 0; // of the last reading
};

} // namespace hotset
