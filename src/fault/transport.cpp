// SPDX-License-Identifier: Apache-2.0
#include "fault/transport.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>

#include "base/interrupt.h"
#include "base/units.h"
#include "kernel/bpf_error.h"
#include "kernel/libbpf_log.h"

namespace hotset {

Result<std::unique_ptr<SampleTransport>> SampleTransport::open(int map_fd, bool perf_buffer, std::size_t cpu_bytes) {
  LibbpfLog log;
  std::unique_ptr<SampleTransport> transport(new SampleTransport());
  if (perf_buffer) {
    std::size_t pages = std::bit_ceil(std::max<std::size_t>(1, cpu_bytes / page_bytes()));
    // Without a callback for losses: the program counts them, since the kernel tells it.
    transport->perf_.reset(perf_buffer__new(map_fd, pages, on_perf, nullptr, transport.get(), nullptr));
  } else {
    transport->ring_.reset(ring_buffer__new(map_fd, on_ring, transport.get(), nullptr));
  }
  if (!transport->ring_ && !transport->perf_)
    return fail(bpf_error(errno, "open", std::string("the ") + (perf_buffer ? "perf buffer" : "ring buffer"),
                          log.text(), read_privileges(Files())));
  return transport;
}

Result<> SampleTransport::wait(Nanoseconds timeout) const {
  int fd = perf_ ? perf_buffer__epoll_fd(perf_.get()) : ring_buffer__epoll_fd(ring_.get());
  std::array<pollfd, 2> sources{pollfd{fd, POLLIN, 0}, pollfd{interrupt_fd(), POLLIN, 0}};
  timeout = std::max(timeout, Nanoseconds::zero());
  timespec limit{};
  limit.tv_sec = std::chrono::floor<std::chrono::seconds>(timeout).count();
  limit.tv_nsec = (timeout % std::chrono::seconds(1)).count();
  if (::ppoll(sources.data(), sources[1].fd >= 0 ? 2 : 1, &limit, nullptr) < 0 && errno != EINTR)
    return fail(errno_error(errno, "wait for", "fault samples"));
  return {};
}

Result<> SampleTransport::consume(const std::function<void(const void*, std::size_t)>& take) {
  take_ = &take;
  int error = perf_ ? perf_buffer__consume(perf_.get()) : ring_buffer__consume(ring_.get());
  take_ = nullptr;
  if (error < 0) return fail(errno_error(-error, "read", "fault samples"));
  return {};
}

int SampleTransport::on_ring(void* self, void* data, std::size_t bytes) {
  (*static_cast<SampleTransport*>(self)->take_)(data, bytes);
  return 0;
}

void SampleTransport::on_perf(void* self, int /*cpu*/, void* data, std::uint32_t bytes) {
  (*static_cast<SampleTransport*>(self)->take_)(data, bytes);
}

} // namespace hotset
