// SPDX-License-Identifier: Apache-2.0
// A parent with forked children that work on command and are quiet in between: what they touch is known.
#pragma once

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "kernel/access_child.h"

namespace hotset {

// A parent that runs `setup` and forks children; each child does `work` whenever it is told to, and is quiet in
// between.
class Family {
 public:
  Family(std::size_t children, const std::function<void()>& setup, const std::function<void(std::size_t)>& work)
      : pipes_(children) {
    for (Pipes& pipes : pipes_)
      if (::pipe(pipes.command) != 0 || ::pipe(pipes.answer) != 0) ::abort();
    if (::pipe(ready_) != 0) ::abort();
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      setup();
      for (std::size_t i = 0; i < children; ++i)
        if (pid_t child = ::fork(); child == 0) {
          ::prctl(PR_SET_PDEATHSIG, SIGKILL);
          char byte = 0;
          if (::write(ready_[1], &byte, 1) != 1) ::_exit(1);
          while (::read(pipes_[i].command[0], &byte, 1) == 1) {
            if (byte == 'x') ::_exit(0);
            work(i);
            if (::write(pipes_[i].answer[1], &byte, 1) != 1) break;
          }
          ::_exit(0);
        }
      for (;;)
        ::pause();
    }
    char byte = 0;
    for (std::size_t i = 0; i < children; ++i)
      if (::read(ready_[0], &byte, 1) != 1) ::abort();
  }
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;
  ~Family() {
    for (std::size_t i = 0; i < pipes_.size(); ++i)
      tell(i, 'x');
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    for (Pipes& pipes : pipes_)
      for (int fd : {pipes.command[0], pipes.command[1], pipes.answer[0], pipes.answer[1]})
        ::close(fd);
    ::close(ready_[0]);
    ::close(ready_[1]);
  }
  void work() {
    char byte = 'w';
    for (std::size_t i = 0; i < pipes_.size(); ++i)
      if (!pipes_[i].ended) {
        tell(i, byte);
        ASSERT_EQ(::read(pipes_[i].answer[0], &byte, 1), 1);
      }
  }
  void end(std::size_t child) {
    tell(child, 'x');
    pipes_[child].ended = true;
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  struct Pipes {
    int command[2], answer[2];
    bool ended = false;
  };
  void tell(std::size_t child, char what) const {
    [[maybe_unused]] ssize_t n = ::write(pipes_[child].command[1], &what, 1);
  }
  std::vector<Pipes> pipes_;
  int ready_[2]{};
  pid_t pid_ = -1;
};

inline constexpr std::size_t kChildren = 4;

// Child i touches pages [100 i, 100 i + 400) of what all share: 700 pages in all; and 50 (i + 1) of its own.
struct Sharers {
  static constexpr double kShared = 700, kOwn = 50 + 100 + 150 + 200;
  explicit Sharers(std::function<void()> first = [] {})
      : family(
            kChildren,
            [this, first] {
              first();
              write_pages(shared, 0, 2048);
            },
            [this](std::size_t i) {
              write_pages(shared, i * 100, i * 100 + 400);
              write_pages(own, 0, (i + 1) * 50);
            }) {}
  Sharers(const Sharers&) = delete;
  Sharers& operator=(const Sharers&) = delete;
  ~Sharers() {
    ::munmap(shared, 2048 * 4096);
    ::munmap(own, 1024 * 4096);
  }

  char* shared = map_pages(2048, MAP_SHARED | MAP_ANONYMOUS);
  char* own = map_pages(1024);
  Family family;
};

} // namespace hotset
