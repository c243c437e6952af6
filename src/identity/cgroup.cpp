// SPDX-License-Identifier: Apache-2.0
#include "identity/cgroup.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

#include "base/mounts.h"
#include "base/units.h"

namespace hotset {
namespace {

constexpr std::size_t kProcsBytes = std::size_t{1} << 26; // a line a process

struct Hierarchy {
  std::string point;
  int version = 2;
  bool memory = false; // v1: the one of the memory controller; v2 may have it or not
};

// That of the memory controller first: on v1 if it is there, else v2.
std::vector<Hierarchy> hierarchies(const std::vector<Mount>& mounts) {
  std::vector<Hierarchy> found;
  for (const Mount& mount : mounts) {
    if (mount.type == "cgroup2") found.push_back({mount.point, 2, true});
    if (mount.type == "cgroup") found.push_back({mount.point, 1, mount.has_option("memory")});
  }
  std::ranges::stable_sort(found, {}, [](const Hierarchy& h) { return h.version == 1 && h.memory ? 0 : h.version; });
  std::ranges::stable_partition(found, [](const Hierarchy& h) { return h.memory; });
  return found;
}

// "/a/b" of "a//b/" and the like; "/" of nothing. Absent when a component leads upwards.
std::optional<std::string> normal_path(std::string_view path) {
  std::string normal;
  while (!path.empty()) {
    std::string_view part = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(part.size() + 1, path.size()));
    if (part == "..") return std::nullopt;
    if (!part.empty() && part != ".") normal += fmt::format("/{}", part);
  }
  return normal.empty() ? "/" : normal;
}

bool is_below(std::string_view path, std::string_view point) {
  return path.starts_with(point) && (path.size() == point.size() || path[point.size()] == '/');
}

std::string folder_of(const Hierarchy& hierarchy, const std::string& path) {
  return path == "/" ? hierarchy.point : hierarchy.point + path;
}

std::optional<std::uint64_t> inode_of(const Files& files, const std::string& folder) {
  struct stat status{};
  if (::stat(files.resolve(folder).c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return std::nullopt;
  return status.st_ino;
}

// Of v2 only: v1 has no such file.
std::string type_of(const Files& files, const std::string& folder) {
  Result<std::string> type = files.read(folder + "/cgroup.type");
  return type ? type->substr(0, type->find('\n')) : std::string();
}

bool is_threaded(const Files& files, const std::string& folder) {
  std::string type = type_of(files, folder);
  return type == "threaded" || type == "domain invalid";
}

std::string name_of(std::string_view path) {
  return fmt::format("the cgroup '{}'", printable(path));
}

void add_pids(std::string_view text, std::vector<pid_t>& pids) {
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    std::optional<std::uint64_t> pid = parse_u64(line);
    if (pid && *pid <= static_cast<std::uint64_t>(std::numeric_limits<pid_t>::max()))
      pids.push_back(static_cast<pid_t>(*pid));
  }
}

} // namespace

Result<Cgroup> Cgroup::find(const Files& files, std::string_view path) {
  std::optional<std::string> wanted = path.empty() ? std::nullopt : normal_path(path);
  if (!wanted)
    return fail(ErrorCode::usage, "find", name_of(path), path.empty() ? "the path is empty" : "the path holds '..'",
                "give its path below the hierarchy's root, like /system.slice/x.service");
  HOTSET_TRY(std::vector<Mount> mounts, read_mounts(files));
  const std::vector<Hierarchy> all = hierarchies(mounts);
  const Hierarchy* named = nullptr; // the hierarchy that an absolute path leads into: the innermost
  for (const Hierarchy& hierarchy : all)
    if (is_below(*wanted, hierarchy.point) && (!named || hierarchy.point.size() > named->point.size()))
      named = &hierarchy;
  if (named && !named->memory)
    return fail(ErrorCode::usage, "find", name_of(path), "its hierarchy is not that of the memory controller",
                "give its path from the hierarchy's root, like /system.slice/x.service");

  Cgroup cgroup;
  for (const Hierarchy& hierarchy : all) {
    if (!hierarchy.memory || (named && &hierarchy != named)) continue;
    std::string below = named ? *normal_path(wanted->substr(named->point.size())) : *wanted;
    std::string folder = folder_of(hierarchy, below);
    std::optional<std::uint64_t> inode = inode_of(files, folder);
    if (!inode || !files.exists(folder + "/cgroup.procs")) continue;
    cgroup.folder_ = std::move(folder);
    cgroup.path_ = std::move(below);
    cgroup.id_ = *inode;
    cgroup.version_ = hierarchy.version;
    break;
  }
  if (cgroup.folder_.empty()) {
    auto usable = std::ranges::find_if(all, [](const Hierarchy& h) { return h.memory; });
    if (usable == all.end())
      return fail(ErrorCode::unsupported, "find", name_of(path), "no hierarchy with the memory controller is mounted",
                  "mount it: mount -t cgroup2 cgroup2 /sys/fs/cgroup");
    return fail(ErrorCode::not_found, "find", name_of(path), fmt::format("there is none below {}", usable->point),
                "cat /proc/PID/cgroup shows that of a process");
  }
  if (is_threaded(files, cgroup.folder_))
    return fail(ErrorCode::unsupported, "measure", name_of(path),
                fmt::format("it is {}: memory belongs to whole processes, and so to an ancestor that is a domain",
                            type_of(files, cgroup.folder_)),
                fmt::format("try {}", printable(std::filesystem::path(cgroup.path_).parent_path().string())));
  return cgroup;
}

Result<std::vector<pid_t>> Cgroup::processes(const Files& files) const {
  auto removed = [&] { return fail(ErrorCode::gone, "list the processes of", name_of(path_), "it was removed"); };
  if (inode_of(files, folder_) != id_) return removed();
  std::vector<pid_t> pids;
  std::vector<std::string> folders{folder_};
  while (!folders.empty()) {
    const std::string folder = std::exchange(folders.back(), {});
    folders.pop_back();
    // A threaded child's processes are listed by its domain.
    if (folder == folder_ || !is_threaded(files, folder)) {
      Result<std::string> text = files.read(folder + "/cgroup.procs", kProcsBytes);
      if (text) {
        add_pids(*text, pids);
      } else if (folder == folder_) {
        if (inode_of(files, folder_) != id_) return removed();
        return fail(within("list the processes of", name_of(path_), std::move(text).error()));
      }
    }
    std::error_code vanished;
    for (std::filesystem::directory_iterator entry(files.resolve(folder), vanished), end; !vanished && entry != end;
         entry.increment(vanished))
      if (std::error_code unknown; entry->is_directory(unknown))
        folders.push_back(fmt::format("{}/{}", folder, entry->path().filename().string()));
  }
  // Another one of the same name may have taken its place while we looked.
  if (inode_of(files, folder_) != id_) return removed();
  std::ranges::sort(pids);
  pids.erase(std::ranges::unique(pids).begin(), pids.end());
  return pids;
}

std::optional<std::uint64_t> number_in(const Files& files, const std::string& path, std::string_view key) {
  Result<std::string> text = files.read(path);
  if (!text) return std::nullopt;
  std::string_view rest = *text;
  while (!rest.empty()) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (key.empty()) return parse_u64(line);
    if (line.starts_with(key) && line.size() > key.size() && line[key.size()] == ' ')
      return parse_u64(line.substr(key.size() + 1));
  }
  return std::nullopt;
}

CgroupMemory Cgroup::memory(const Files& files) const {
  const std::string stat = folder_ + "/memory.stat";
  if (version_ == 1)
    return {.usage = number_in(files, folder_ + "/memory.usage_in_bytes"),
            .swap = number_in(files, stat, "total_swap"),
            .cache = number_in(files, stat, "total_cache"),
            .mapped_cache = number_in(files, stat, "total_mapped_file")};
  return {.usage = number_in(files, folder_ + "/memory.current"),
          .swap = number_in(files, folder_ + "/memory.swap.current"),
          .cache = number_in(files, stat, "file"),
          .mapped_cache = number_in(files, stat, "file_mapped")};
}

} // namespace hotset
