// SPDX-License-Identifier: Apache-2.0
#include "kernel/transport.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <utility>

#include "base/interrupt.h"
#include "base/units.h"
#include "kernel/bpf_error.h"
#include "kernel/libbpf_log.h"

namespace hotset {
namespace {

Error cannot_open(const char* buffer, const std::string& records, const LibbpfLog& log) {
  return bpf_error(errno, std::string("open the ") + buffer + " of", records, log.text(), read_privileges(Files()));
}

} // namespace

Result<std::unique_ptr<Transport>> Transport::of_ring_buffer(int map_fd, std::string records) {
  LibbpfLog log;
  std::unique_ptr<Transport> transport(new Transport(std::move(records)));
  transport->ring_.reset(ring_buffer__new(map_fd, on_ring, transport.get(), nullptr));
  if (!transport->ring_) return fail(cannot_open("ring buffer", transport->records_, log));
  return transport;
}

Result<std::unique_ptr<Transport>> Transport::of_perf_buffer(int map_fd, std::size_t cpu_bytes, std::string records) {
  LibbpfLog log;
  std::unique_ptr<Transport> transport(new Transport(std::move(records)));
  std::size_t pages = std::bit_ceil(std::max<std::size_t>(1, cpu_bytes / page_bytes()));
  // Without a callback for losses: the program counts them, since the kernel tells it.
  transport->perf_.reset(perf_buffer__new(map_fd, pages, on_perf, nullptr, transport.get(), nullptr));
  if (!transport->perf_) return fail(cannot_open("perf buffer", transport->records_, log));
  return transport;
}

Result<std::size_t> Transport::consume(const Take& take) {
  take_ = &take;
  taken_ = 0;
  int error = perf_ ? perf_buffer__consume(perf_.get()) : ring_buffer__consume(ring_.get());
  take_ = nullptr;
  if (error < 0) return fail(errno_error(-error, "read", records_));
  return taken_;
}

Result<std::size_t> Transport::poll(Nanoseconds timeout, const Take& take) {
  HOTSET_TRY(std::size_t waiting, consume(take));
  if (waiting > 0 || timeout <= Nanoseconds::zero() || end_requested()) return waiting;
  HOTSET_CHECK(wait(timeout));
  return consume(take);
}

Result<> Transport::wait(Nanoseconds timeout) const {
  int fd = perf_ ? perf_buffer__epoll_fd(perf_.get()) : ring_buffer__epoll_fd(ring_.get());
  if (!wait_readable(fd, timeout)) return fail(errno_error(errno, "wait for", records_));
  return {};
}

int Transport::on_ring(void* self, void* data, std::size_t bytes) {
  auto* transport = static_cast<Transport*>(self);
  ++transport->taken_;
  (*transport->take_)(data, bytes);
  return 0;
}

void Transport::on_perf(void* self, int /*cpu*/, void* data, std::uint32_t bytes) {
  on_ring(self, data, bytes);
}

} // namespace hotset
