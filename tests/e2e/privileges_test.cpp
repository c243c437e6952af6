// SPDX-License-Identifier: Apache-2.0
// What a command that needs the kernel's help says where it gets none: one sentence with the real cause and the remedy,
// and its exit code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "e2e/run_hotset.h"

namespace hotset {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Surroundings {
  const char* name;
  std::vector<std::string> wrapper;
  int exit_code;
  const char* cause;
  const char* remedy;
};

std::ostream& operator<<(std::ostream& out, const Surroundings& surroundings) {
  return out << surroundings.name;
}

class CountingFaults : public ::testing::TestWithParam<Surroundings> {};

TEST_P(CountingFaults, where_it_is_not_possible_says_why_and_what_helps) {
  const Surroundings& around = GetParam();
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  if (run_hotset({"--version"}, {.wrapper = around.wrapper}).exit_code != 0)
    GTEST_SKIP() << "cannot make these surroundings here: " << around.wrapper.front();
  if (run_hotset({"measure", "--method", "faults", "0.01", "--", "sleep", "60"}).exit_code != 0)
    GTEST_SKIP() << "faults cannot be counted here at all";

  RunResult run =
      run_hotset({"measure", "--method", "faults", "0.01", "--", "sleep", "60"}, {.wrapper = around.wrapper});
  EXPECT_EQ(run.exit_code, around.exit_code);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr(around.cause));
  EXPECT_THAT(run.err, HasSubstr(around.remedy));
  EXPECT_THAT(run.err, Not(HasSubstr("ulimit")));
  EXPECT_THAT(run.err, Not(HasSubstr("libbpf")));
  EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.err;
}

const std::vector<Surroundings> kSurroundings{
    {"nobody",
     {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"},
     4,
     "the capabilities CAP_BPF, CAP_PERFMON are missing",
     "run as root"},
    {"user_namespace", {"unshare", "--user", "--map-root-user"}, 4, "user namespace", "root of the host"},
    {"no_type_information",
     {"unshare", "--mount", "sh", "-c", "mount --bind /dev/null /sys/kernel/btf/vmlinux && exec \"$@\"", "sh"},
     5,
     "no type information (BTF)",
     "CONFIG_DEBUG_INFO_BTF"},
    {"no_sysfs",
     {"unshare", "--mount", "sh", "-c", "umount -l /sys && exec \"$@\"", "sh"},
     5,
     "/sys is not mounted",
     "mount -t sysfs"},
};

INSTANTIATE_TEST_SUITE_P(Surroundings, CountingFaults, ::testing::ValuesIn(kSurroundings),
                         [](const auto& test) { return std::string(test.param.name); });

} // namespace
} // namespace hotset
