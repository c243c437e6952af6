// SPDX-License-Identifier: Apache-2.0
#include "kernel/security.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <ranges>

#include "kernel/private_mount.h"

namespace hotset {
namespace {

constexpr std::string_view kSecurityfs = "/sys/kernel/security";

std::string without_line_feed(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

} // namespace

Result<std::string> read_securityfs(const Files& files, std::string_view name) {
  HOTSET_TRY(std::vector<std::string> entries, files.list(kSecurityfs));
  bool recorded = !files.resolve("").empty(); // a tree of recorded text: the running kernel has no say
  if (!entries.empty() || recorded) return files.read(fmt::format("{}/{}", kSecurityfs, name));
  HOTSET_TRY(Fd mount, private_mount("securityfs"));
  std::string path(name);
  Fd file(::openat(mount.get(), path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return fail(errno_error(errno, "read", fmt::format("{}/{}", kSecurityfs, name)));
  return read_all(file.get(), path);
}

std::string parse_lockdown(std::string_view text) {
  std::size_t open = text.find('['), close = text.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
  return std::string(text.substr(open + 1, close - open - 1));
}

std::vector<std::string> parse_lsm_list(std::string_view text) {
  std::vector<std::string> names;
  for (auto part : std::views::split(without_line_feed(text), ','))
    if (!part.empty()) names.emplace_back(part.begin(), part.end());
  return names;
}

} // namespace hotset
