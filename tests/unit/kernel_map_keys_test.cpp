// SPDX-License-Identifier: Apache-2.0
// A map as the kernel walks it, whose keys go while it is walked.
#include "kernel/map_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace hotset {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// In the order of its buckets; from a key that it has not, it goes to the first.
struct SimulatedMap {
  std::vector<char> keys;
  std::function<void(std::vector<char>&, std::size_t step)> meanwhile = [](auto&, std::size_t) {};
  std::size_t steps = 0;

  int next(const void* previous, void* next) {
    meanwhile(keys, steps++);
    auto at = keys.begin();
    if (previous != nullptr) {
      auto found = std::ranges::find(keys, *static_cast<const char*>(previous));
      if (found != keys.end()) at = found + 1;
    }
    if (at == keys.end()) return -ENOENT;
    std::memcpy(next, &*at, 1);
    return 0;
  }
  Result<std::vector<MapKey>> walk() {
    return walk_keys([this](const void* previous, void* key) { return next(previous, key); }, 1, 10);
  }
};

std::vector<char> letters(const std::vector<MapKey>& keys) {
  std::vector<char> letters;
  for (const MapKey& key : keys)
    letters.push_back(static_cast<char>(key.at(0)));
  return letters;
}

TEST(MapKeys, are_all_those_of_a_map_that_nobody_changes) {
  EXPECT_THAT(letters(SimulatedMap{.keys = {'c', 'a', 'b'}}.walk().value()), ElementsAre('c', 'a', 'b'));
  EXPECT_THAT(SimulatedMap{}.walk().value(), IsEmpty());
}

TEST(MapKeys, are_each_there_once_when_one_goes_while_it_is_the_last_that_was_seen) {
  SimulatedMap map{.keys = {'a', 'b', 'c', 'd'}, .meanwhile = [](std::vector<char>& keys, std::size_t step) {
                     if (step == 3) std::erase(keys, 'c');
                   }};
  EXPECT_THAT(letters(map.walk().value()), ElementsAre('a', 'b', 'c', 'd'));
}

TEST(MapKeys, that_go_as_soon_as_they_are_seen_are_an_error_and_no_endless_walk) {
  SimulatedMap map{.keys = {},
                   .meanwhile = [](std::vector<char>& keys, std::size_t step) { keys = {static_cast<char>(step)}; }};
  EXPECT_FALSE(map.walk());
}

TEST(MapKeys, that_cannot_be_read_are_an_error) {
  Result<std::vector<MapKey>> keys = walk_keys([](const void*, void*) { return -EPERM; }, 1, 10);
  ASSERT_FALSE(keys);
  EXPECT_EQ(keys.error().code, ErrorCode::permission);
}

} // namespace
} // namespace hotset
