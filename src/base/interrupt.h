// SPDX-License-Identifier: Apache-2.0
// Ctrl-C that loses nothing: SIGINT and SIGTERM become a flag and a readable descriptor, and whoever waits or loops
// looks at one of them, finishes what it holds, and returns the normal way. A second signal ends the program at once.
//
// A reader of what we print that goes away ends a run that only prints, too; and it has to end the waiting for what
// would be printed next, for a write that fails may be hours ahead.
#pragma once

#include <chrono>

namespace hotset {

// Installs the handlers; once, from main. Also makes writes to a closed pipe an error instead of a signal.
void catch_interrupts();
[[nodiscard]] bool interrupt_requested();
// The signal that asked, 0 when none did.
[[nodiscard]] int interrupt_signal();
// As a shell reports a program that the signal ended: for a run with nothing to show because of it.
[[nodiscard]] int interrupt_exit_code();
// Readable once an interrupt was requested; -1 when catch_interrupts() was not called.
[[nodiscard]] int interrupt_fd();

// From now on there is no use in waiting once the reader of this pipe or socket went away; -1: of none, as at first.
// The descriptor is borrowed.
void watch_reader(int fd);
// An interrupt was requested, or the reader that is watched went away.
[[nodiscard]] bool end_requested();
// Waits until `fd` is readable (-1: there is none), the time is over, or end_requested(). A signal may end it early.
// False when that failed, with errno.
bool wait_readable(int fd, std::chrono::nanoseconds timeout);

} // namespace hotset
