// SPDX-License-Identifier: Apache-2.0
#include "base/mounts.h"

#include <algorithm>
#include <ranges>

namespace hotset {
namespace {

constexpr std::size_t kMountsBytes = std::size_t{16} << 20; // container hosts have thousands of mounts

bool is_octal(char c) {
  return c >= '0' && c <= '7';
}

std::string unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    bool escaped = text[i] == '\\' && text.size() - i > 3 && text[i + 1] <= '3' && is_octal(text[i + 1]) &&
                   is_octal(text[i + 2]) && is_octal(text[i + 3]);
    if (!escaped) {
      out += text[i];
      continue;
    }
    out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
    i += 3;
  }
  return out;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (auto part : std::views::split(text, separator))
    parts.emplace_back(part.begin(), part.end());
  return parts;
}

} // namespace

bool Mount::has_option(std::string_view option) const {
  return std::ranges::find(options, option) != options.end();
}

std::vector<Mount> parse_mounts(std::string_view text) {
  constexpr std::size_t kSource = 0, kPoint = 1, kType = 2, kOptions = 3, kLeastFields = 4;
  std::vector<Mount> mounts;
  for (std::string_view line : split(text, '\n')) {
    std::vector<std::string_view> fields = split(line, ' ');
    if (fields.size() < kLeastFields) continue;
    Mount mount{unescape(fields[kSource]), unescape(fields[kPoint]), std::string(fields[kType]), {}};
    for (std::string_view option : split(fields[kOptions], ','))
      mount.options.push_back(unescape(option));
    mounts.push_back(std::move(mount));
  }
  return mounts;
}

Result<std::vector<Mount>> read_mounts(const Files& files) {
  HOTSET_TRY(std::string text, files.read("/proc/self/mounts", kMountsBytes));
  return parse_mounts(text);
}

const Mount* find_mount(std::span<const Mount> mounts, std::string_view type) {
  for (const Mount& mount : mounts | std::views::reverse)
    if (mount.type == type) return &mount;
  return nullptr;
}

} // namespace hotset
