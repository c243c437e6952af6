// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <iostream>

#include "fault/collector.h"

namespace hotset {
namespace {

TEST(FaultHooks, at_least_one_candidate_loads_and_attaches_and_the_others_say_why_not) {
  int working = 0;
  for (const Hook& hook : page_fault_hooks()) {
    Result<> tried = try_page_fault_hook(hook);
    std::cout << hook.name << ": " << (tried ? std::string("works") : to_sentence(tried.error())) << '\n';
    if (tried) ++working;
    if (!tried) {
      EXPECT_NE(tried.error().code, ErrorCode::internal) << "a refusal without a known cause";
      EXPECT_FALSE(tried.error().cause.empty());
    }
  }
  EXPECT_GT(working, 0);
}

} // namespace
} // namespace hotset
