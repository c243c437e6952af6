// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "base/rights.h"

namespace hotset {
namespace {

TEST(Error, says_operation_object_cause_and_remedy_in_one_sentence) {
  Error error{ErrorCode::permission, "reset the referenced bits of", "process 12", "permission denied", "run as root"};
  EXPECT_EQ(to_sentence(error), "cannot reset the referenced bits of process 12: permission denied; run as root");
}

TEST(Error, leaves_out_what_is_not_known) {
  EXPECT_EQ(to_sentence({ErrorCode::internal, "train", "", "", ""}), "cannot train");
}

TEST(Error, from_a_full_disk_is_an_output_error) {
  EXPECT_EQ(errno_error(ENOSPC, "write", "f").code, ErrorCode::output);
  EXPECT_EQ(errno_error(ESRCH, "read", "f").code, ErrorCode::not_found);
  EXPECT_EQ(errno_error(EACCES, "read", "f").code, ErrorCode::permission);
}

TEST(Error, from_a_directory_in_the_place_of_a_file_is_the_users_and_has_a_remedy) {
  Error error = errno_error(EISDIR, "read", "folder");
  EXPECT_EQ(error.code, ErrorCode::usage);
  EXPECT_EQ(to_sentence(error), "cannot read folder: Is a directory; give the name of a file");
}

TEST(Error, of_rights_tells_root_what_root_lacks_and_others_to_be_root) {
  constexpr std::uint64_t kAll = ~std::uint64_t{0}, kSysPtrace = 1U << 19, kSysAdmin = 1U << 21;
  EXPECT_EQ(rights_remedy({.root = false, .capabilities = 0, .user_namespace = false}), "run as root");
  EXPECT_EQ(rights_remedy({.root = true, .capabilities = kAll, .user_namespace = false}), "");
  EXPECT_EQ(rights_remedy({.root = true, .capabilities = kAll, .user_namespace = true}), "run as root of the host");
  EXPECT_EQ(rights_remedy({.root = true, .capabilities = kAll & ~kSysAdmin, .user_namespace = false}),
            "run with CAP_SYS_ADMIN, which root lacks here");
  EXPECT_EQ(rights_remedy({.root = true, .capabilities = kSysAdmin | kSysPtrace, .user_namespace = true}),
            "run with CAP_DAC_OVERRIDE, which root lacks here");
  EXPECT_EQ(errno_error(EPERM, "read", "x").remedy, rights_remedy());
}

TEST(Error, from_an_interrupted_call_is_an_interrupt) {
  EXPECT_EQ(errno_error(EINTR, "read", "x").code, ErrorCode::interrupted);
}

TEST(Error, within_a_caller_keeps_code_and_remedy_and_makes_the_rest_the_cause) {
  Error inner{ErrorCode::permission, "open", "/x", "denied", "run as root"};
  EXPECT_EQ(to_sentence(within("measure", "process 1", inner)),
            "cannot measure process 1: cannot open /x: denied; run as root");
}

Result<int> half(int value) {
  if (value % 2 != 0) return fail(ErrorCode::usage, "halve", std::to_string(value), "it is odd");
  return value / 2;
}

Result<int> quarter(int value) {
  HOTSET_TRY(int once, half(value));
  HOTSET_TRY(int twice, half(once));
  return twice;
}

TEST(Result, try_passes_the_value_on_or_returns_the_error) {
  EXPECT_EQ(quarter(8).value(), 2);
  EXPECT_EQ(quarter(6).error().object, "3");
}

} // namespace
} // namespace hotset
