// SPDX-License-Identifier: Apache-2.0
// The collector inside a PID namespace of its own, as in a container: pids are those of that namespace, processes in
// namespaces below are seen, and those outside are not.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "fault/collector.h"
#include "fault/program.h"
#include "fault_target.h"
#include "identity/process.h"

namespace hotset {
namespace {

constexpr FaultLoad kLoad{.threads = 2, .waves = 1, .faults = 20'000, .seconds = 1};

// In the namespace: exits with the number of the first claim that does not hold, 0 when all do.
int count_inside(FaultTarget& outside) {
  if (::mount("proc", "/proc", "proc", 0, nullptr) != 0) return 1;
  if (nested_pid_namespace() == 0) return 2;
  FaultTarget inside = FaultTarget::start(kLoad);
  if (::getpid() != 1 || inside.id().start_ticks == 0) return 3;
  FaultOptions by_pid;
  by_pid.filter = {.kind = FaultFilter::Kind::pid, .process = inside.id(), .comm = {}};
  Result<FaultCollector> one = FaultCollector::attach(by_pid);
  Result<FaultCollector> all = FaultCollector::attach({});
  if (!one || !all) return 4;
  std::uint64_t before = inside.stat_faults();
  inside.run();
  outside.run();
  std::uint64_t total = one->total(inside.id()).value(), stat = inside.stat_faults() - before;
  if (total + 100 < stat || total > stat + stat / 100 + 100) return 5;
  if (all->total(inside.id()).value() != total) return 6;
  const std::vector<FaultCollector::Count> counts = all->totals().value();
  for (const FaultCollector::Count& count : counts)
    if (count.process.pid != ::getpid() && count.process != inside.id()) return 7; // one from outside
  return 0;
}

TEST(FaultNamespace, pids_are_those_of_the_collectors_namespace) {
  FaultTarget outside = FaultTarget::start(kLoad);
  pid_t parent = ::fork();
  ASSERT_GE(parent, 0);
  if (parent == 0) {
    if (::unshare(CLONE_NEWPID | CLONE_NEWNS) != 0) ::_exit(100);
    ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    pid_t first = ::fork();
    if (first == 0) ::_exit(count_inside(outside));
    int status = 0;
    ::waitpid(first, &status, 0);
    ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 99);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(parent, &status, 0), parent);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 100) GTEST_SKIP() << "no PID namespace can be made here";
  EXPECT_EQ(WEXITSTATUS(status), 0) << "the number of the claim in count_inside";
}

} // namespace
} // namespace hotset
