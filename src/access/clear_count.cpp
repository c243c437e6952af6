// SPDX-License-Identifier: Apache-2.0
#include "access/clear_count.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>

#include "base/fd.h"

namespace hotset {
namespace {

constexpr const char* kFolder = "/run/hotset";
constexpr std::size_t kProcesses = std::size_t{1} << 22;           // PID_MAX_LIMIT
constexpr std::size_t kBytes = kProcesses * sizeof(std::uint32_t); // of which only pages that are written to exist

using Counter = std::atomic<std::uint32_t>;
static_assert(Counter::is_always_lock_free);

// Null where it is not ours: others could cut it short, and that is SIGBUS.
Counter* map_counters() {
  ::mkdir(kFolder, 0700);
  const Fd folder(::open(kFolder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status{};
  if (!folder || ::fstat(folder.get(), &status) != 0 || status.st_uid != 0 || (status.st_mode & 022) != 0)
    return nullptr;
  const Fd file(::openat(folder.get(), "clears", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file || ::fstat(file.get(), &status) != 0 || status.st_uid != 0 || !S_ISREG(status.st_mode)) return nullptr;
  if (static_cast<std::size_t>(status.st_size) < kBytes && ::ftruncate(file.get(), kBytes) != 0) return nullptr;
  void* base = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  return base == MAP_FAILED ? nullptr : static_cast<Counter*>(base);
}

Counter* counter_of(pid_t pid) {
  static Counter* const counters = map_counters();
  return counters && pid > 0 && static_cast<std::size_t>(pid) < kProcesses ? counters + pid : nullptr;
}

} // namespace

std::uint32_t count_clear(pid_t pid) {
  Counter* counter = counter_of(pid);
  if (!counter) return 0;
  const std::uint32_t number = counter->fetch_add(1) + 1;
  return number == 0 ? counter->fetch_add(1) + 1 : number; // round once: 0 means none
}

std::uint32_t clears_of(pid_t pid) {
  const Counter* counter = counter_of(pid);
  return counter ? counter->load() : 0;
}

} // namespace hotset
