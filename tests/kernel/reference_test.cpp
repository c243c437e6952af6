// SPDX-License-Identifier: Apache-2.0
// The traditional measurement on the real kernel, of a process that touches exactly what it is told to.
#include "access/reference.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <thread>

#include "base/units.h"
#include "estimate/meter.h"
#include "identity/target.h"

namespace hotset {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kPages = 16384;
constexpr std::size_t kRestBytes = std::size_t{16} << 20; // its code, libraries and stack, huge folios among them

// A process with kPages resident pages of its own that touches as many of them as it is told.
class Toucher {
 public:
  Toucher() {
    std::array<int, 2> order{}, reply{};
    EXPECT_EQ(::pipe2(order.data(), O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(reply.data(), O_CLOEXEC), 0);
    pid_ = ::fork();
    if (pid_ == 0) obey(order[0], reply[1]);
    ::close(order[0]);
    ::close(reply[1]);
    order_ = Fd(order[1]);
    reply_ = Fd(reply[0]);
    touch(kPages);
  }
  Toucher(const Toucher&) = delete;
  Toucher& operator=(const Toucher&) = delete;
  ~Toucher() { reap(); }

  // Returns when it has touched them.
  void touch(std::uint32_t pages) {
    char done = 0;
    EXPECT_EQ(::write(order_.get(), &pages, sizeof(pages)), static_cast<ssize_t>(sizeof(pages)));
    EXPECT_EQ(::read(reply_.get(), &done, 1), 1);
  }
  // Ends it; it stays a zombie until reap().
  void end() const {
    ::kill(pid_, SIGKILL);
    siginfo_t info{};
    ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  }
  void reap() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  [[nodiscard]] ProcessId id() const { return find_process(Files(), pid_).value().id; }

 private:
  [[noreturn]] static void obey(int order, int reply) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::size_t bytes = kPages * page_bytes();
    void* region = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (region == MAP_FAILED) ::_exit(1);
    ::madvise(region, bytes, MADV_NOHUGEPAGE);
    auto* first = static_cast<volatile char*>(region);
    std::uint32_t pages = 0;
    while (::read(order, &pages, sizeof(pages)) == static_cast<ssize_t>(sizeof(pages))) {
      // Taking the right to write away flushes the TLB, which the reset does not.
      ::mprotect(region, bytes, PROT_READ);
      ::mprotect(region, bytes, PROT_READ | PROT_WRITE);
      for (std::size_t page = 0; page < pages; ++page)
        first[page * page_bytes()] = 1;
      if (::write(reply, "", 1) != 1) break;
    }
    ::_exit(0);
  }

