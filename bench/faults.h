// SPDX-License-Identifier: Apache-2.0
// Page faults on purpose: this process touches pages that it has given back, and times what that costs it.
#pragma once

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>

#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"

namespace hotset {

inline constexpr std::size_t kFaultPages = 512;

// For the rest of the process's life.
inline Result<char*> memory_to_fault_on() {
  const std::size_t bytes = kFaultPages * page_bytes();
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return fail(errno_error(errno, "map", "the memory to fault on"));
  ::madvise(memory, bytes, MADV_NOHUGEPAGE);
  return static_cast<char*>(memory);
}

// ns of CPU time of this process for each of kFaultPages * passes faults, with what `after_pass`, Result<>(), takes.
template <class AfterPass>
Result<double> take_faults(char* memory, int passes, AfterPass after_pass) {
  const Nanoseconds before = own_cpu_time();
  for (int pass = 0; pass < passes; ++pass) {
    for (std::size_t page = 0; page < kFaultPages; ++page)
      static_cast<volatile char*>(memory)[page * page_bytes()] = 1;
    ::madvise(memory, kFaultPages * page_bytes(), MADV_DONTNEED);
    HOTSET_CHECK(after_pass());
  }
  return static_cast<double>((own_cpu_time() - before).count()) / static_cast<double>(kFaultPages) / passes;
}

} // namespace hotset
