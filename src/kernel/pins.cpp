// SPDX-License-Identifier: Apache-2.0
#include "kernel/pins.h"

#include <bpf/bpf.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/units.h"

namespace hotset {
namespace {

bool is_reserved(const std::string& name) {
  return name != "." && name != ".." && name.find('.') != std::string::npos;
}

// "/a/b/" is the folder b in /a, and "b" is in ".".
std::string folder_of(std::filesystem::path path) {
  if (!path.has_filename()) path = path.parent_path();
  path = path.parent_path();
  return path.empty() ? "." : path.string();
}

} // namespace

Result<bool> in_bpf_file_system(const std::string& path) {
  struct statfs system{};
  if (::statfs(path.c_str(), &system) != 0) return fail(pin_error(errno, "look at", path));
  return system.f_type == BPF_FS_MAGIC;
}

// Dots are reserved in the kernel (bpf_lookup of kernel/bpf/inode.c), which refuses them when it looks the name up:
// with files of its own, such as maps.debug, it does not come to that.
Result<> check_pin_name(const std::string& path) {
  std::filesystem::path above;
  for (const std::filesystem::path& name : std::filesystem::path(path)) {
    struct statfs system{};
    const char* folder = above.empty() ? "." : above.c_str();
    if (is_reserved(name) && ::statfs(folder, &system) == 0 && system.f_type == BPF_FS_MAGIC)
      return fail(ErrorCode::usage, "name a pin", printable(path),
                  fmt::format("a BPF file system takes no name with a dot, such as '{}'", printable(name.string())),
                  "choose a name without one");
    above /= name;
  }
  return {};
}

Error pin_error(int error_number, std::string operation, const std::string& path) {
  if (error_number == EPERM) {
    Result<> named = check_pin_name(path);
    if (!named) return std::move(named).error();
  }
  return errno_error(error_number, std::move(operation), printable(path));
}

Result<bool> make_pin_folder(const std::string& folder) {
  const std::string parent = folder_of(folder);
  HOTSET_TRY(bool holds_pins, in_bpf_file_system(parent));
  if (!holds_pins)
    return fail(ErrorCode::usage, "pin in", printable(folder),
                fmt::format("{} lies in no BPF file system", printable(parent)),
                fmt::format("mount one ({}) and name a folder there", kMountCommand));
  if (::mkdir(folder.c_str(), 0700) == 0) return true;
  if (errno == EEXIST) return false;
  return fail(pin_error(errno, "make the folder", folder));
}

Result<> pin(int fd, const std::string& path) {
  if (bpf_obj_pin(fd, path.c_str()) != 0) return fail(pin_error(errno, "pin", path));
  return {};
}

Result<Fd> open_pin(const std::string& path) {
  Fd pinned(bpf_obj_get(path.c_str()));
  if (!pinned) return fail(pin_error(errno, "open the pin", path));
  return pinned;
}

void unpin(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

} // namespace hotset
