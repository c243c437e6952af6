// SPDX-License-Identifier: Apache-2.0
#include "fault_target.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <vector>

#include "base/file.h"

namespace hotset {
namespace {

constexpr std::size_t kPages = 256, kPageBytes = 4096;

struct Share {
  std::uint64_t faults;
  std::chrono::steady_clock::time_point deadline;
};

void* take_faults(void* argument) {
  const Share& share = *static_cast<Share*>(argument);
  void* memory = ::mmap(nullptr, kPages * kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  ::madvise(memory, kPages * kPageBytes, MADV_NOHUGEPAGE);
  for (std::uint64_t done = 0; done < share.faults && std::chrono::steady_clock::now() < share.deadline;) {
    for (std::size_t page = 0; page < kPages && done < share.faults; ++page, ++done)
      static_cast<volatile char*>(memory)[page * kPageBytes] = 1;
    ::madvise(memory, kPages * kPageBytes, MADV_DONTNEED);
  }
  ::munmap(memory, kPages * kPageBytes);
  return nullptr;
}

// An emulated CPU (QEMU without KVM) is thirty times slower, and what matters there is the kernel, not the load.
double time_share() {
  constexpr double kEmulatedShare = 0.15;
  static const bool kEmulated = [] {
    Result<std::string> cpus = Files().read("/proc/cpuinfo");
    return cpus && cpus->find("TCG") != std::string::npos;
  }();
  return kEmulated ? kEmulatedShare : 1;
}

void run_load(const FaultLoad& load) {
  auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(load.seconds * time_share());
  Share share{load.faults / load.threads / load.waves,
              std::chrono::time_point_cast<std::chrono::steady_clock::duration>(deadline)};
  for (unsigned wave = 0; wave < load.waves; ++wave) {
    std::vector<pthread_t> threads(load.threads);
    for (pthread_t& thread : threads)
      if (::pthread_create(&thread, nullptr, take_faults, &share) != 0) std::abort();
    for (pthread_t thread : threads)
      ::pthread_join(thread, nullptr);
  }
}

[[noreturn]] void serve(const FaultLoad& load, const std::string& comm, int commands, int answers) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (!comm.empty()) ::prctl(PR_SET_NAME, comm.c_str());
  char byte = 0;
  if (::write(answers, "s", 1) != 1) ::_exit(1);
  while (::read(commands, &byte, 1) == 1) {
    run_load(load);
    if (::write(answers, "d", 1) != 1) break;
  }
  ::_exit(0);
}

pid_t fork_as(pid_t wanted) {
  if (wanted == 0) return ::fork();
  clone_args arguments{};
  arguments.exit_signal = SIGCHLD;
  arguments.set_tid = reinterpret_cast<std::uintptr_t>(&wanted);
  arguments.set_tid_size = 1;
  return static_cast<pid_t>(::syscall(SYS_clone3, &arguments, sizeof(arguments)));
}

} // namespace

FaultTarget FaultTarget::start(const FaultLoad& load, const std::string& comm, pid_t pid) {
  int commands[2] = {-1, -1}, answers[2] = {-1, -1};
  if (::pipe2(commands, O_CLOEXEC) != 0 || ::pipe2(answers, O_CLOEXEC) != 0) std::abort();
  FaultTarget target;
  target.commands_ = Fd(commands[1]);
  target.answers_ = Fd(answers[0]);
  Fd commands_end(commands[0]), answers_end(answers[1]);
  pid_t child = fork_as(pid);
  if (child == 0) {
    ::close(commands[1]);
    ::close(answers[0]);
    serve(load, comm, commands[0], answers[1]);
  }
  target.pid_ = child > 0 ? child : 0;
  answers_end.reset();
  if (child > 0) target.wait(); // until it has its name
  return target;
}

ProcessId FaultTarget::id() const {
  Result<ProcessStat> stat = read_process_stat(Files(), pid_);
  return {pid_, stat ? stat->start_ticks : 0};
}

void FaultTarget::begin() {
  if (::write(commands_.get(), "g", 1) != 1) std::abort();
}

void FaultTarget::wait() {
  char byte = 0;
  if (::read(answers_.get(), &byte, 1) != 1) std::abort();
}

bool FaultTarget::is_done() const {
  pollfd answer{answers_.get(), POLLIN, 0};
  return ::poll(&answer, 1, 0) == 1;
}

void FaultTarget::run() {
  begin();
  wait();
}

std::uint64_t FaultTarget::stat_faults() const {
  Result<ProcessStat> stat = read_process_stat(Files(), pid_);
  if (!stat) std::abort();
  return stat->minor_faults + stat->major_faults;
}

void FaultTarget::end() {
  if (!valid()) return;
  pid_t pid = std::exchange(pid_, 0);
  // Closing the pipe would not do: targets that were started later hold its end too.
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

} // namespace hotset
