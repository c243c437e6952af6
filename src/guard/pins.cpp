// SPDX-License-Identifier: Apache-2.0
#include "guard/pins.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <thread>
#include <utility>

#include "kernel/pins.h"

namespace hotset {
namespace {

constexpr std::string_view kState = "state", kWindow = "counters", kEventFolder = "events";

std::string top_folder() {
  return fmt::format("{}/hotset", kPinMount);
}

std::string path_of(std::string_view name) {
  return fmt::format("{}/{}", guard_folder(), name);
}

std::string event_folder() {
  return path_of(kEventFolder);
}

std::string event_pin() {
  return event_folder() + "/buffer";
}

void remove_pins() {
  unpin(guard_folder());
  ::rmdir(top_folder().c_str()); // fails while others have something in it
}

Result<Fd> open_folder(const std::string& path) {
  Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return fail(errno_error(errno, "open", path));
  return folder;
}

// `kind`: LOCK_EX or LOCK_SH. False when another has it.
Result<bool> try_lock(const Fd& folder, int kind, const std::string& path) {
  if (::flock(folder.get(), kind | LOCK_NB) == 0) return true;
  if (errno == EWOULDBLOCK) return false;
  return fail(errno_error(errno, "lock", path));
}

// Somebody who asks for the status looks at the lock for a moment, so one refusal means nothing.
Result<> lock_for_long(const Fd& folder) {
  for (int tries = 0; tries < 50; ++tries) {
    HOTSET_TRY(bool locked, try_lock(folder, LOCK_EX, guard_folder()));
    if (locked) return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return fail(ErrorCode::permission, "hold a policy", "", "another hotset policy run holds one",
              "end it, or make it read its file again (kill -HUP)");
}

Result<Fd> make_and_open_folder() {
  HOTSET_CHECK(make_pin_folder(top_folder()));
  HOTSET_CHECK(make_pin_folder(guard_folder()));
  return open_folder(guard_folder());
}

// Whether the folder is still there: an agent that ended meanwhile removes it, and a lock on what was removed is none.
bool still_there(const Fd& folder, const std::string& path) {
  struct stat locked{}, named{};
  return ::fstat(folder.get(), &locked) == 0 && ::stat(path.c_str(), &named) == 0 && locked.st_dev == named.st_dev &&
         locked.st_ino == named.st_ino;
}

// Who removes the folders meanwhile makes a step fail, or what was locked be gone; then all begins anew.
Result<Fd> lock_folder() {
  for (int tries = 0; tries < 10; ++tries) {
    Result<Fd> folder = make_and_open_folder();
    if (!folder && folder.error().code == ErrorCode::not_found) continue;
    if (!folder) return folder;
    HOTSET_CHECK(lock_for_long(*folder));
    if (still_there(*folder, guard_folder())) return folder;
  }
  return fail(ErrorCode::permission, "take", guard_folder(), "others that start and end remove it again and again",
              "try again");
}

Result<bool> can_show() {
  Result<bool> mounted = in_bpf_file_system(std::string(kPinMount));
  if (!mounted && mounted.error().code == ErrorCode::not_found) return false;
  return mounted;
}

std::unexpected<Error> none_held(std::string cause) {
  return fail(ErrorCode::not_found, "find", "a policy that is held", std::move(cause),
              "start one with hotset policy run FILE");
}

// Its folder.
Result<Fd> find_agent() {
  HOTSET_TRY(bool mounted, can_show());
  if (!mounted)
    return fail(ErrorCode::not_found, "find", "a policy that is held",
                fmt::format("no BPF file system is mounted at {}, where it would be shown", kPinMount),
                fmt::format("{}, then start hotset policy run anew", kMountCommand));
  Result<Fd> folder = open_folder(guard_folder());
  if (!folder && folder.error().code == ErrorCode::not_found) return none_held("hotset policy run is not running");
  if (!folder) return fail(std::move(folder).error());
  HOTSET_TRY(bool runs, agent_runs(*folder));
  if (runs) return folder;
  return none_held("hotset policy run was killed, and nothing is denied any more");
}

} // namespace

std::string guard_folder() {
  return fmt::format("{}/policy-{}", top_folder(), GUARD_STATE_VERSION);
}

Result<GuardPins> GuardPins::reserve() {
  HOTSET_TRY(bool mounted, can_show());
  if (!mounted)
    return fail(ErrorCode::unsupported, "show the policy to hotset policy status, stats and events", "",
                fmt::format("no BPF file system is mounted at {}", kPinMount),
                fmt::format("{}, and start again", kMountCommand));
  HOTSET_TRY(Fd folder, lock_folder());
  for (const std::string& left : {path_of(kState), path_of(kWindow), event_folder()})
    unpin(left);
  return GuardPins(std::move(folder));
}

Result<> GuardPins::show(const Guard& guard) {
  HOTSET_CHECK(make_pin_folder(event_folder()));
  HOTSET_CHECK(pin(guard.state_fd(), path_of(kState)));
  HOTSET_CHECK(pin(guard.window_fd(), path_of(kWindow)));
  return pin(guard.events_fd(), event_pin());
}

GuardPins::~GuardPins() {
  if (folder_) remove_pins();
}

Result<bool> agent_runs(const Fd& folder) {
  HOTSET_TRY(bool abandoned, try_lock(folder, LOCK_SH, guard_folder()));
  if (abandoned) ::flock(folder.get(), LOCK_UN); // or the next agent could not take it
  return !abandoned;
}

Result<PinnedGuard> open_pinned_guard() {
  HOTSET_TRY([[maybe_unused]] Fd agent, find_agent());
  HOTSET_TRY(Fd state, open_pin(path_of(kState)));
  PinnedGuard guard;
  HOTSET_TRY(guard.status, read_guard_status(state.get()));
  HOTSET_TRY(guard.window, open_pin(path_of(kWindow)));
  return guard;
}

Result<PinnedEvents> open_pinned_events() {
  PinnedEvents events;
  HOTSET_TRY(events.agent, find_agent());
  HOTSET_TRY(events.lock, open_folder(event_folder()));
  HOTSET_TRY(bool alone, try_lock(events.lock, LOCK_EX, event_folder()));
  if (!alone)
    return fail(ErrorCode::permission, "read", "the events of the policy",
                "another reads them, and each goes to one reader", "end the other hotset policy events");
  HOTSET_TRY(events.buffer, open_pin(event_pin()));
  HOTSET_TRY(events.state, open_pin(path_of(kState)));
  return events;
}

} // namespace hotset
