// SPDX-License-Identifier: Apache-2.0
// Tells those who clear a process's Accessed bits of each other: each takes touches away from the others unseen.
//
// A file that all of them share has a number for each process, of the clears so far. Who finds more of them than his
// own was not alone. It lies in /run/hotset, open to root alone, and stays there: who has ended has cleared all the
// same. Not seen are those with another /run (a container), with other process numbers, or without the right to write
// to it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace hotset {

// Notes that the process's bits are about to be cleared; the number of it. Nothing where it can't be noted: the file is
// not root's alone, is no file, or the disk is full.
std::optional<std::uint32_t> count_clear(pid_t pid);
// The number of the newest clear, 0 where there was none. Nothing where nobody can note any.
std::optional<std::uint32_t> clears_of(pid_t pid);

} // namespace hotset
