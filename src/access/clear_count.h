// SPDX-License-Identifier: Apache-2.0
// Tells those who clear a process's Accessed bits of each other: each takes touches away from the others unseen.
//
// A file that all of them map has a number for each process, of the clears so far. Who finds more of them than his own
// was not alone. It lies in /run/hotset, open to root alone, and stays there: who has ended has cleared all the same.
// Not seen are those with another /run (a container), with other process numbers, or without the right to write to it.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace hotset {

// Notes that the process's bits are about to be cleared; the number of it. 0 where nothing can be noted.
std::uint32_t count_clear(pid_t pid);
// The number of the newest clear; 0 where there was none, or nothing can be noted.
std::uint32_t clears_of(pid_t pid);

} // namespace hotset
