// SPDX-License-Identifier: Apache-2.0
#include "guard/event_reader.h"

#include <bpf/libbpf.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/interrupt.h"
#include "kernel/bpf_error.h"
#include "kernel/libbpf_log.h"

namespace hotset {

void GuardEventReader::Free::operator()(ring_buffer* ring) const {
  ring_buffer__free(ring);
}

Result<GuardEventReader> GuardEventReader::open(int events_fd) {
  LibbpfLog log;
  GuardEventReader reader;
  reader.sink_ = std::make_unique<Sink>();
  reader.ring_.reset(ring_buffer__new(events_fd, take, reader.sink_.get(), nullptr));
  if (!reader.ring_)
    return fail(bpf_error(errno, "open", "the buffer of events", log.text(), read_privileges(Files())));
  return reader;
}

int GuardEventReader::take(void* sink, void* data, std::size_t bytes) {
  auto* to = static_cast<Sink*>(sink);
  std::optional<GuardEvent> event = decode_guard_event({static_cast<const std::byte*>(data), bytes});
  if (!event) return 0; // cannot be: the program sends nothing else
  (*to->consume)(*event);
  ++to->events;
  return 0;
}

int GuardEventReader::wait_fd() const {
  return ring_buffer__epoll_fd(ring_.get());
}

Result<std::size_t> GuardEventReader::poll(Nanoseconds timeout, const Consume& consume) {
  *sink_ = {.consume = &consume, .events = 0};
  HOTSET_CHECK(drain());
  if (sink_->events > 0 || timeout <= Nanoseconds::zero() || interrupt_requested()) return sink_->events;
  std::array<pollfd, 2> sources{pollfd{wait_fd(), POLLIN, 0}, pollfd{interrupt_fd(), POLLIN, 0}};
  timespec limit{};
  limit.tv_sec = std::chrono::floor<std::chrono::seconds>(timeout).count();
  limit.tv_nsec = (timeout % std::chrono::seconds(1)).count();
  if (::ppoll(sources.data(), sources[1].fd >= 0 ? 2 : 1, &limit, nullptr) < 0 && errno != EINTR)
    return fail(errno_error(errno, "wait for", "events"));
  HOTSET_CHECK(drain());
  return sink_->events;
}

Result<> GuardEventReader::drain() {
  if (int taken = ring_buffer__consume(ring_.get()); taken < 0) return fail(errno_error(-taken, "read", "events"));
  return {};
}

} // namespace hotset
