// SPDX-License-Identifier: Apache-2.0
// What is mounted where, as this process sees it (/proc/self/mounts).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"

namespace hotset {

// Paths may hold any byte but NUL; the kernel writes blanks, tabs, line feeds and backslashes as \ooo, undone here.
struct Mount {
  std::string source;
  std::string point;
  std::string type;
  std::vector<std::string> options;

  [[nodiscard]] bool has_option(std::string_view option) const;
};

// A line that is not whole is passed over: the file can be cut only by a race with a mount.
std::vector<Mount> parse_mounts(std::string_view text);
Result<std::vector<Mount>> read_mounts(const Files& files);
// The last mount of that type, which is the one that is seen where several cover each other; null when there is none.
const Mount* find_mount(std::span<const Mount> mounts, std::string_view type);

} // namespace hotset
