// SPDX-License-Identifier: Apache-2.0
// The guard's kernel program (bpf/guard.bpf.c) with one policy in it: loaded, attached, and gone with this object.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "bpf/guard.h"
#include "guard/missed.h"
#include "guard/setup.h"
#include "kernel/loader.h"

struct guard_bpf;

namespace hotset {

// The skeleton is complete in program.cpp only.
struct DestroyGuardObject {
  void operator()(guard_bpf* object) const;
};

class GuardProgram {
 public:
  // Loads; nothing is attached yet. `before`: the program that this one takes the place of, whose counters, events and
  // state go on; null: none. The image's generation is filled in.
  static Result<GuardProgram> load(const policy_image& image, const GuardSetup& setup, const GuardOptions& options,
                                   const GuardProgram* before);
  // From here on opens are judged. The window of counters is to be started before.
  Result<> attach();

  // Whether the kernel gives inodes storage, in which matches are kept (hook lsm); before attach().
  [[nodiscard]] Result<> try_storage() const;
  // Ids of the loaded programs that judge opens; 0: none.
  [[nodiscard]] Result<GuardJudges> judges() const;

  [[nodiscard]] int window_fd() const;
  [[nodiscard]] int events_fd() const;
  [[nodiscard]] int state_fd() const;

 private:
  std::unique_ptr<guard_bpf, DestroyGuardObject> object_;
  Attachment attachment_;
};

// Whether a program can follow vfs_rename to its end: loaded, attached, gone.
Result<> try_rename_hook();

} // namespace hotset
