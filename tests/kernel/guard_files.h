// SPDX-License-Identifier: Apache-2.0
// What the guard's tests have in common: a policy from its text, a folder of files, and opens whose outcome is told by
// the guard's own counters.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/fd.h"
#include "guard/guard.h"
#include "policy/compiled.h"

namespace hotset {

// A folder of its own, gone at the end.
class Folder {
 public:
  explicit Folder(const std::string& below = "/var/tmp");
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder();

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  // With one byte in it, and the directories it needs; its path.
  std::string file(const std::string& name) const;

 private:
  std::string path_;
};

CompiledPolicy compiled(const std::string& text);
// A policy in mode audit with default and unknown "allow", and these rules.
CompiledPolicy auditing(const std::string& rules);
// "[[rule]] path = … action = …"
std::string rule(const std::string& path, const std::string& action, const std::string& more = "");

// 0, or the errno of the open.
int open_errno(const std::string& path, int flags = O_RDONLY);

// What became of one open.
struct Judged {
  int error = 0; // errno of the open, 0: it succeeded
  bool judged = false, hit = false, walked = false, filled = false, stale = false, unknown = false, denied = false;
};

// An open (and a close) by this process, whose opens alone `guard` judges.
Judged open_judged(const Guard& guard, const std::string& path, int flags = O_RDONLY);
// Opens the file twice; the second time, which is to be a hit. It is opened again, a few times at most, only when
// something was known and has ended, or could not be kept: others may rename and mount in between.
Judged open_until_hit(const Guard& guard, const std::string& path);
// The same as open_judged() of a descriptor that was opened by other means: `open` returns it.
template <class Open>
Judged judged(const Guard& guard, const Open& open);

Judged difference(const GuardCounts& before, const GuardCounts& after);

template <class Open>
Judged judged(const Guard& guard, const Open& open) {
  GuardCounts before = totals_of(guard.history(1).value());
  errno = 0;
  Fd fd(open());
  int error = fd ? 0 : errno;
  Judged outcome = difference(before, totals_of(guard.history(1).value()));
  outcome.error = error;
  return outcome;
}

// Tests that hold for both hooks, where this kernel has them. All opens are this process's.
class GuardTest : public testing::TestWithParam<guard_hook> {
 protected:
  void SetUp() override;
  static void TearDownTestSuite();

  // Judges this process alone, and exempts it not.
  [[nodiscard]] GuardOptions options() const;
  // With these rules, in mode audit. Loading takes seconds on an emulated machine, so a guard is used again by tests of
  // one suite that ask for the same.
  [[nodiscard]] Guard& auditing_guard(const std::string& rules) const;
  [[nodiscard]] Guard start(CompiledPolicy policy) const;
  [[nodiscard]] Guard start(CompiledPolicy policy, const GuardOptions& options) const;
};

// Calls `work` in a thread with a mount namespace of its own, in which nothing is shared with others, and returns when
// that has been taken down. Skips the test where none can be made.
void in_own_mount_namespace(const std::function<void()>& work);

std::string hook_test_name(const testing::TestParamInfo<guard_hook>& info);

// For tests of what is kept: skips where the kernel does not let it be, with what it says.
#define HOTSET_NEEDS_A_CACHE(guard) \
  if (!(guard).keeps()) GTEST_SKIP() << to_sentence((guard).keeps().error())

#define HOTSET_GUARD_TESTS(Suite) \
  INSTANTIATE_TEST_SUITE_P(By, Suite, testing::Values(GUARD_LSM, GUARD_CALLS), hook_test_name)

// Nothing when the guard's programs can be loaded at all, and when those of the LSM can be used; else why not.
std::optional<std::string> no_guard();
std::optional<std::string> no_lsm();

} // namespace hotset
