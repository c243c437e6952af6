// SPDX-License-Identifier: Apache-2.0
#include "access/beside.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <ctime>

namespace hotset {
namespace {

// Something of a higher priority may have come between, and stay. Then the work is done wherever there is room.
constexpr std::chrono::milliseconds kToBegin{100}, kToEnd{2000};

void wait_for(sem_t& semaphore) {
  while (::sem_wait(&semaphore) != 0 && errno == EINTR)
    continue;
}

bool wait_patiently(sem_t& semaphore, std::chrono::milliseconds patience) {
  timespec until{};
  ::clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += patience.count() / 1000;
  until.tv_nsec += patience.count() % 1000 * 1'000'000;
  if (until.tv_nsec >= 1'000'000'000) {
    ++until.tv_sec;
    until.tv_nsec -= 1'000'000'000;
  }
  int result = 0;
  do
    result = ::sem_clockwait(&semaphore, CLOCK_MONOTONIC, &until);
  while (result != 0 && errno == EINTR);
  return result == 0;
}

} // namespace

struct Beside::State {
  pthread_t thread{};
  bool runs = false, refused = false, ends = false;
  sem_t go{}, begun{}, done{};
  const std::function<void()>* work = nullptr;

  State() {
    ::sem_init(&go, 0, 0);
    ::sem_init(&begun, 0, 0);
    ::sem_init(&done, 0, 0);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (runs) {
      ends = true;
      ::sem_post(&go);
      ::pthread_join(thread, nullptr);
    }
    ::sem_destroy(&go);
    ::sem_destroy(&begun);
    ::sem_destroy(&done);
  }

  static void* live(void* self) {
    auto& state = *static_cast<State*>(self);
    for (;;) {
      wait_for(state.go);
      if (state.ends) return nullptr;
      ::sem_post(&state.begun);
      (*state.work)();
      ::sem_post(&state.done);
    }
  }

  // False, for good, where the kernel says no.
  bool start() {
    if (runs || refused) return runs;
    refused = true;
    // Signals are for the thread that waits for them.
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    runs = ::pthread_create(&thread, nullptr, live, this) == 0;
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (!runs) return false;
    ::pthread_setname_np(thread, "hotset-beside");
    const sched_param lowest{.sched_priority = ::sched_get_priority_min(SCHED_FIFO)};
    refused = ::pthread_setschedparam(thread, SCHED_FIFO, &lowest) != 0;
    return true;
  }
};

Beside::Beside() : state_(std::make_unique<State>()) {}
Beside::Beside(Beside&&) noexcept = default;
Beside& Beside::operator=(Beside&&) noexcept = default;
Beside::~Beside() = default;

bool Beside::run(unsigned processor, const std::function<void()>& work) {
  cpu_set_t ours, one;
  if (processor >= CPU_SETSIZE || ::sched_getaffinity(0, sizeof(ours), &ours) != 0 || !CPU_ISSET(processor, &ours))
    return false;
  if (!state_->start() || state_->refused) return false;
  CPU_ZERO(&one);
  CPU_SET(processor, &one);
  if (::pthread_setaffinity_np(state_->thread, sizeof(one), &one) != 0) return false;
  state_->work = &work;
  ::sem_post(&state_->go);
  auto anywhere = [&] {
    const sched_param none{};
    ::pthread_setschedparam(state_->thread, SCHED_OTHER, &none);
    ::pthread_setaffinity_np(state_->thread, sizeof(ours), &ours);
    state_->refused = true; // never again
  };
  if (!wait_patiently(state_->begun, kToBegin)) {
    anywhere();
    wait_for(state_->begun);
  }
  if (!wait_patiently(state_->done, kToEnd)) {
    anywhere();
    wait_for(state_->done);
  }
  return true;
}

} // namespace hotset
