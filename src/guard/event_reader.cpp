// SPDX-License-Identifier: Apache-2.0
#include "guard/event_reader.h"

#include <utility>

namespace hotset {

Result<GuardEventReader> GuardEventReader::open(int events_fd) {
  HOTSET_TRY(std::unique_ptr<Transport> transport, Transport::of_ring_buffer(events_fd, "the policy's events"));
  return GuardEventReader(std::move(transport));
}

Result<std::size_t> GuardEventReader::poll(Nanoseconds timeout, const Consume& consume) {
  return transport_->poll(timeout, [&](const void* data, std::size_t bytes) {
    std::optional<GuardEvent> event = decode_guard_event({static_cast<const std::byte*>(data), bytes});
    if (event) consume(*event); // else cannot be: the program sends nothing else
  });
}

} // namespace hotset
