// SPDX-License-Identifier: Apache-2.0
// The way of records from a program in the kernel to us: the BPF ring buffer (one for all CPUs, in order), or the older
// perf buffer (one a CPU).
#pragma once

#include <bpf/libbpf.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace hotset {

struct DestroyRing {
  void operator()(ring_buffer* ring) const { ring_buffer__free(ring); }
  void operator()(perf_buffer* ring) const { perf_buffer__free(ring); }
};

// A buffer has one reader: who takes a record out takes it from all others.
class Transport {
 public:
  // The bytes are valid during the call.
  using Take = std::function<void(const void* data, std::size_t bytes)>;

  // `records`: what to call them in errors, "fault samples". The map is borrowed as long as this lives.
  static Result<std::unique_ptr<Transport>> of_ring_buffer(int map_fd, std::string records);
  // The same of an array of perf events. `cpu_bytes`: room on each CPU.
  static Result<std::unique_ptr<Transport>> of_perf_buffer(int map_fd, std::size_t cpu_bytes, std::string records);

  // Hands over all that is there, without waiting. How many that were.
  Result<std::size_t> consume(const Take& take);
  // The same; if nothing is there, waits for the first record at most `timeout`, or until an interrupt.
  Result<std::size_t> poll(Nanoseconds timeout, const Take& take);
  [[nodiscard]] std::string_view name() const { return perf_ ? "perf buffer" : "ring buffer"; }

 private:
  explicit Transport(std::string records) : records_(std::move(records)) {}

  static int on_ring(void* self, void* data, std::size_t bytes);
  static void on_perf(void* self, int cpu, void* data, std::uint32_t bytes);
  Result<> wait(Nanoseconds timeout) const;

  std::unique_ptr<ring_buffer, DestroyRing> ring_; // exactly one of the two
  std::unique_ptr<perf_buffer, DestroyRing> perf_;
  std::string records_;
  const Take* take_ = nullptr; // during consume()
  std::size_t taken_ = 0;
};

} // namespace hotset
