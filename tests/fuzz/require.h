// SPDX-License-Identifier: Apache-2.0
// What must hold for every input. A fuzzer has no test framework: a broken promise is a crash, with the line that made
// it.
#pragma once

#include <cstdio>
#include <cstdlib>

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): the text of the condition and its line are the message
#define REQUIRE(...)                                                                 \
  do {                                                                               \
    if (!(__VA_ARGS__)) {                                                            \
      std::fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #__VA_ARGS__); \
      std::abort();                                                                  \
    }                                                                                \
  } while (false)
