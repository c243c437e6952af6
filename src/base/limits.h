// SPDX-License-Identifier: Apache-2.0
// What the process may use of the system, by setrlimit(2).
#pragma once

#include <cstdint>

#include "base/result.h"

namespace hotset {

// What a command opens at most without asking how many files it may: programs, maps and events on some dozens of
// processors. A group of processes looks at the limit itself.
constexpr std::uint64_t kOpenFiles = 64;

// Raises the soft limit of open files as far as it has to be and may be. Without it a program that is loaded fails
// somewhere in the middle, for reasons that the kernel and libbpf put in ever other words.
// ErrorCode::internal: the hard limit is too low.
Result<> provide_open_files(std::uint64_t files = kOpenFiles);

} // namespace hotset
