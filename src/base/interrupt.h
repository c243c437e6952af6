// SPDX-License-Identifier: Apache-2.0
// Ctrl-C that loses nothing: SIGINT and SIGTERM become a flag and a readable descriptor, and whoever waits or loops
// looks at one of them, finishes what it holds, and returns the normal way. A second signal ends the program at once.
#pragma once

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

} // namespace hotset
