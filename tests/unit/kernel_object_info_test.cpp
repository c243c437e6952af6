// SPDX-License-Identifier: Apache-2.0
#include "kernel/object_info.h"

#include <gtest/gtest.h>

namespace hotset {
namespace {

TEST(ObjectInfo, what_cannot_be_asked_is_an_error_and_not_zero) {
  EXPECT_FALSE(recursion_misses(-1));
  EXPECT_FALSE(program_info(-1));
  EXPECT_FALSE(map_info(-1));
}

} // namespace
} // namespace hotset
