// SPDX-License-Identifier: Apache-2.0
// Programs that interrupt each other on one CPU, while they bump the same rolling window. The code is that of the BPF
// programs; here every place where one may come in between two accesses of another is tried.
//
// What must hold, wherever: totals and counts are complete, and a bump counts in the second in which it began or, if
// another second has begun before it came to add, in one up to that.
#include "window_simulated.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <random>
#include <semaphore>
#include <thread>
#include <vector>

namespace hotset {
namespace {

constexpr std::size_t kCounters = 3;
constexpr std::uint64_t kBefore = 10; // of each counter, five seconds ago

// A window that has run for more than five minutes: every slot holds something old.
SimulatedWindow used_window() {
  SimulatedWindow window(WINDOW_STARTS, WINDOW_BOOTTIME, 1, kCounters);
  for (int second = 0; second < 310; ++second) {
    window.bump(0, 0);
    window.advance(std::chrono::seconds(1));
  }
  for (std::size_t counter = 0; counter < kCounters; ++counter)
    window.bump(0, counter, kBefore);
  window.advance(std::chrono::seconds(5));
  return window;
}

struct Bump {
  std::size_t counter;
  std::uint64_t begin, end; // seconds by the clock when it began and when it was done
};

// Runs bumps in a window and checks where they went.
class Nesting {
 public:
  Nesting() : window(used_window()), first_(window.second()) {}

  void bump(std::size_t counter) {
    std::uint64_t begin = window.second();
    window.bump(0, counter);
    bumps_.push_back({counter, begin, window.second()});
  }

  void check() {
    WindowHistory history = window.read();
    ASSERT_EQ(history.torn(), 0U);
    for (std::size_t counter = 0; counter < kCounters; ++counter) {
      ASSERT_EQ(history.count(first_ - 5, counter).value(), kBefore);
      ASSERT_EQ(history.total(counter), kBefore + (counter == 0 ? 310U : 0U) + number(counter, &Bump::begin, ~0ULL));
      std::uint64_t counted = 0;
      for (std::uint64_t second = first_; second <= history.running(); ++second) {
        counted += history.count(second, counter).value();
        ASSERT_LE(counted, number(counter, &Bump::begin, second)) << "second " << second - first_;
        ASSERT_GE(counted, number(counter, &Bump::end, second)) << "second " << second - first_;
      }
      ASSERT_EQ(counted, number(counter, &Bump::begin, ~0ULL));
    }
  }

  SimulatedWindow window;

 private:
  // Bumps of that counter whose begin, or end, is no later than that second.
  [[nodiscard]] std::uint64_t number(std::size_t counter, std::uint64_t Bump::* time, std::uint64_t last) const {
    return static_cast<std::uint64_t>(
        std::ranges::count_if(bumps_, [&](const Bump& bump) { return bump.counter == counter && bump.*time <= last; }));
  }

  std::uint64_t first_;
  std::vector<Bump> bumps_;
};

// What interrupts at the n-th access from now, once; until then and after, nothing does.
struct Interrupt {
  int accesses = 0;
  std::function<void()> program;
};
std::vector<Interrupt> interrupts; // the innermost last

void count_down() {
  if (interrupts.empty() || interrupts.back().accesses-- > 0) return;
  std::function<void()> program = std::move(interrupts.back().program);
  interrupts.pop_back();
  program();
}

// Runs the program with an interruption at that access. False when it has fewer.
bool run_interrupted(const std::function<void()>& program, int access, std::function<void()> by) {
  std::size_t depth = interrupts.size();
  interrupts.push_back({access, std::move(by)});
  between_accesses = count_down;
  program();
  bool came = interrupts.size() == depth;
  interrupts.resize(depth);
  if (depth == 0) between_accesses = nullptr;
  return came;
}

TEST(WindowNesting, loses_nothing_wherever_one_program_interrupts_another) {
  for (int later : {0, 1, 2})
    for (std::size_t counter = 0; counter < kCounters; ++counter) {
      bool came = true;
      int access = 0;
      for (; came; ++access) {
        SCOPED_TRACE(access);
        Nesting nesting;
        came = run_interrupted([&] { nesting.bump(1); }, access,
                               [&] {
                                 nesting.window.advance(std::chrono::seconds(later));
                                 nesting.bump(counter);
                                 nesting.bump(2);
                               });
        nesting.check();
        if (HasFatalFailure()) return;
      }
      EXPECT_GT(access, 12) << "a turn alone has four accesses for each counter";
    }
}

TEST(WindowNesting, loses_nothing_wherever_a_third_interrupts_the_second) {
  for (int outer = 0, came = 1; came != 0; ++outer) {
    for (int inner = 0, inner_came = 1; inner_came != 0; ++inner) {
      Nesting nesting;
      inner_came = 0;
      auto third = [&] {
        nesting.window.advance(std::chrono::seconds(1));
        nesting.bump(0);
      };
      auto second = [&] { inner_came = run_interrupted([&] { nesting.bump(1); }, inner, third) ? 1 : 0; };
      came = run_interrupted([&] { nesting.bump(2); }, outer, second) ? 1 : 0;
      nesting.check();
      if (HasFatalFailure()) return;
    }
  }
}

// A program on a thread of its own, which goes on by one access at a time.
struct Task {
  explicit Task(std::function<void()> program)
      : thread([this, program = std::move(program)] {
          go.acquire();
          current = this;
          between_accesses = [] {
            current->stopped.release();
            current->go.acquire();
          };
          program();
          done = true;
          stopped.release();
        }) {}
  void step() {
    go.release();
    stopped.acquire();
  }

