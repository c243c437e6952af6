// SPDX-License-Identifier: Apache-2.0
#include "reclaim/pressure.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <vector>

#include "base/fd.h"
#include "base/units.h"
#include "identity/cgroup.h"

namespace hotset {
namespace {

constexpr std::string_view kPressure = "memory pressure";

struct Hierarchy {
  std::string_view mount, limit_file, marker; // marker: a file that every group with the controller has
};
constexpr std::array kHierarchies{
    Hierarchy{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.limit_in_bytes"},
    Hierarchy{"/sys/fs/cgroup", "memory.max", "cgroup.controllers"},
};

// Which group of the hierarchy this process is in, as the path of its cgroup.procs.
Result<std::string> home_in(const Hierarchy& hierarchy) {
  HOTSET_TRY(std::string text, Files().read("/proc/self/cgroup"));
  std::string_view mark = hierarchy.limit_file == "memory.max" ? "0::" : ":memory:";
  std::size_t at = text.find(mark);
  if (at == std::string::npos) return fail(ErrorCode::unsupported, "find", "our own cgroup", "it is not in the list");
  at += mark.size();
  return fmt::format("{}{}/cgroup.procs", hierarchy.mount, text.substr(at, text.find('\n', at) - at));
}

} // namespace

Result<LimitedCgroup> LimitedCgroup::create(std::uint64_t limit_bytes) {
  Files files;
  for (const Hierarchy& hierarchy : kHierarchies) {
    if (!files.read(fmt::format("{}/{}", hierarchy.mount, hierarchy.marker))) continue;
    if (hierarchy.limit_file == "memory.max") {
      HOTSET_CHECK(files.write(fmt::format("{}/cgroup.subtree_control", hierarchy.mount), "+memory"));
    }
    LimitedCgroup group(fmt::format("{}/hotset-bench-{}", hierarchy.mount, ::getpid()));
    if (::mkdir(group.path_.c_str(), 0755) != 0) {
      Error error = errno_error(errno, "make", group.path_);
      group.path_.clear();
      return fail(std::move(error));
    }
    HOTSET_TRY(group.home_, home_in(hierarchy));
    HOTSET_CHECK(files.write(fmt::format("{}/{}", group.path_, hierarchy.limit_file), fmt::format("{}", limit_bytes)));
    return group;
  }
  return fail(ErrorCode::unsupported, "make", std::string(kPressure),
              "no memory controller is mounted in /sys/fs/cgroup");
}

LimitedCgroup::~LimitedCgroup() {
  if (!path_.empty()) ::rmdir(path_.c_str());
}

Result<> LimitedCgroup::enter() {
  return Files().write(fmt::format("{}/cgroup.procs", path_), fmt::format("{}", ::getpid()));
}

Result<> LimitedCgroup::leave() const {
  return Files().write(home_, fmt::format("{}", ::getpid()));
}

Result<std::uint64_t> LimitedCgroup::refaults() const {
  std::string path = fmt::format("{}/memory.stat", path_);
  std::optional<std::uint64_t> pages = number_in(Files(), path, "workingset_refault_anon");
  if (!pages)
    return fail(ErrorCode::unsupported, "read", path, "this kernel does not count refaults of anonymous pages");
  return *pages;
}

Result<SwapFile> SwapFile::create_unless_there_is(std::uint64_t bytes) {
  HOTSET_TRY(std::string swaps, Files().read("/proc/swaps"));
  if (swaps.find('\n') + 1 < swaps.size()) return SwapFile("");
  std::string path = fmt::format("/var/tmp/hotset-bench-swap-{}", ::getpid());
  Fd fd(::open(path.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600));
  if (!fd) return fail(errno_error(errno, "create", path));
  SwapFile swap(path);
  // Version 1 of the kernel's format: a page with the version, the last page's number, and a signature at its end.
  std::vector<char> page(page_bytes());
  const std::array<std::uint32_t, 2> header{1, static_cast<std::uint32_t>(bytes / page_bytes() - 1)};
  std::memcpy(page.data() + 1024, header.data(), sizeof(header));
  std::memcpy(page.data() + page.size() - 10, "SWAPSPACE2", 10);
  const std::vector<char> zeros(page.size());
  for (std::uint64_t at = 0; at < bytes; at += page.size()) {
    const std::vector<char>& content = at == 0 ? page : zeros;
    if (::write(fd.get(), content.data(), content.size()) != static_cast<ssize_t>(content.size()))
      return fail(errno_error(errno, "fill", path));
  }
  if (::fsync(fd.get()) != 0 || ::swapon(path.c_str(), 0) != 0) return fail(errno_error(errno, "swap on", path));
  return swap;
}

SwapFile::~SwapFile() {
  if (path_.empty()) return;
  ::swapoff(path_.c_str());
  ::unlink(path_.c_str());
}

} // namespace hotset
