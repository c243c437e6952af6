// SPDX-License-Identifier: Apache-2.0
// Mode enforce: what is denied fails, and nothing else does; where it cannot be held, that is said.
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "guard_files.h"

namespace hotset {
namespace {

CompiledPolicy enforcing(const std::string& rules, const std::string& unknown = "allow") {
  return compiled("mode = \"enforce\"\ndefault = \"allow\"\nunknown = \"" + unknown + "\"\n" + rules);
}

class GuardEnforce : public testing::Test {
 protected:
  void SetUp() override {
    if (std::optional<std::string> why = no_lsm()) GTEST_SKIP() << *why;
  }
  static Guard start(CompiledPolicy policy, bool exempt = false, bool only_self = true) {
    GuardOptions options;
    options.exempt_self = exempt;
    options.only_self = only_self;
    Result<Guard> guard = Guard::start(std::move(policy), options);
    if (!guard) throw std::runtime_error(to_sentence(guard.error()));
    return *std::move(guard);
  }
  Folder folder_;
};

TEST_F(GuardEnforce, denies_just_the_access_that_a_rule_names) {
  std::string file = folder_.file("a");
  std::string both = folder_.file("denied/a");
  {
    Guard guard = start(enforcing(rule(file, "deny", "access = [\"write\"]") + rule(folder_ / "denied/", "deny")));
    for (int i = 0; i < 2; ++i) { // walked, and known
      EXPECT_EQ(open_errno(file), 0);
      EXPECT_EQ(open_errno(file, O_WRONLY), EPERM);
      EXPECT_EQ(open_errno(file, O_RDWR), EPERM);
      EXPECT_EQ(open_errno(file, O_RDONLY | O_TRUNC), EPERM);
      EXPECT_EQ(open_errno(both), EPERM);
      EXPECT_EQ(open_errno(folder_ / "denied", O_RDONLY | O_DIRECTORY), EPERM);
      EXPECT_EQ(open_errno(folder_ / "denied/new", O_CREAT | O_WRONLY), EPERM);
      EXPECT_EQ(open_errno(folder_ / "not/there"), ENOENT);
    }
    struct stat info{};
    ASSERT_EQ(::stat(file.c_str(), &info), 0);
    EXPECT_EQ(info.st_size, 1) << "a denied open truncates nothing";
  }
  EXPECT_EQ(open_errno(both), 0) << "nothing is denied any more";
}

TEST_F(GuardEnforce, denies_execution) {
  std::string program = folder_ / "program";
  std::filesystem::copy("/bin/true", program);
  Guard guard = start(enforcing(rule(program, "deny", "access = [\"execute\"]")), false, false);
  EXPECT_EQ(open_errno(program), 0) << "to read it is allowed";
  pid_t child = ::fork();
  if (child == 0) {
    ::execl(program.c_str(), program.c_str(), nullptr);
    ::_exit(errno == EPERM ? 9 : 8);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 9);
}

TEST_F(GuardEnforce, denies_other_processes_and_never_the_agent) {
  std::string file = folder_.file("a");
  Guard guard = start(enforcing(rule(folder_.path() + "/", "deny")), true, false);
  EXPECT_EQ(open_errno(file), 0);
  pid_t child = ::fork();
  if (child == 0) ::_exit(open_errno(file) == EPERM ? 9 : 8);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 9);
}

TEST_F(GuardEnforce, denies_what_is_unknown_if_the_policy_says_so) {
  Fd file(::open(folder_.path().c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!file) GTEST_SKIP() << "no unnamed files on this file system";
  std::string again = fmt::format("/proc/self/fd/{}", file.get());
  {
    Guard guard = start(enforcing(rule("/nothing", "deny"), "allow"));
    EXPECT_EQ(open_errno(again), 0);
  }
  Guard guard = start(enforcing(rule("/nothing", "deny"), "deny"));
  EXPECT_EQ(open_errno(again), EPERM);
  EXPECT_EQ(open_errno(folder_.file("named")), 0);
}

TEST_F(GuardEnforce, with_audit_denies_nothing_and_tells_all_the_same) {
  std::string file = folder_.file("a");
  GuardOptions options;
  options.audit = true;
  options.exempt_self = false;
  options.only_self = true;
  Guard guard = Guard::start(enforcing(rule(file, "deny")), options).value();
  EXPECT_EQ(open_errno(file), 0);
  EXPECT_EQ(totals_of(guard.history().value())[GuardCounter::denied], 1U);
}

TEST_F(GuardEnforce, a_reload_leaves_no_moment_without_a_policy) {
  std::string file = folder_.file("a");
  Guard guard = start(enforcing(rule(file, "deny")), false, false);
  int commands[2], opens[2];
  ASSERT_EQ(::pipe(commands), 0);
  ASSERT_EQ(::pipe(opens), 0);
  pid_t child = ::fork();
  if (child == 0) { // opens on and on until it is told to end; 9: it never got through
    ::close(commands[1]);
    ::fcntl(commands[0], F_SETFL, O_NONBLOCK);
    char byte = 0;
    bool through = false;
    for (bool first = true; ::read(commands[0], &byte, 1) < 0; first = false) {
      through |= open_errno(file) == 0;
      if (first && ::write(opens[1], ".", 1) != 1) ::_exit(7);
    }
    ::_exit(through ? 8 : 9);
  }
  char began = 0;
  ASSERT_EQ(::read(opens[0], &began, 1), 1) << "it opens before the first reload";
  ::close(opens[0]);
  ::close(opens[1]);
  for (int i = 0; i < 2; ++i)
    ASSERT_TRUE(guard.reload(enforcing(rule(file, "deny"))));
  ::close(commands[0]);
  ::close(commands[1]);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 9);
}

TEST(GuardWithoutLsm, refuses_to_enforce_and_says_what_helps) {
  if (std::optional<std::string> why = no_guard()) GTEST_SKIP() << *why;
  if (!no_lsm()) GTEST_SKIP() << "this kernel can enforce";
  Result<Guard> guard = Guard::start(enforcing(rule("/nothing", "deny")));
  ASSERT_FALSE(guard);
  EXPECT_TRUE(guard.error().code == ErrorCode::unsupported || guard.error().code == ErrorCode::permission);
  EXPECT_FALSE(guard.error().remedy.empty());
  GuardOptions audit;
  audit.audit = true;
  EXPECT_TRUE(Guard::start(enforcing(rule("/nothing", "deny")), audit));
}

TEST(GuardSetup, at_the_end_of_system_calls_it_is_too_late_to_enforce) {
  GuardOptions calls;
  calls.hook = GUARD_CALLS;
  Result<GuardSetup> setup = choose_setup(Files(), calls, POLICY_ENFORCE);
  ASSERT_FALSE(setup);
  EXPECT_EQ(setup.error().code, ErrorCode::usage);
}

} // namespace
} // namespace hotset
