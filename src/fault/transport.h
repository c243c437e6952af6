// SPDX-License-Identifier: Apache-2.0
// The way of samples from the kernel to us: the BPF ring buffer (one for all CPUs, in order), or the older perf buffer
// (one a CPU). Internal to src/fault.
#pragma once

#include <bpf/libbpf.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace hotset {

struct DestroyRing {
  void operator()(ring_buffer* ring) const { ring_buffer__free(ring); }
  void operator()(perf_buffer* ring) const { perf_buffer__free(ring); }
};

class SampleTransport {
 public:
  // `map_fd`: a ring buffer or a perf event array, which this borrows. `cpu_bytes`: room on each CPU, perf buffer only.
  static Result<std::unique_ptr<SampleTransport>> open(int map_fd, bool perf_buffer, std::size_t cpu_bytes);

  // Waits until something is there, `timeout` has passed, or an interrupt was requested.
  Result<> wait(Nanoseconds timeout) const;
  // Hands over all that is there, without waiting. The bytes are valid during the call.
  Result<> consume(const std::function<void(const void* data, std::size_t bytes)>& take);
  [[nodiscard]] std::string_view name() const { return perf_ ? "perf buffer" : "ring buffer"; }

 private:
  SampleTransport() = default;

  static int on_ring(void* self, void* data, std::size_t bytes);
  static void on_perf(void* self, int cpu, void* data, std::uint32_t bytes);

  std::unique_ptr<ring_buffer, DestroyRing> ring_; // exactly one of the two
  std::unique_ptr<perf_buffer, DestroyRing> perf_;
  const std::function<void(const void*, std::size_t)>* take_ = nullptr; // during consume()
};

} // namespace hotset
