// SPDX-License-Identifier: Apache-2.0
// What the guard is told of the kernel's locks: an address that cannot be read is none.
#include "guard/setup.h"

#include <fmt/format.h>

#include <fstream>

#include "guard_files.h"
#include "kernel/bpf_probes.h"

namespace hotset {
namespace {

constexpr std::uint64_t kNowhere = 0xdead000000000000; // no address at all: its upper bits differ

class GuardSetupOfLocks : public GuardTest {
 protected:
  [[nodiscard]] GuardSetup setup_with(std::uint64_t rename_lock, std::uint64_t mount_lock) const {
    Folder folder; // each time another, since what a list says is remembered
    std::ofstream(folder.file("proc/kallsyms"))
        << fmt::format("{:016x} D rename_lock\n{:016x} D mount_lock\n", rename_lock, mount_lock);
    return choose_setup(Files(folder.path()), options(), POLICY_AUDIT).value();
  }
};

TEST_P(GuardSetupOfLocks, an_address_that_cannot_be_read_is_none) {
  ASSERT_TRUE(try_kernel_read());
  EXPECT_FALSE(try_kernel_read(kNowhere));
  GuardSetup known = choose_setup(Files(), options(), POLICY_AUDIT).value();
  if (known.mount_lock == 0) GTEST_SKIP() << "this kernel shows no address of its locks";
  EXPECT_EQ(setup_with(known.rename_lock, known.mount_lock).mount_lock, known.mount_lock);
  GuardSetup wrong = setup_with(known.rename_lock, kNowhere);
  EXPECT_EQ(wrong.mount_lock, 0U);
  EXPECT_NE(wrong.topology, GUARD_TOPOLOGY_renames);
  EXPECT_NE(wrong.topology, GUARD_TOPOLOGY_directories);
}

HOTSET_GUARD_TESTS(GuardSetupOfLocks);

} // namespace
} // namespace hotset
