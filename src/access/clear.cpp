// SPDX-License-Identifier: Apache-2.0
#include "access/clear.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <optional>
#include <string_view>

#include "base/units.h"

namespace hotset {
namespace {

// Below UIO_MAXIOV: some kernels hold the target's mmap lock for reading over a whole batch, and a writer waits for it.
constexpr std::size_t kBatch = 256;
// The kernel does no more than 2 GiB in one call, and says nothing of the rest (MAX_RW_COUNT).
constexpr std::uint64_t kMostPages = std::uint64_t{1} << 18; // 1 GiB
// Those of a turn: some 0.2 ms.
constexpr std::size_t kTurnRuns = 96;
constexpr std::uint64_t kTurnPages = 1024;
constexpr Nanoseconds kTurn = std::chrono::microseconds(100); // after this much there is no second call

// The ranges of one call. A run that has no room in it waits for the next: what is flushed depends on how far apart the
// pages of one range are, and half a huge page would be split. One that no call has room for is cut where no huge page
// can lie across. `done`: pages of the first run that were done before.
std::size_t fill(std::span<iovec, kBatch> ranges, std::span<const Run> runs, std::uint64_t done, Pace pace) {
  const bool turns = pace == Pace::in_turns;
  const std::size_t most = std::min(runs.size(), turns ? kTurnRuns : kBatch);
  std::uint64_t room = turns ? kTurnPages : kMostPages;
  std::size_t count = 0;
  for (; count < most; ++count, done = 0) {
    const std::uint64_t from = runs[count].address + done * 4096;
    std::uint64_t pages = runs[count].pages - done;
    if (pages > room && count > 0) break;
    if (pages > room) pages = ((from + room * 4096) / kTableBytes * kTableBytes - from) / 4096;
    ranges[count] = {reinterpret_cast<void*>(from), pages * 4096};
    room -= pages;
    if (done + pages < runs[count].pages) return count + 1;
  }
  return count;
}

// Sleeps for as long as this turn took, if it is over; when the next one began.
Nanoseconds take_turns(Nanoseconds turn_began) {
  const Nanoseconds took = own_cpu_time() - turn_began;
  if (took < kTurn) return turn_began;
  const timespec pause{.tv_sec = took / std::chrono::seconds(1),
                       .tv_nsec = static_cast<long>((took % std::chrono::seconds(1)).count())};
  ::nanosleep(&pause, nullptr); // a signal may cut it short
  return own_cpu_time();
}

Error refused(int error) {
  constexpr std::string_view kAction = "clear the Accessed bits of";
  if (error == ESRCH) return {ErrorCode::gone, std::string(kAction), "the target", "it ended", {}};
  if (error == EPERM)
    return {ErrorCode::permission, std::string(kAction), "the target",
            "process_madvise(2) is refused, which needs CAP_SYS_NICE and no seccomp filter in its way",
            "run as root with all capabilities"};
  return errno_error(error, std::string(kAction), "the target");
}

std::uint64_t flush_pages(const Files& files) {
  const Result<std::string> text = files.read("/sys/kernel/debug/x86/tlb_single_page_flush_ceiling");
  if (!text) return kFlushPages;
  const std::optional<std::uint64_t> ceiling = parse_u64(std::string_view(*text).substr(0, text->find('\n')));
  constexpr std::uint64_t kNever = std::uint64_t{1} << 32; // pages: more than any run has
  return std::clamp(std::min(ceiling.value_or(0), kNever - 1) + 1, kFlushPages, kNever);
}

bool stops_at_folios(const Files& files) {
  const std::string text = files.read("/proc/sys/kernel/osrelease").value_or("");
  const std::size_t dot = text.find('.');
  const std::size_t end = text.find_first_not_of("0123456789", dot + 1);
  if (dot == std::string::npos) return true;
  const std::string_view release = text;
  const std::optional<std::uint64_t> major = parse_u64(release.substr(0, dot));
  const std::optional<std::uint64_t> minor = parse_u64(release.substr(dot + 1, end - dot - 1));
  return !major || !minor || std::pair(*major, *minor) < std::pair<std::uint64_t, std::uint64_t>(6, 10);
}

} // namespace

AgeTraits age_traits(const Files& files) {
  return {.flush_pages = flush_pages(files), .stops_at_folios = stops_at_folios(files)};
}

Result<> may_age(int pidfd) {
  // Of nothing: the rights are looked at all the same.
  iovec none{};
  if (::syscall(SYS_process_madvise, pidfd, &none, 0, MADV_COLD, 0) >= 0) return {};
  return fail(refused(errno));
}

Result<ClearReport> age_runs(int pidfd, std::span<const Run> runs, Pace pace) {
  ClearReport report;
  const Nanoseconds begin = own_cpu_time();
  Nanoseconds turn = begin;
  std::array<iovec, kBatch> ranges{};
  std::uint64_t part = 0; // pages of the first run that were done already
  while (!runs.empty()) {
    if (pace == Pace::in_turns) turn = take_turns(turn);
    const std::size_t batch = fill(ranges, runs, part, pace);
    long advised = ::syscall(SYS_process_madvise, pidfd, ranges.data(), batch, MADV_COLD, 0);
    if (advised < 0 && errno == EINTR) continue;
    if (advised < 0 && errno != EINVAL && errno != ENOMEM) return fail(refused(errno));
    // The kernel stops at the first range it refuses and says how many bytes it did before.
    auto left = static_cast<std::uint64_t>(std::max(advised, 0L));
    std::size_t done = 0; // ranges
    bool goes_on = false; // the last of them is done, but not all of its run
    for (; !goes_on && done < batch && left >= ranges[done].iov_len; ++done) {
      left -= ranges[done].iov_len;
      const std::uint64_t pages = ranges[done].iov_len / 4096;
      report.pages += pages;
      part += pages;
      goes_on = part < runs[done].pages;
      if (goes_on) continue;
      ++report.runs;
      part = 0;
    }
    if (goes_on) {
      --done;
    } else if (done < batch) {
      ++report.refused;
      ++done;
      part = 0;
    }
    runs = runs.subspan(done);
  }
  report.took = own_cpu_time() - begin;
  return report;
}

Result<ScopedClear> ScopedClear::open(pid_t pid) {
  ScopedClear scoped;
  const std::string path = fmt::format("/proc/{}/clear_refs", pid);
  scoped.fd_ = Fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!scoped.fd_) return fail(errno_error(errno, "open", path));
  return scoped;
}

Result<Nanoseconds> ScopedClear::clear(Scope scope) {
  const Nanoseconds begin = own_cpu_time();
  const char text = static_cast<char>(scope);
  ssize_t wrote = ::pwrite(fd_.get(), &text, 1, 0);
  if (wrote < 0 && errno == ESRCH) return fail(ErrorCode::gone, "clear the Accessed bits of", "the target", "it ended");
  if (wrote != 1) return fail(errno_error(errno, "write", "/proc/PID/clear_refs"));
  return own_cpu_time() - begin;
}

} // namespace hotset
