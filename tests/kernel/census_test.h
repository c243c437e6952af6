// SPDX-License-Identifier: Apache-2.0
// What every test of Accessed bits begins with: a census that opened, or the reason why this kernel has none.
#pragma once

#include <gtest/gtest.h>

#include <optional>

#include "access/census.h"
#include "missing.h"

namespace hotset {

class WithCensus : public testing::Test {
 protected:
  void SetUp() override {
    Result<Census> opened = Census::open(clock);
    if (!opened && is_missing(opened.error())) GTEST_SKIP() << to_sentence(opened.error());
    ASSERT_TRUE(opened) << to_sentence(opened.error());
    census.emplace(std::move(*opened));
  }
  Snapshot read(pid_t pid) {
    Result<Census::Subject> subject = census->attach({pid, 0});
    EXPECT_TRUE(subject) << to_sentence(subject.error());
    Result<Snapshot> snapshot = census->read(*subject);
    EXPECT_TRUE(snapshot) << to_sentence(snapshot.error());
    return snapshot ? *snapshot : Snapshot{};
  }

  SystemClock clock;
  std::optional<Census> census;
};

} // namespace hotset
