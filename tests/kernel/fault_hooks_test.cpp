// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <iostream>

#include "fault/collector.h"
#include "kernel/preemption.h"

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

TEST(FaultHooks, by_itself_the_collector_takes_the_first_in_order_that_works) {
  const Hook* expected = nullptr;
  for (const Hook* hook : page_fault_hook_order(preempts_itself(Files())))
    if (expected == nullptr && try_page_fault_hook(*hook)) expected = hook;
  ASSERT_NE(expected, nullptr);
  FaultCollector collector = FaultCollector::attach({}).value();
  std::cout << "chosen: " << collector.hook().name << ", the kernel "
            << (preempts_itself(Files()) ? "preempts itself" : "does not preempt itself") << '\n';
  // Guests of each kernel compare it with the one that is expected there.
  RecordProperty("automatic_hook", std::string(collector.hook().name));
  EXPECT_EQ(collector.hook().name, expected->name);
  for (const HookRefusal& refusal : collector.refusals())
    EXPECT_NE(refusal.hook, expected) << "chosen and refused";
}

} // namespace
} // namespace hotset
