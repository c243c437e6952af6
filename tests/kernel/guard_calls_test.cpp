// SPDX-License-Identifier: Apache-2.0
// What a system call returns is believed no further than it can be checked: others than the kernel may answer it.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <future>
#include <thread>
#include <vector>

#include "guard_files.h"

namespace hotset {
namespace {

class GuardCalls : public GuardTest {};

constexpr std::uint32_t kDirectory = 0x7ab1e; // the argument by which the calls meant are known

// Has the calls of this thread answered by who reads the descriptor that is returned; -1.
int answered_by_others() {
  constexpr std::uint32_t kOthers = SECCOMP_RET_USER_NOTIF;
  std::array filter{
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kDirectory, 0, 1),
      sock_filter BPF_STMT(BPF_RET | BPF_K, kOthers),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program{filter.size(), filter.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return static_cast<int>(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program));
}

bool answer(const Fd& calls, std::int64_t result) {
  seccomp_notif call{};
  if (::ioctl(calls.get(), SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) return false;
  seccomp_notif_resp response{.id = call.id, .val = result, .error = 0, .flags = 0};
  return ::ioctl(calls.get(), SECCOMP_IOCTL_NOTIF_SEND, &response) == 0;
}

TEST_P(GuardCalls, of_a_descriptor_that_no_table_has_room_for_nothing_is_judged) {
  Guard& guard = auditing_guard(rule("/**/denied/", "deny"));
  // Behind this process's table lies other memory of the kernel, near by not much of it zero.
  std::vector<std::int64_t> results{1 << 20, 1 << 24, 1 << 30, 0x7fffffff};
  for (std::int64_t near = 256; near < 768; ++near)
    results.push_back(near);
  std::promise<int> listener;
  std::vector<std::int64_t> returned;
  std::thread caller([&] {
    int fd = answered_by_others();
    listener.set_value(fd);
    for (std::size_t i = 0; fd >= 0 && i < results.size(); ++i)
      returned.push_back(::syscall(SYS_openat, kDirectory, "", O_RDONLY));
  });
  Fd calls(listener.get_future().get());
  GuardCounts before = totals_of(guard.history(1).value());
  bool answered = static_cast<bool>(calls);
  for (std::size_t i = 0; answered && i < results.size(); ++i)
    answered = answer(calls, results[i]);
  calls = Fd(); // whoever still waits is told that nobody answers
  caller.join();
  ASSERT_TRUE(answered) << "this kernel lets nobody answer calls";
  EXPECT_EQ(returned, results);
  GuardCounts after = totals_of(guard.history(1).value());
  EXPECT_EQ(after[GuardCounter::lookups], before[GuardCounter::lookups]);
  EXPECT_EQ(after[GuardCounter::unseen] - before[GuardCounter::unseen], GetParam() == GUARD_CALLS ? results.size() : 0);
}

HOTSET_GUARD_TESTS(GuardCalls);

} // namespace
} // namespace hotset
