// SPDX-License-Identifier: Apache-2.0
// Page faults by kind, second by second, in the kernel: anonymous memory, files, copy-on-write, those with input from
// disk; taken in user or in kernel mode. Of the whole host, and of chosen processes apart (bpf/faultkinds.bpf.c).
//
// Memory in the kernel: CPUs × window for the host, and processes × window for the processes, which all CPUs share; a
// window of 8 counters takes 8 × (8 + 8 + 300 × 9) bytes. Faults of processes for which there is no room are counted as
// refused.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "identity/process.h"
#include "kernel/loader.h"

struct faultkinds_bpf; // the generated skeleton

namespace hotset {

struct FaultKindsOptions {
  std::vector<ProcessId> processes; // observed apart
  std::string comm;                 // and those of this name, as they fault; cut at 15 bytes as the kernel does
  std::uint32_t max_processes = 16; // room for all of them
};

struct DestroyFaultKinds {
  void operator()(faultkinds_bpf* object) const;
};

// Detached and gone when destroyed, unless pinned.
class FaultKinds {
 public:
  // Errors: of loading and attaching (kernel/bpf_error.h), usage (more processes than there is room for), unsupported
  // (this kernel finds a process's mappings in another way, before Linux 6.1).
  static Result<FaultKinds> attach(const FaultKindsOptions& options);

  // The names of what is counted, without asking the kernel.
  static Result<std::vector<std::string>> counters();

  // Descriptors of the maps, borrowed. `processes_fd`: -1 when none is observed.
  [[nodiscard]] int host_fd() const;
  [[nodiscard]] int processes_fd() const;

  // When the room for processes is used up, those that have ended make place for others. What they counted is gone
  // then, so call it after reading.
  Result<> make_room(const Files& files);
  // Faults that no program saw so far: the kernel skips one that is entered again on the same CPU, as it can be where
  // the kernel preempts itself.
  [[nodiscard]] Result<std::uint64_t> missed() const;

  // Pins maps and links in a new folder of a BPF file system, so that they outlive us; who removes the folder's pins
  // ends them. All or nothing.
  Result<> pin(std::string folder);

 private:
  FaultKinds() = default;
  Result<> pin_parts(const std::string& folder);

  std::unique_ptr<faultkinds_bpf, DestroyFaultKinds> object_;
  std::vector<Attachment> attachments_; // declared after the object: detached before the maps go
  bool processes_ = false;
};

} // namespace hotset
