// SPDX-License-Identifier: Apache-2.0
#include "kernel/symbols.h"

#include <gtest/gtest.h>

#include <array>

#include "fake_tree.h"

namespace hotset {
namespace {

constexpr std::array<std::string_view, 2> kNames{"rename_lock", "mount_lock"};
using Addresses = std::vector<std::uint64_t>;

TEST(KernelAddresses, are_those_of_the_kernels_own_symbols) {
  FakeTree tree;
  tree.put("/proc/kallsyms",
           "ffffffff82c0a4c0 D rename_lock\n"
           "ffffffff82c0a500 d mount_lock_other\n"
           "ffffffffc0101000 b mount_lock\t[nfs]\n"
           "ffffffff82c0a540 b mount_lock\n");
  EXPECT_EQ(kernel_addresses(tree.files(), kNames), (Addresses{0xffffffff82c0a4c0, 0xffffffff82c0a540}));
}

TEST(KernelAddresses, are_zero_where_they_are_not_shown) {
  FakeTree tree;
  EXPECT_EQ(kernel_addresses(tree.files(), kNames), (Addresses{0, 0}));
  tree.put("/proc/kallsyms", "0000000000000000 D rename_lock\ncut\n\n");
  EXPECT_EQ(kernel_addresses(tree.files(), kNames), (Addresses{0, 0}));
}

} // namespace
} // namespace hotset
