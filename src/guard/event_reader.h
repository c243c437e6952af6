// SPDX-License-Identifier: Apache-2.0
// Takes the guard's events out of their ring buffer.
#pragma once

#include <functional>
#include <memory>

#include "base/clock.h"
#include "base/result.h"
#include "guard/event.h"

struct ring_buffer;

namespace hotset {

// A ring buffer has one reader: who takes an event out takes it from all others.
class GuardEventReader {
 public:
  using Consume = std::function<void(const GuardEvent&)>;

  // The descriptor is borrowed for the call.
  static Result<GuardEventReader> open(int events_fd);

  // Hands over the events that have arrived; if there is none, waits for the first at most `timeout`, or until an
  // interrupt. The number of them.
  Result<std::size_t> poll(Nanoseconds timeout, const Consume& consume);
  // Readable when there are events.
  [[nodiscard]] int wait_fd() const;

 private:
  struct Free {
    void operator()(ring_buffer* ring) const;
  };
  // Where libbpf's callback finds what to call: it is given this address when the ring is opened.
  struct Sink {
    const Consume* consume = nullptr;
    std::size_t events = 0;
  };

  static int take(void* sink, void* data, std::size_t bytes);
  Result<> drain();

  std::unique_ptr<Sink> sink_;
  std::unique_ptr<ring_buffer, Free> ring_;
};

} // namespace hotset