  pid_t pid_ = -1;
  Fd order_, reply_;
};

TEST(ReferenceOnThisKernel, sees_at_least_what_was_touched_and_little_more) {
  Toucher toucher;
  SystemClock clock;
  Reference reference = Reference::open(Files(), toucher.id(), clock).value();
  for (std::uint32_t pages : {64u, 1024u, 4096u}) {
    ASSERT_TRUE(reference.reset());
    toucher.touch(pages);
    ReferenceReading reading = reference.read().value();
    EXPECT_GE(reading.totals.referenced, pages * page_bytes());
    EXPECT_LE(reading.totals.referenced, pages * page_bytes() + kRestBytes);
    EXPECT_GE(reading.totals.rss, kPages * page_bytes());
  }
}

TEST(ReferenceOnThisKernel, window_is_at_least_as_long_as_was_waited) {
  Toucher toucher;
  SystemClock clock;
  Reference reference = Reference::open(Files(), toucher.id(), clock).value();
  ASSERT_TRUE(reference.reset());
  ASSERT_TRUE(clock.sleep_until(clock.now() + 50ms));
  ReferenceReading reading = reference.read().value();
  EXPECT_GE(reading.window, 50ms);
  EXPECT_GE(reading.effective(), reading.window);
  EXPECT_GT(reading.reset_time + reading.read_time, 0ns);
}

TEST(ReferenceOnThisKernel, of_a_process_that_ends_in_the_window_is_gone) {
  Toucher toucher;
  SystemClock clock;
  Reference reference = Reference::open(Files(), toucher.id(), clock).value();
  ASSERT_TRUE(reference.reset());
  toucher.end();
  Result<ReferenceReading> zombie = reference.read();
  ASSERT_FALSE(zombie);
  EXPECT_EQ(zombie.error().code, ErrorCode::gone) << to_sentence(zombie.error());
  toucher.reap();
  EXPECT_EQ(reference.read().error().code, ErrorCode::gone);
  EXPECT_EQ(reference.reset().error().code, ErrorCode::gone);
}

TEST(ReferenceOnThisKernel, follows_a_process_through_exec) {
  Child child = Child::start({"/proc/self/exe", "--gtest_list_tests"}).value();
  SystemClock clock;
  ProcessId id = find_process(Files(), child.pid()).value().id;
  Reference reference = Reference::open(Files(), id, clock).value();
  std::uint64_t before = reference.read().value().totals.rss;
  ASSERT_TRUE(reference.reset());
  ASSERT_TRUE(child.release());
  ::kill(child.pid(), SIGSTOP); // or it might end before it is read
  Result<ReferenceReading> after = reference.read();
  if (!after) {
    EXPECT_EQ(after.error().code, ErrorCode::gone); // it was quick
    return;
  }
  EXPECT_NE(after->totals.rss, before) << "it still reads the memory of before the exec";
}

TEST(ReferenceOnThisKernel, of_a_process_that_we_may_not_look_into_is_a_matter_of_permission) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to become another user";
  pid_t root = ::getpid();
  ProcessId id = find_process(Files(), root).value().id;
  pid_t nobody = ::fork();
  if (nobody == 0) {
    if (::setresgid(65534, 65534, 65534) != 0 || ::setresuid(65534, 65534, 65534) != 0) ::_exit(100);
    SystemClock clock;
    Result<Reference> reference = Reference::open(Files(), id, clock);
    ::_exit(reference ? 0 : static_cast<int>(reference.error().code));
  }
  int status = 0;
  ::waitpid(nobody, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), static_cast<int>(ErrorCode::permission));
}

TEST(ReferenceMeterOnThisKernel, keeps_the_invariants_and_names_its_doubts) {
  Toucher toucher;
  SystemClock clock;
  OpenedMeter opened = open_meter("reference", Files(), find_process(Files(), toucher.id().pid).value(), clock).value();
  Estimate snapshot = opened.meter->read().value();
  EXPECT_TRUE(check_invariants(snapshot)) << check_invariants(snapshot).error().cause;
  EXPECT_TRUE(has_flag(snapshot, "window_unknown"));
  ASSERT_TRUE(opened.meter->begin());
  toucher.touch(100);
  Estimate estimate = opened.meter->read().value();
  estimate.requested_s = 0.001;
  EXPECT_TRUE(check_invariants(estimate)) << check_invariants(estimate).error().cause;
  EXPECT_TRUE(has_flag(estimate, "tlb_not_flushed"));
  EXPECT_FALSE(has_flag(estimate, "window_unknown"));
}

TEST(FindProcessOnThisKernel, of_a_zombie_is_not_applicable) {
  Toucher toucher;
  pid_t pid = toucher.id().pid;
  toucher.end();
  EXPECT_EQ(find_process(Files(), pid).error().code, ErrorCode::not_applicable);
  toucher.reap();
  EXPECT_EQ(find_process(Files(), pid).error().code, ErrorCode::not_found);
}

TEST(FindProcessOnThisKernel, of_a_kernel_thread_is_not_applicable) {
  Result<ProcessStat> stat = read_process_stat(Files(), 2);
  if (!stat || stat->comm != "kthreadd") GTEST_SKIP() << "pid 2 is no kernel thread in this PID namespace";
  EXPECT_EQ(find_process(Files(), 2).error().code, ErrorCode::not_applicable);
}

TEST(FindProcessOnThisKernel, of_a_thread_is_its_process) {
  Result<Process> process;
  pid_t thread_id = 0;
  std::thread([&] {
    thread_id = ::gettid();
    process = find_process(Files(), thread_id);
  }).join();
  ASSERT_TRUE(process);
  EXPECT_EQ(process->id.pid, ::getpid());
  EXPECT_EQ(process->requested, thread_id);
}

} // namespace
} // namespace hotset
