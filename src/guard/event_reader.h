// SPDX-License-Identifier: Apache-2.0
// Takes the guard's events out of their ring buffer.
#pragma once

#include <functional>
#include <memory>

#include "base/clock.h"
#include "base/result.h"
#include "guard/event.h"
#include "kernel/transport.h"

namespace hotset {

// A ring buffer has one reader: who takes an event out takes it from all others.
class GuardEventReader {
 public:
  using Consume = std::function<void(const GuardEvent&)>;

  // The descriptor is borrowed as long as the reader lives.
  static Result<GuardEventReader> open(int events_fd);

  // Hands over the events that have arrived; if there is none, waits for the first at most `timeout`, or until an
  // interrupt. The number of them.
  Result<std::size_t> poll(Nanoseconds timeout, const Consume& consume);

 private:
  explicit GuardEventReader(std::unique_ptr<Transport> transport) : transport_(std::move(transport)) {}
  std::unique_ptr<Transport> transport_;
};

} // namespace hotset
