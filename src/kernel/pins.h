// SPDX-License-Identifier: Apache-2.0
// Pins: the names of maps and links in a BPF file system, by which other processes find them, and which keep them when
// the process that made them has ended.
//
// The kernel says "operation not permitted" to a name with a dot in it just as to who lacks a privilege. Errors of this
// file tell the two apart.
#pragma once

#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace hotset {

// Where BPF file systems are mounted, and how.
inline constexpr std::string_view kPinMount = "/sys/fs/bpf";
inline constexpr std::string_view kMountCommand = "mount -t bpf bpf /sys/fs/bpf";

// Whether what is at that path is, or lies in, a BPF file system. Errors: those of statfs, not_found among them.
Result<bool> in_bpf_file_system(const std::string& path);

// usage: a name on that path which lies in a BPF file system has a dot, where the kernel looks none up.
Result<> check_pin_name(const std::string& path);

// Makes a folder for pins, which the owner alone may enter; false when it exists already. Errors: usage (its name, or
// it would lie in no BPF file system), and what the system says.
Result<bool> make_pin_folder(const std::string& folder);
// Gives that map or link this name, too.
Result<> pin(int fd, const std::string& path);
// A new descriptor of what is pinned there.
Result<Fd> open_pin(const std::string& path);
// Removes a pin, or a folder with all that is pinned in it. What can't be removed stays.
void unpin(const std::string& path);

// The error of a system call on a path in a BPF file system: check_pin_name()'s where a name is to blame.
Error pin_error(int error_number, std::string operation, const std::string& path);

} // namespace hotset
