// SPDX-License-Identifier: Apache-2.0
#include "access/pagemap.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/file.h"

namespace hotset {

Result<Pagemap> Pagemap::open(pid_t pid) {
  Pagemap pagemap;
  HOTSET_TRY(pagemap.fd_, open_read(pid == 0 ? "/proc/self/pagemap" : fmt::format("/proc/{}/pagemap", pid)));
  return pagemap;
}

Result<std::vector<PagemapEntry>> Pagemap::read(std::uint64_t address, std::size_t pages) const {
  std::vector<PagemapEntry> entries(pages);
  std::size_t bytes = pages * sizeof(PagemapEntry);
  ssize_t got = ::pread(fd_.get(), entries.data(), bytes, static_cast<off_t>(address / 4096 * sizeof(PagemapEntry)));
  if (got < 0) return fail(errno_error(errno, "read", "the page map"));
  entries.resize(static_cast<std::size_t>(got) / sizeof(PagemapEntry));
  entries.resize(pages); // past the end of memory nothing is mapped
  return entries;
}

Result<FrameFlags> FrameFlags::open() {
  FrameFlags flags;
  HOTSET_TRY(flags.fd_, open_read("/proc/kpageflags"));
  return flags;
}

Result<std::uint64_t> FrameFlags::read(std::uint64_t frame) const {
  std::uint64_t bits = 0;
  HOTSET_CHECK(read(frame, std::span(&bits, 1)));
  return bits;
}

Result<> FrameFlags::read(std::uint64_t frame, std::span<std::uint64_t> flags) const {
  const ssize_t got =
      ::pread(fd_.get(), flags.data(), flags.size_bytes(), static_cast<off_t>(frame * sizeof(flags[0])));
  if (got < 0) return fail(errno_error(errno, "read", "/proc/kpageflags"));
  std::ranges::fill(flags.subspan(static_cast<std::size_t>(got) / sizeof(flags[0])), 0);
  return {};
}

} // namespace hotset
