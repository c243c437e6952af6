// SPDX-License-Identifier: Apache-2.0
#include "identity/target.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "unit/fake_tree.h"

namespace hotset {
namespace {

// A pipe that a child inherits tells, without sleeping, when the last process that holds it has ended.
struct Tracer {
  Tracer() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    ::fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    read = Fd(ends[0]);
    write = Fd(ends[1]);
  }
  // Waits for the end of all that hold the other end.
  std::string rest() {
    write.reset();
    return read_all(read.get(), "tracer").value();
  }

  Fd read, write;
};

int wait_for_end(Child& child) {
  std::optional<int> status;
  while (!(status = child.ended()))
    ::usleep(1000);
  return *status;
}

TEST(Child, waits_at_its_gate_until_it_is_released) {
  Tracer tracer;
  Child child = Child::start({"sh", "-c", fmt::format("echo ran >&{}", tracer.write.get())}).value();
  EXPECT_FALSE(child.ended());
  EXPECT_EQ(read_process_stat(Files(), child.pid())->comm, read_process_stat(Files(), ::getpid())->comm);
  ASSERT_TRUE(child.release());
  EXPECT_EQ(tracer.rest(), "ran\n");
  EXPECT_EQ(WEXITSTATUS(wait_for_end(child)), 0);
}

TEST(Child, that_is_never_released_never_runs) {
  Tracer tracer;
  {
    Child child = Child::start({"sh", "-c", fmt::format("echo ran >&{}", tracer.write.get())}).value();
  }
  EXPECT_EQ(tracer.rest(), "");
}

TEST(Child, tells_its_exit_code_or_signal) {
  Child code = Child::start({"sh", "-c", "exit 7"}).value();
  ASSERT_TRUE(code.release());
  EXPECT_EQ(WEXITSTATUS(wait_for_end(code)), 7);
  Child signal = Child::start({"sh", "-c", "kill -9 $$"}).value();
  ASSERT_TRUE(signal.release());
  EXPECT_EQ(WTERMSIG(wait_for_end(signal)), SIGKILL);
}

TEST(Child, leaves_nothing_behind_when_it_is_destroyed) {
  Tracer tracer;
  pid_t pid = 0;
  {
    Child child = Child::start({"sh", "-c", "sleep 1000 & sleep 1000"}).value();
    pid = child.pid();
    ASSERT_TRUE(child.release());
  }
  EXPECT_EQ(tracer.rest(), "") << "a grandchild still holds the pipe";
  EXPECT_NE(::kill(pid, 0), 0);
}

TEST(Child, that_ignores_the_request_to_end_is_killed) {
  Tracer tracer;
  {
    Child child =
        Child::start({"sh", "-c", fmt::format("trap '' TERM; echo x >&{}; sleep 1000", tracer.write.get())}).value();
    ASSERT_TRUE(child.release());
    char ready = 0;
    ASSERT_EQ(::read(tracer.read.get(), &ready, 1), 1);
  }
  EXPECT_EQ(tracer.rest(), "\n");
}

TEST(Child, sends_its_output_to_our_errors) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Child child = Child::start({"echo", "hello"}).value();
  ASSERT_TRUE(child.release());
  wait_for_end(child);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "hello\n");
}

TEST(Child, has_default_signals) {
  ::signal(SIGPIPE, SIG_IGN);
  Tracer tracer;
  Child child = Child::start({"sh", "-c", fmt::format("grep SigIgn /proc/$$/status >&{}", tracer.write.get())}).value();
  ASSERT_TRUE(child.release());
  EXPECT_EQ(tracer.rest(), "SigIgn:\t0000000000000000\n");
}

TEST(Child, of_a_command_that_does_not_exist_is_not_found) {
  Result<Child> child = Child::start({"hotset-no-such-command"});
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().code, ErrorCode::not_found);
  EXPECT_EQ(Child::start({"/no/such/file"}).error().code, ErrorCode::not_found);
  EXPECT_EQ(Child::start({""}).error().code, ErrorCode::not_found);
}

TEST(Child, of_a_file_that_is_not_executable_is_a_matter_of_permission) {
  FakeTree tree;
  tree.put("/script", "#!/bin/sh\n");
  EXPECT_EQ(Child::start({tree.root() + "/script"}).error().code, ErrorCode::permission);
  EXPECT_EQ(Child::start({tree.root()}).error().code, ErrorCode::permission) << "a folder";
}

TEST(Child, that_cannot_be_executed_says_so_at_the_gate) {
  FakeTree tree;
  tree.put("/garbage", "\x01\x02\x03 no program");
  ::chmod((tree.root() + "/garbage").c_str(), 0755);
  Child child = Child::start({tree.root() + "/garbage"}).value();
  Result<> released = child.release();
  ASSERT_FALSE(released);
  EXPECT_EQ(released.error().code, ErrorCode::bad_data);
}

TEST(Target, that_is_started_has_the_name_it_will_bear) {
  Target target = resolve_target(Files(), {.pid = {}, .comm = "", .command = {"/bin/sleep", "1000"}}).value();
  EXPECT_EQ(target.process.comm, "sleep");
  ASSERT_TRUE(target.child);
  ASSERT_TRUE(target.child->release());
  Process after = find_process(Files(), target.child->pid()).value();
  EXPECT_EQ(after.id, target.process.id);
  EXPECT_EQ(after.comm, "sleep");
}

TEST(Target, of_a_name_that_several_bear_lists_their_pids) {
  FakeTree tree;
  for (int pid : {30, 4}) {
    tree.put(fmt::format("/proc/{}/stat", pid),
             fmt::format("{} (web) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 0 10 0\n", pid));
  }
  Result<Target> target = resolve_target(tree.files(), {.pid = {}, .comm = "web", .command = {}});
  ASSERT_FALSE(target);
  EXPECT_EQ(target.error().code, ErrorCode::usage);
  EXPECT_THAT(target.error().cause, ::testing::HasSubstr("4, 30"));
  EXPECT_EQ(resolve_target(tree.files(), {.pid = {}, .comm = "db", .command = {}}).error().code, ErrorCode::not_found);
}

TEST(Target, is_described_without_control_characters) {
  EXPECT_EQ(describe({.id = {7, 1}, .comm = "a\x1b[1m", .requested = 7}), "7 (a\\x1b[1m)");
}

} // namespace
} // namespace hotset
