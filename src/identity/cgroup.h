// SPDX-License-Identifier: Apache-2.0
// A control group: where it is, whether it is still the same one, which processes are in it and what it is charged for.
//
// The memory controller is on cgroup v2, or on v1 with v2 beside it (hybrid). A cgroup has the same name below the root
// of each hierarchy, so a name alone means the one of the memory controller; without it there is no usage to tell.
//
// Source: Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/memory.rst.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace hotset {

// What the kernel charges a cgroup and those below it for, in bytes. Absent: this kernel, or this hierarchy, does not
// say.
struct CgroupMemory {
  std::optional<std::uint64_t> usage;
  std::optional<std::uint64_t> swap;
  std::optional<std::uint64_t> cache;        // pages of files and shared memory …
  std::optional<std::uint64_t> mapped_cache; // … and those of them that processes have mapped
};

// The number in a control file, or behind a key at the start of one of its lines ("file 4096" of memory.stat).
std::optional<std::uint64_t> number_in(const Files& files, const std::string& path, std::string_view key = {});

class Cgroup {
 public:
  // `path`: below a mounted hierarchy ("/sys/fs/cgroup/system.slice/x.service"), or from a hierarchy's root
  // ("/system.slice/x.service"). Errors: usage ("..", empty, a v1 hierarchy without the memory controller), not_found,
  // unsupported (no cgroups mounted, or a threaded cgroup, whose processes' memory belongs to an ancestor).
  static Result<Cgroup> find(const Files& files, std::string_view path);

  // From the root of its hierarchy: "/" or "/a/b". Any bytes but NUL: print with printable().
  [[nodiscard]] const std::string& path() const { return path_; }
  // The inode number of its directory, which is its cgroup id: a name alone is used again.
  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] int version() const { return version_; }

  // The processes in it and below, ascending and each once. 0 stands for those that our PID namespace hides. What
  // vanishes meanwhile is passed over. ErrorCode::gone when the cgroup was removed, even if there is another of its
  // name.
  Result<std::vector<pid_t>> processes(const Files& files) const;
  [[nodiscard]] CgroupMemory memory(const Files& files) const;

 private:
  Cgroup() = default;

  std::string folder_; // with the mount point
  std::string path_;
  std::uint64_t id_ = 0;
  int version_ = 2;
};

} // namespace hotset
