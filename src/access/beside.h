// SPDX-License-Identifier: Apache-2.0
// Work that is done on another processor, ahead of what runs there.
//
// A thread waits for it: its place is changed while it sleeps, so that it wakes up where it is wanted, and the caller
// stays where it is, with its own processors and priority. The thread has the lowest real-time priority: one of
// ordinary priority can wait for milliseconds behind a busy program.
#pragma once

#include <functional>
#include <memory>

namespace hotset {

class Beside {
 public:
  Beside(); // no thread yet
  Beside(Beside&&) noexcept;
  Beside& operator=(Beside&&) noexcept;
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;
  ~Beside(); // ends the thread

  // Does the work on that processor, and returns when it is done. False, and nothing was done, where we may not: on
  // processors that are not the caller's to use, under a limit of threads or of real-time
  // priorities. Where something more urgent holds the processor (0.1 s before the work begins, or 2 s in all) the
  // work goes on elsewhere, and nothing is done beside any more. `work` must not throw; one thread calls at a time.
  bool run(unsigned processor, const std::function<void()>& work);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace hotset
