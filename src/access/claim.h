// SPDX-License-Identifier: Apache-2.0
// Tells those who clear one process's Accessed bits of each other: each can take touches away from the others unseen.
//
// A claim is a lock on one byte, of a random number, of the process's clear_refs: locks on different bytes don't get
// into each other's way, and the kernel says whether there are others. It ends with the claim, or with who made it. Who
// sees the process through another mount of /proc (a container) has other files there, and is not seen.
#pragma once

#include <sys/types.h>

#include "base/fd.h"
#include "base/result.h"

namespace hotset {

class Claim {
 public:
  Claim() = default; // of nothing: alone
  // `clear_refs`: of the process, open for writing. Where the lock is refused the claim is one that others don't see.
  explicit Claim(Fd clear_refs);
  // Errors: those of opening /proc/PID/clear_refs.
  static Result<Claim> on(pid_t pid);
  // Whether there is no other.
  [[nodiscard]] bool alone() const;

 private:
  Fd fd_;
};

} // namespace hotset
