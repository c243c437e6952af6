// SPDX-License-Identifier: Apache-2.0
#include "kernel/private_mount.h"

#include <linux/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace hotset {

// By number, for glibc 2.35 and older have no wrappers and newer ones clash with linux/mount.h.
Result<Fd> private_mount(const char* type) {
  Fd context(static_cast<int>(::syscall(SYS_fsopen, type, FSOPEN_CLOEXEC)));
  if (!context && errno == ENODEV)
    return fail(ErrorCode::unsupported, "mount", type, "this kernel has no such file system");
  if (!context || ::syscall(SYS_fsconfig, context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0)
    return fail(errno_error(errno, "mount", type));
  Fd mount(static_cast<int>(::syscall(SYS_fsmount, context.get(), FSMOUNT_CLOEXEC, 0)));
  if (!mount) return fail(errno_error(errno, "mount", type));
  return mount;
}

} // namespace hotset
