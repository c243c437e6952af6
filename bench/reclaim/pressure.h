// SPDX-License-Identifier: Apache-2.0
// Memory pressure on purpose: a cgroup with a limit, and swap to be pushed out to.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/file.h"
#include "base/result.h"

namespace hotset {

// A cgroup of its own with a memory limit, in the memory hierarchy of cgroup v1 or in v2. Removed when this goes out of
// scope; what is still in it has to end before.
class LimitedCgroup {
 public:
  // Errors: permission (root), unsupported (no memory controller that groups can be made in).
  static Result<LimitedCgroup> create(std::uint64_t limit_bytes);
  LimitedCgroup(LimitedCgroup&& other) noexcept
      : path_(std::exchange(other.path_, {})), home_(std::move(other.home_)) {}
  LimitedCgroup(const LimitedCgroup&) = delete;
  LimitedCgroup& operator=(const LimitedCgroup&) = delete;
  LimitedCgroup& operator=(LimitedCgroup&&) = delete;
  ~LimitedCgroup();

  // Moves this process in; its children to come start there. leave() moves it back to where it was.
  Result<> enter();
  Result<> leave() const;
  // Anonymous pages that were read back soon after they had been pushed out, so far (workingset_refault_anon).
  [[nodiscard]] Result<std::uint64_t> refaults() const;

 private:
  explicit LimitedCgroup(std::string path) : path_(std::move(path)) {}
  std::string path_, home_; // home_: cgroup.procs of where this process was
};

// Swap on a temporary file, when the machine has none. Switched off and removed when this goes out of scope.
class SwapFile {
 public:
  // Errors: permission, or why the file system or the kernel doesn't take it.
  static Result<SwapFile> create_unless_there_is(std::uint64_t bytes);
  SwapFile(SwapFile&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  SwapFile(const SwapFile&) = delete;
  SwapFile& operator=(const SwapFile&) = delete;
  SwapFile& operator=(SwapFile&&) = delete;
  ~SwapFile();

 private:
  explicit SwapFile(std::string path) : path_(std::move(path)) {}
  std::string path_; // empty: the machine's own swap is used
};

} // namespace hotset
