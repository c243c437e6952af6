// SPDX-License-Identifier: Apache-2.0
// /proc/PID/pagemap and /proc/kpageflags: what the kernel itself says about single pages. Dear (a page costs as much as
// a whole table costs in the census), so asked only where the page tables alone don't tell.
//
// Source: Documentation/admin-guide/mm/pagemap.rst.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace hotset {

struct PagemapEntry {
  std::uint64_t bits = 0;

  [[nodiscard]] bool present() const { return bits >> 63 & 1; }
  [[nodiscard]] bool exclusive() const { return bits >> 56 & 1; } // mapped here only (Linux 4.2)
  // 0 without CAP_SYS_ADMIN, too.
  [[nodiscard]] std::uint64_t frame() const { return present() ? bits & ((std::uint64_t{1} << 55) - 1) : 0; }
};

class Pagemap {
 public:
  // pid 0: ourselves.
  static Result<Pagemap> open(pid_t pid);
  // Entries of `pages` pages from `address` on.
  Result<std::vector<PagemapEntry>> read(std::uint64_t address, std::size_t pages) const;

 private:
  Fd fd_;
};

// Flags of a page frame.
class FrameFlags {
 public:
  static Result<FrameFlags> open();
  Result<std::uint64_t> read(std::uint64_t frame) const;
  // Of flags.size() frames from `frame` on; 0 where there is no memory.
  Result<> read(std::uint64_t frame, std::span<std::uint64_t> flags) const;

  static constexpr std::uint64_t kOnLru = 1 << 5;
  static constexpr std::uint64_t kOfFolio = 3 << 15; // COMPOUND_HEAD, COMPOUND_TAIL: of more pages than one
  static constexpr std::uint64_t kZeroPage = 1 << 24;

 private:
  Fd fd_;
};

} // namespace hotset
