// SPDX-License-Identifier: Apache-2.0
#include "present/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace hotset {
namespace {

constexpr Nanoseconds kShowEvery = std::chrono::milliseconds(100);

} // namespace

Progress::Progress(Clock& clock) : clock_(&clock), terminal_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  clear();
}

void Progress::show(std::string_view text) {
  if (!terminal_) return;
  Nanoseconds now = clock_->now();
  if (shown_ && now - last_ < kShowEvery) return;
  fmt::print(stderr, "\r{}\x1b[K", text);
  std::fflush(stderr);
  shown_ = true;
  last_ = now;
}

void Progress::clear() {
  if (!shown_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  shown_ = false;
}

} // namespace hotset