  static inline thread_local Task* current = nullptr;
  std::binary_semaphore go{0}, stopped{0};
  bool done = false;
  std::jthread thread;
};

// A CPU on which programs take turns between any two accesses, as a random choice has it: not only one on top of the
// other, but any of them at any time.
void take_turns(std::vector<std::function<void()>> programs, std::mt19937& random) {
  std::vector<std::unique_ptr<Task>> tasks;
  for (std::function<void()>& program : programs)
    tasks.push_back(std::make_unique<Task>(std::move(program)));
  while (!tasks.empty()) {
    std::size_t next = std::uniform_int_distribution<std::size_t>(0, tasks.size() - 1)(random);
    tasks[next]->step();
    if (tasks[next]->done) tasks.erase(tasks.begin() + static_cast<std::ptrdiff_t>(next));
  }
}

TEST(WindowNesting, loses_nothing_when_programs_take_turns_at_random) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    Nesting nesting;
    auto twice = [&](std::size_t counter) {
      nesting.bump(counter);
      nesting.bump(counter);
    };
    auto later = [&] {
      nesting.window.advance(std::chrono::seconds(1));
      nesting.bump(2);
    };
    take_turns({[&] { twice(0); }, [&] { twice(1); }, [&] { twice(1); }, later}, random);
    nesting.check();
    if (HasFatalFailure()) return;
  }
}

// The published layout. Its slots hold the counts, so each bump counts in the second in which it began, or not at all.
struct Published {
  Published() : window(WINDOW_PUBLISHED, WINDOW_BOOTTIME, 1, WINDOW_PUBLISHED_COUNTERS) {
    window.bump(0, 1, 57);
    window.advance(std::chrono::seconds(WINDOW_SLOTS)); // the same slot again
  }
  SimulatedWindow window;
};

TEST(WindowNesting, loses_nothing_in_the_published_layout_by_the_code_for_it) {
  bool came = true;
  for (int access = 0; came; ++access) {
    SCOPED_TRACE(access);
    Published published;
    published.window.bump_nested();
    came = run_interrupted([&] { published.window.bump(0, 1); }, access,
                           [&] {
                             for (int i = 0; i < 57; ++i) // to the very count that the old second had
                               published.window.bump(0, 1);
                           });
    WindowHistory history = published.window.read();
    EXPECT_EQ(history.count(history.running(), 1), came ? 58U : 1U);
    EXPECT_EQ(history.total(1), came ? 57U + 58U : 58U);
    EXPECT_EQ(history.torn(), 0U);
  }
}

TEST(WindowNesting, in_the_published_layout_by_the_plain_code_loses_at_most_what_came_in_between) {
  std::uint64_t most_lost = 0;
  bool came = true;
  for (int access = 0; came; ++access) {
    Published published;
    came = run_interrupted([&] { published.window.bump(0, 1); }, access, [&] { published.window.bump(0, 1); });
    WindowHistory history = published.window.read();
    std::uint64_t all = came ? 2 : 1;
    EXPECT_EQ(history.total(1), 57 + all);
    ASSERT_LE(history.count(history.running(), 1).value(), all);
    most_lost = std::max(most_lost, all - history.count(history.running(), 1).value());
  }
  EXPECT_EQ(most_lost, 1U);
}

} // namespace
} // namespace hotset
