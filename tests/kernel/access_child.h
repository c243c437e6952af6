// SPDX-License-Identifier: Apache-2.0
// A child process that does memory operations one at a time on command, and is quiet in between.
#pragma once

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "access/snapshot.h"

namespace hotset {

// Steps share what they need through captured pointers: mappings made before the fork keep their addresses.
class QuietChild {
 public:
  explicit QuietChild(std::vector<std::function<void()>> steps) {
    int command[2], answer[2];
    if (::pipe(command) != 0 || ::pipe(answer) != 0) ::abort();
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(command[1]);
      ::close(answer[0]);
      unsigned char step = 0;
      while (::read(command[0], &step, 1) == 1) {
        steps[step]();
        if (::write(answer[1], &step, 1) != 1) break;
      }
      ::_exit(0);
    }
    ::close(command[0]);
    ::close(answer[1]);
    command_ = command[1];
    answer_ = answer[0];
  }
  QuietChild(const QuietChild&) = delete;
  QuietChild& operator=(const QuietChild&) = delete;
  ~QuietChild() {
    ::close(command_);
    ::close(answer_);
    ::waitpid(pid_, nullptr, 0);
  }
  void run(unsigned char step) {
    ASSERT_EQ(::write(command_, &step, 1), 1);
    ASSERT_EQ(::read(answer_, &step, 1), 1);
  }
  // One that never comes back.
  void start(unsigned char step) { ASSERT_EQ(::write(command_, &step, 1), 1); }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
  int command_ = -1, answer_ = -1;
};

// For a step: a child that only waits, for fork's sake.
inline pid_t fork_sleeper() {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL); // with a test that failed before it ended it
    for (;;)
      ::pause();
  }
  return pid;
}

inline char* map_pages(std::uint64_t pages, int flags = MAP_PRIVATE | MAP_ANONYMOUS, int fd = -1) {
  void* address = ::mmap(nullptr, pages * 4096, PROT_READ | PROT_WRITE, flags, fd, 0);
  if (address == MAP_FAILED) ::abort();
  ::madvise(address, pages * 4096, MADV_NOHUGEPAGE);
  return static_cast<char*>(address);
}

inline void write_pages(char* base, std::uint64_t first, std::uint64_t last, std::uint64_t step = 1) {
  for (std::uint64_t page = first; page < last; page += step)
    static_cast<volatile char*>(base)[page * 4096] = 1;
}

struct SmapsMapping {
  std::uint64_t start = 0;
  std::string name;
  std::map<std::string, std::uint64_t> kb;
};

inline std::vector<SmapsMapping> smaps_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/smaps");
  std::vector<SmapsMapping> mappings;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string key, rest;
    words >> key;
    if (key.back() != ':') {
      SmapsMapping mapping;
      mapping.start = std::stoull(key.substr(0, key.find('-')), nullptr, 16);
      for (std::string word; words >> word;)
        mapping.name = word;
      mappings.push_back(mapping);
    } else {
      std::uint64_t value = 0;
      if (words >> value) mappings.back().kb[key.substr(0, key.size() - 1)] = value;
    }
  }
  return mappings;
}

} // namespace hotset
