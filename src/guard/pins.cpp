// SPDX-License-Identifier: Apache-2.0
#include "guard/pins.h"

#include <bpf/bpf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <thread>
#include <utility>

#include "base/file.h"

namespace hotset {
namespace {

constexpr std::string_view kMount = "/sys/fs/bpf";
constexpr long kBpfMagic = 0xcafe4a11; // BPF_FS_MAGIC of linux/magic.h
constexpr std::string_view kState = "state", kWindow = "counters", kEventFolder = "events";

std::string top_folder() {
  return fmt::format("{}/hotset", kMount);
}

std::string pin(std::string_view name) {
  return fmt::format("{}/{}", guard_folder(), name);
}

std::string event_folder() {
  return pin(kEventFolder);
}

std::string event_pin() {
  return event_folder() + "/buffer";
}

void remove_pins() {
  for (const std::string& name : {pin(kState), pin(kWindow), event_pin()})
    ::unlink(name.c_str());
  ::rmdir(event_folder().c_str());
  ::rmdir(guard_folder().c_str());
  ::rmdir(top_folder().c_str()); // fails while others have something in it
}

Result<Fd> open_folder(const std::string& path) {
  Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return fail(errno_error(errno, "open", path));
  return folder;
}

Result<> make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return fail(errno_error(errno, "make the folder", path));
  return {};
}

// Somebody who asks for the status looks at the lock for a moment, so one refusal means nothing.
bool lock_for_long(const Fd& folder) {
  for (int tries = 0; tries < 50; ++tries) {
    if (::flock(folder.get(), LOCK_EX | LOCK_NB) == 0) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

Result<> pin_map(int fd, const std::string& path) {
  if (bpf_obj_pin(fd, path.c_str()) != 0) return fail(errno_error(errno, "pin", path));
  return {};
}

Result<Fd> open_pin(const std::string& path) {
  Fd map(bpf_obj_get(path.c_str()));
  if (!map) return fail(errno_error(errno, "open the pin", path));
  return map;
}

// Whether the folder is still there: an agent that ended meanwhile removes it, and a lock on what was removed is none.
bool still_there(const Fd& folder, const std::string& path) {
  struct stat locked{}, named{};
  return ::fstat(folder.get(), &locked) == 0 && ::stat(path.c_str(), &named) == 0 && locked.st_dev == named.st_dev &&
         locked.st_ino == named.st_ino;
}

// Who removes the folders meanwhile makes a step fail, or what was locked be gone; then all begins anew.
Result<Fd> lock_folder() {
  for (int tries = 1;; ++tries) {
    bool last = tries == 10;
    HOTSET_CHECK(make_folder(top_folder()));
    Result<> made = make_folder(guard_folder());
    Result<Fd> folder = made ? open_folder(guard_folder()) : fail(std::move(made).error());
    if (!folder && (last || folder.error().code != ErrorCode::not_found)) return folder;
    if (!folder) continue;
    if (last || !lock_for_long(*folder))
      return fail(ErrorCode::internal, "hold a policy", "", "another hotset policy run holds one",
                  "end it, or make it read its file again (kill -HUP)");
    if (still_there(*folder, guard_folder())) return folder;
  }
}

std::unexpected<Error> none_held(std::string cause) {
  return fail(ErrorCode::not_found, "find", "a policy that is held", std::move(cause),
              "start one with hotset policy run FILE");
}

Result<> look_for_agent() {
  struct statfs mount{};
  if (::statfs(std::string(kMount).c_str(), &mount) != 0 || mount.f_type != kBpfMagic)
    return fail(ErrorCode::not_found, "find", "a policy that is held",
                fmt::format("no BPF file system is mounted at {}, where it would be shown", kMount),
                fmt::format("mount -t bpf bpf {}, then start hotset policy run anew", kMount));
  Result<Fd> folder = open_folder(guard_folder());
  if (!folder && folder.error().code == ErrorCode::not_found) return none_held("hotset policy run is not running");
  if (!folder) return fail(std::move(folder).error());
  if (::flock(folder->get(), LOCK_SH | LOCK_NB) != 0) return {};
  return none_held("hotset policy run was killed, and nothing is denied any more");
}

} // namespace

std::string guard_folder() {
  return fmt::format("{}/policy-{}", top_folder(), GUARD_STATE_VERSION);
}

Result<GuardPins> GuardPins::reserve() {
  struct statfs mount{};
  if (::statfs(std::string(kMount).c_str(), &mount) != 0 || mount.f_type != kBpfMagic)
    return fail(ErrorCode::unsupported, "show the policy to hotset policy status, stats and events", "",
                fmt::format("no BPF file system is mounted at {}", kMount),
                fmt::format("mount -t bpf bpf {}, and start again", kMount));
  HOTSET_TRY(Fd folder, lock_folder());
  for (const std::string& left : {pin(kState), pin(kWindow), event_pin()})
    ::unlink(left.c_str());
  return GuardPins(std::move(folder));
}

Result<> GuardPins::show(const Guard& guard) {
  HOTSET_CHECK(make_folder(event_folder()));
  HOTSET_CHECK(pin_map(guard.state_fd(), pin(kState)));
  HOTSET_CHECK(pin_map(guard.window_fd(), pin(kWindow)));
  return pin_map(guard.events_fd(), event_pin());
}

GuardPins::~GuardPins() {
  if (folder_) remove_pins();
}

Result<GuardStatus> read_pinned_status() {
  HOTSET_TRY(Fd map, open_pin(pin(kState)));
  return read_guard_status(map.get());
}

Result<PinnedGuard> open_pinned_guard() {
  HOTSET_CHECK(look_for_agent());
  PinnedGuard guard;
  HOTSET_TRY(guard.status, read_pinned_status());
  HOTSET_TRY(guard.window, open_pin(pin(kWindow)));
  return guard;
}

Result<PinnedEvents> open_pinned_events() {
  HOTSET_CHECK(look_for_agent());
  PinnedEvents events;
  HOTSET_TRY(events.lock, open_folder(event_folder()));
  if (::flock(events.lock.get(), LOCK_EX | LOCK_NB) != 0)
    return fail(ErrorCode::internal, "read", "the events of the policy",
                "another reads them, and each goes to one reader", "end the other hotset policy events");
  HOTSET_TRY(events.buffer, open_pin(event_pin()));
  return events;
}

} // namespace hotset
