// SPDX-License-Identifier: Apache-2.0
// What the kernel's security modules say about themselves, in securityfs: the lockdown mode and which modules are
// active.
//
// Where securityfs is not mounted it is looked at through a private mount.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"

namespace hotset {

// The text of a file of securityfs: "lockdown", "lsm". Errors: not_found (no such file), permission (not mounted, and
// we may not mount it), unsupported (no such file system).
Result<std::string> read_securityfs(const Files& files, std::string_view name);

// The mode in brackets of "none [integrity] confidentiality"; empty when there is none.
std::string parse_lockdown(std::string_view text);
// "capability,landlock,bpf" as a list.
std::vector<std::string> parse_lsm_list(std::string_view text);

} // namespace hotset
