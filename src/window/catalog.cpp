// SPDX-License-Identifier: Apache-2.0
#include "window/catalog.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <memory>
#include <optional>

#include "base/mounts.h"
#include "base/rights.h"
#include "base/units.h"
#include "kernel/map_keys.h"
#include "kernel/object_info.h"
#include "kernel/pins.h"

namespace hotset {
namespace {

constexpr std::string_view kSeeList = "hotset window --list shows what there is";

std::string quoted(std::string_view what) {
  return fmt::format("'{}'", printable(what));
}

std::unexpected<Error> no_rights(std::string operation, std::string object) {
  return fail(ErrorCode::permission, std::move(operation), std::move(object),
              "the kernel shows loaded maps to CAP_SYS_ADMIN alone", rights_remedy());
}

using Types = std::unique_ptr<btf, decltype(&btf__free)>;

Types types_of(std::uint32_t btf_id) {
  return {btf_id == 0 ? nullptr : btf__load_from_kernel_by_id(btf_id), btf__free};
}

std::string structure_name(const btf& types, std::uint32_t id) {
  const btf_type* type = btf__type_by_id(&types, id);
  return type != nullptr && btf_is_struct(type) ? btf__name_by_offset(&types, type->name_off) : "";
}

// Calls `use` with each loaded map that may be seen.
template <class Use>
Result<> each_map(const Use& use) {
  for (std::uint32_t id = 0;;) {
    if (bpf_map_get_next_id(id, &id) != 0) {
      if (errno == ENOENT) return {};
      if (errno == EPERM) return no_rights("list", "the loaded maps");
      return fail(errno_error(errno, "list", "the loaded maps"));
    }
    Fd fd(bpf_map_get_fd_by_id(id));
    bool passed_over = !fd && (errno == ENOENT || errno == EPERM); // it has just gone, or is kept from us
    if (!fd && !passed_over) return fail(errno_error(errno, "open", fmt::format("map {}", id)));
    if (fd) use(std::move(fd), id);
  }
}

// Nothing in the map itself says so, but the map with the header is loaded from the same object: it has the same types.
// Invalid when there is none.
Result<Fd> find_meta(const WindowMap& window) {
  const std::string name = window.type.name + "_meta";
  Fd meta;
  HOTSET_CHECK(each_map([&](Fd map, std::uint32_t) {
    Result<bpf_map_info> info = map_info(map.get());
    if (!meta && info && info->btf_id == window.btf_id && name == info->name) meta = std::move(map);
  }));
  return meta;
}

// Where a path should be a pin and is none: a missing mount is the usual reason.
std::unexpected<Error> no_such_pin(const Files& files, const std::string& path) {
  Result<std::vector<Mount>> mounts = read_mounts(files);
  bool mounted = mounts && find_mount(*mounts, "bpf") != nullptr;
  if (!mounted)
    return fail(ErrorCode::not_found, "open the pin", printable(path), "no BPF file system is mounted",
                fmt::format("mount it ({}) and pin the map there", kMountCommand));
  return fail(ErrorCode::not_found, "open the pin", printable(path), "there is no such file", std::string(kSeeList));
}

bool is_map(const Fd& fd) {
  std::array<char, PATH_MAX> target{};
  ssize_t length = ::readlink(fmt::format("/proc/self/fd/{}", fd.get()).c_str(), target.data(), target.size());
  return length > 0 && std::string_view(target.data(), static_cast<std::size_t>(length)) == "anon_inode:bpf-map";
}

Result<WindowMap> open_pinned(const Files& files, const std::string& path) {
  Result<bool> holds_pins = in_bpf_file_system(path);
  if (!holds_pins && holds_pins.error().code == ErrorCode::not_found) return no_such_pin(files, path);
  if (!holds_pins) return fail(within("open the pin", printable(path), std::move(holds_pins).error()));
  if (!*holds_pins)
    return fail(ErrorCode::bad_data, "open the pin", printable(path), "it lies in no BPF file system, so it is no pin",
                "name a pinned map, or a window that hotset window --list shows");
  HOTSET_TRY(Fd fd, open_pin(path));
  if (!is_map(fd))
    return fail(ErrorCode::bad_data, "read as a window", printable(path), "it is the pin of a program or a link",
                "name the pin of the map");
  return open_window(std::move(fd), printable(path));
}

bool is_folder(const std::string& path) {
  struct stat entry{};
  return ::stat(path.c_str(), &entry) == 0 && S_ISDIR(entry.st_mode);
}

// A folder stands for the one window that is pinned in it. What can't be looked at might be another.
Result<WindowMap> open_folder(const Files& files, const std::string& path) {
  HOTSET_TRY(std::vector<std::string> names, files.list(path));
  std::vector<WindowMap> windows;
  std::vector<std::string> pins;
  std::optional<Error> incomplete; // a window that lacks something, or a pin that has just gone
  for (const std::string& name : names) {
    std::string pin = fmt::format("{}/{}", path, name);
    bool of_the_kernel = name.find('.') != std::string::npos; // as maps.debug is: nobody else's has a dot
    if (of_the_kernel || is_folder(pin)) continue;
    Result<WindowMap> window = open_pinned(files, pin);
    if (!window && window.error().code == ErrorCode::not_found) incomplete = window.error();
    if (!window && window.error().code != ErrorCode::not_found && window.error().code != ErrorCode::bad_data)
      return fail(within("choose a window in", printable(path), std::move(window).error()));
    if (!window || window->keyed()) continue;
    pins.push_back(printable(pin));
    windows.push_back(*std::move(window));
  }
  if (windows.empty() && incomplete) return fail(*std::move(incomplete));
  if (windows.empty())
    return fail(ErrorCode::not_found, "find a window in", printable(path), "no window is pinned there",
                std::string(kSeeList));
  if (windows.size() > 1)
    return fail(ErrorCode::usage, "choose a window in", printable(path),
                fmt::format("there are several: {}", fmt::join(pins, ", ")), "name one of them");
  return std::move(windows.front());
}

Result<WindowMap> open_id(std::uint32_t id) {
  Fd fd(bpf_map_get_fd_by_id(id));
  if (fd) return open_window(std::move(fd), fmt::format("map {}", id));
  if (errno == ENOENT)
    return fail(ErrorCode::not_found, "open", fmt::format("map {}", id), "no map of that number is loaded",
                std::string(kSeeList));
  if (errno == EPERM) return no_rights("open", fmt::format("map {}", id));
  return fail(errno_error(errno, "open", fmt::format("map {}", id)));
}

Result<WindowMap> open_name(std::string_view name) {
  std::vector<WindowMap> found;
  std::optional<Error> other;
  name = name.substr(0, BPF_OBJ_NAME_LEN - 1); // as the kernel cuts it
  HOTSET_CHECK(each_map([&](Fd fd, std::uint32_t id) {
    Result<bpf_map_info> info = map_info(fd.get());
    if (!info || name != info->name) return;
    Result<WindowMap> window = open_window(std::move(fd), fmt::format("map {}", id));
    if (window)
      found.push_back(*std::move(window));
    else
      other = std::move(window).error();
  }));
  if (found.size() == 1) return std::move(found.front());
  if (found.empty() && other) return fail(*std::move(other));
  if (found.empty())
    return fail(ErrorCode::not_found, "find the window", quoted(name), "no loaded map has that name",
                std::string(kSeeList));
  std::vector<std::uint32_t> ids;
  ids.reserve(found.size());
  for (const WindowMap& window : found)
    ids.push_back(window.id);
  return fail(ErrorCode::usage, "choose the window", quoted(name),
              fmt::format("maps {} all have that name", fmt::join(ids, ", ")), "name one by its number");
}

} // namespace

bool WindowMap::per_cpu() const {
  return is_per_cpu(kind);
}

bool WindowMap::array() const {
  return is_array(kind);
}

bool WindowMap::keyed() const {
  return !array() || (type.layout == WINDOW_STARTS && max_entries > 1);
}

Result<std::vector<MapKey>> WindowMap::keys() const {
  return map_keys(fd.get());
}

Result<WindowMap> open_window(Fd fd, std::string what) {
  Result<bpf_map_info> facts = map_info(fd.get());
  if (!facts) return fail(within("look at", std::move(what), std::move(facts).error()));
  const bpf_map_info& info = *facts;
  if (info.btf_id == 0)
    return fail(ErrorCode::bad_data, "read as a window", std::move(what), "the map has no type information (BTF)",
                "compile its program with clang -g, and load it with libbpf");
  Types types = types_of(info.btf_id);
  if (!types) return fail(errno_error(errno, "load the type information of", std::move(what)));
  std::optional<WindowType> type = window_type(*types, info.btf_value_type_id);
  if (!type)
    return fail(ErrorCode::bad_data, "read as a window", std::move(what),
                fmt::format("the values of map {} '{}' are not what WINDOW() of bpf/window.bpf.h declares", info.id,
                            printable(info.name)),
                std::string(kSeeList));
  WindowMap window{.type = *std::move(type),
                   .fd = std::move(fd),
                   .meta = {},
                   .id = info.id,
                   .name = info.name,
                   .kind = info.type,
                   .key_bytes = info.key_size,
                   .value_bytes = info.value_size,
                   .max_entries = info.max_entries,
                   .key_type = structure_name(*types, info.btf_key_type_id),
                   .btf_id = info.btf_id};
  if (window.type.layout != WINDOW_PUBLISHED) return window;
  Result<Fd> meta = find_meta(window);
  if (!meta) return fail(within("read as a window", std::move(what), std::move(meta).error()));
  if (!*meta)
    return fail(ErrorCode::not_found, "read as a window", std::move(what),
                fmt::format("its clock is in the map {}_meta, which is not loaded or not to be seen", window.type.name),
                "run its program");
  window.meta = *std::move(meta);
  return window;
}

Result<WindowMap> open_window(const Files& files, std::string_view what) {
  if (what.find('/') != std::string_view::npos) {
    std::string path(what);
    return is_folder(path) ? open_folder(files, path) : open_pinned(files, path);
  }
  if (what.find_first_not_of("0123456789") != std::string_view::npos) return open_name(what);
  std::optional<std::uint64_t> id = parse_u64(what);
  if (!id || *id == 0 || *id > UINT32_MAX)
    return fail(ErrorCode::usage, "open", fmt::format("map {}", quoted(what)), "it is no map's number",
                "give a number from hotset window --list");
  return open_id(static_cast<std::uint32_t>(*id));
}

Result<std::vector<WindowMap>> loaded_windows() {
  std::vector<WindowMap> windows;
  HOTSET_CHECK(each_map([&](Fd fd, std::uint32_t id) {
    Result<WindowMap> window = open_window(std::move(fd), fmt::format("map {}", id));
    if (window) windows.push_back(*std::move(window));
  }));
  return windows;
}

} // namespace hotset
