// SPDX-License-Identifier: Apache-2.0
// A reader that goes away ends what only prints at once, and not when the next line is due.
#include <gtest/gtest.h>
#include <unistd.h>

#include "e2e/run_hotset.h"

namespace hotset {
namespace {

// hotset ... | true: the shell waits for both, and ends as hotset does.
const RunOptions kUnread{.wrapper = {"bash", "-o", "pipefail", "-c", "\"$@\" | true", "bash"}};

class AReaderThatGoesAway : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(AReaderThatGoesAway, ends_the_wait_for_the_next_line) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  RunResult run = run_hotset(GetParam(), kUnread);
  if (run.lacks_something()) GTEST_SKIP() << run.err;
  EXPECT_FALSE(run.timed_out);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.err, "");
}

INSTANTIATE_TEST_SUITE_P(
    , AReaderThatGoesAway,
    testing::Values(std::vector<std::string>{"window", "faults", "--interval", "10m"},
                    std::vector<std::string>{"window", "faults", "--interval", "10m", "--", "sleep", "600"},
                    std::vector<std::string>{"measure", "--method", "reference", "600", "--", "sleep", "600"}),
    [](const auto& test) {
      return test.param.size() == 4 ? "of_the_host" : test.param.front() + (test.index == 1 ? "_of_a_command" : "");
    });

} // namespace
} // namespace hotset
