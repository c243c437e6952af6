// SPDX-License-Identifier: Apache-2.0
// What other tests skip for, held against the errors that there are.
#include "missing.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "kernel/bpf_error.h"

namespace hotset {
namespace {

Error error_of(int number, std::string_view log, bool type_information = true) {
  Privileges all{};
  all.type_information = type_information;
  return bpf_error(number, "load", "the program", log, all);
}

TEST(Missing, is_a_feature_that_the_error_names) {
  EXPECT_TRUE(is_missing(error_of(ESRCH, "libbpf: failed to find valid kernel BTF", false)));
  EXPECT_FALSE(is_missing(error_of(ESRCH, "libbpf: failed to find valid kernel BTF"))) << "it is there";
  for (std::string_view log :
       {"failed to find kernel BTF type ID", "failed to create kprobe 'x'", "invalid func unknown#181",
        "unknown func bpf_loop#181", "number of funcs in func_info doesn't match number of subprogs"})
    EXPECT_TRUE(is_missing(error_of(EINVAL, log))) << to_sentence(error_of(EINVAL, log));
  EXPECT_TRUE(is_missing(error_of(ENOSYS, "")));
  EXPECT_TRUE(is_missing(error_of(EOPNOTSUPP, "")));
  EXPECT_TRUE(is_missing({ErrorCode::permission, "load", "", "denied", ""}));
}

TEST(Missing, is_nothing_when_the_verifier_rejects_a_program_or_no_reason_is_named) {
  constexpr std::string_view kLog =
      "-- BEGIN PROG LOAD LOG --\nR1 invalid mem access 'scalar'\nprocessed 9 insns\n-- END PROG LOAD LOG --\n";
  for (int number : {EINVAL, EACCES, EPERM}) {
    EXPECT_EQ(error_of(number, kLog).code, ErrorCode::unsupported);
    EXPECT_FALSE(is_missing(error_of(number, kLog))) << to_sentence(error_of(number, kLog));
  }
  EXPECT_FALSE(is_missing(error_of(EPERM, ""))) << "no reason is known";
  EXPECT_FALSE(is_missing(error_of(ENOMEM, "")));
  EXPECT_FALSE(is_missing({ErrorCode::usage, "load", "", "this kernel has no such thing", ""}));
  EXPECT_FALSE(
      names_what_is_missing("the first is passed over: this kernel has no such tracepoint\n"
                            "the kernel's verifier rejects the program: R1 is odd"));
}

} // namespace
} // namespace hotset
