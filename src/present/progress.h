// SPDX-License-Identifier: Apache-2.0
// A line on the terminal that says how far long work has come. Nothing when stderr is not a terminal.
#pragma once

#include <string_view>

#include "base/clock.h"

namespace hotset {

class Progress {
 public:
  explicit Progress(Clock& clock);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress(); // takes the line away

  // Shows the text, at most ten times a second.
  void show(std::string_view text);
  // Takes the line away, so that something else can be printed; the next show() puts it back.
  void clear();

 private:
  Clock* clock_;
  bool terminal_;
  bool shown_ = false;
  Nanoseconds last_{};
};

} // namespace hotset
