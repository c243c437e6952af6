// SPDX-License-Identifier: Apache-2.0
// The fault program in the kernel: opened, configured, loaded and attached at one hook. Internal to src/fault.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <string_view>

#include "base/file.h"
#include "bpf/fault.h"
#include "fault/collector.h"
#include "kernel/bpf_map.h"
#include "kernel/loader.h"

struct fault_bpf; // the generated skeleton

namespace hotset {

struct DestroyFaultObject {
  void operator()(fault_bpf* object) const;
};

class FaultProgram {
 public:
  // Loads the program of this hook alone, and of the two buffers only the one in use.
  static Result<FaultProgram> attach(const FaultOptions& options, const Hook& hook);

  [[nodiscard]] bool uses_perf_buffer() const { return perf_buffer_; }
  // Descriptor of the map that samples come through.
  [[nodiscard]] int buffer_fd() const;
  [[nodiscard]] HashMap<fault_key, fault_count> counts() const;
  // Sum over the CPUs.
  [[nodiscard]] Result<std::uint64_t> lost(fault_loss reason) const;
  // Times the kernel skipped the program (kernel/object_info.h).
  [[nodiscard]] Result<std::uint64_t> skipped() const;

 private:
  FaultProgram() = default;

  std::unique_ptr<fault_bpf, DestroyFaultObject> object_;
  Attachment attachment_; // declared after the object: detached before the maps go
  const Hook* hook_ = nullptr;
  bool perf_buffer_ = false;
};

// A name as the programs compare it: the bytes of comm that count are those up to and with its NUL, for what stands
// behind it in the kernel is left over from earlier names.
struct CommFilter {
  std::array<char, FAULT_COMM_BYTES> wanted{}, mask{};
};
CommFilter comm_filter(std::string_view comm);

} // namespace hotset
