// SPDX-License-Identifier: Apache-2.0
// What the kernel program makes of the processor's error code and of the mapping; the same code, outside the kernel.
#include "bpf/faultkinds.h"

#include <gtest/gtest.h>

namespace hotset {
namespace {

constexpr __u64 kRead = 0x1, kWrite = FAULT_VM_WRITE, kExec = FAULT_VM_EXEC, kShared = FAULT_VM_SHARED;
constexpr __u64 kPresent = FAULT_ERROR_PRESENT, kWriting = FAULT_ERROR_WRITE, kFetching = FAULT_ERROR_FETCH;

constexpr fault_mapping kHeap{.vm_flags = kRead | kWrite, .file = 0, .special = 0};
constexpr fault_mapping kPrivateFile{.vm_flags = kRead | kWrite, .file = 1, .special = 1};
constexpr fault_mapping kSharedMemory{.vm_flags = kRead | kWrite | kShared, .file = 1, .special = 1};
constexpr fault_mapping kText{.vm_flags = kRead | kExec, .file = 1, .special = 1};
constexpr fault_mapping kVdso{.vm_flags = kRead | kExec, .file = 0, .special = 1};
constexpr fault_mapping kGuard{.vm_flags = 0, .file = 0, .special = 0};

TEST(FaultKind, of_a_first_touch_is_that_of_the_mapping) {
  EXPECT_EQ(fault_kind_of(0, &kHeap), FAULT_KIND_anonymous);
  EXPECT_EQ(fault_kind_of(kWriting, &kHeap), FAULT_KIND_anonymous);
  EXPECT_EQ(fault_kind_of(0, &kPrivateFile), FAULT_KIND_file);
  EXPECT_EQ(fault_kind_of(0, &kSharedMemory), FAULT_KIND_file);
  EXPECT_EQ(fault_kind_of(kWriting, &kSharedMemory), FAULT_KIND_file);
  EXPECT_EQ(fault_kind_of(kFetching, &kText), FAULT_KIND_file);
}

TEST(FaultKind, of_a_write_to_a_private_page_that_others_may_have_is_copy_on_write) {
  EXPECT_EQ(fault_kind_of(kWriting | kPresent, &kHeap), FAULT_KIND_copy_on_write);
  EXPECT_EQ(fault_kind_of(kWriting | kPresent, &kPrivateFile), FAULT_KIND_copy_on_write);
  EXPECT_EQ(fault_kind_of(kWriting, &kPrivateFile), FAULT_KIND_copy_on_write) << "copied at the first touch";
}

TEST(FaultKind, of_a_write_to_a_shared_page_is_no_copy) {
  EXPECT_EQ(fault_kind_of(kWriting | kPresent, &kSharedMemory), FAULT_KIND_file) << "the file becomes dirty";
}

TEST(FaultKind, of_one_that_fails_is_not_told) {
  EXPECT_EQ(fault_kind_of(kWriting, &kText), FAULT_KIND_unknown);
  EXPECT_EQ(fault_kind_of(kWriting | kPresent, &kText), FAULT_KIND_unknown);
  EXPECT_EQ(fault_kind_of(kFetching | kPresent, &kHeap), FAULT_KIND_unknown);
  EXPECT_EQ(fault_kind_of(0, &kGuard), FAULT_KIND_unknown);
}

TEST(FaultKind, of_what_the_kernel_itself_maps_is_not_told) {
  EXPECT_EQ(fault_kind_of(0, &kVdso), FAULT_KIND_unknown);
}

} // namespace
} // namespace hotset
