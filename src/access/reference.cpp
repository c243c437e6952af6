// SPDX-License-Identifier: Apache-2.0
// The I/O of the reference measurement.
//
// A process that has ended shows in several ways: its folder loses its files (ENOENT), a read or write of a file that
// was open fails (ESRCH), smaps is empty (a zombie), and clear_refs takes the text and does nothing (a zombie as well).
// All become ErrorCode::gone; the last one at the next read.
#include "access/reference.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <array>
#include <cerrno>

#include "access/clear_count.h"

namespace hotset {
namespace {

constexpr std::size_t kSmapsBytes = std::size_t{1} << 30; // 600,000 mappings with all their lines

std::unexpected<Error> has_ended(std::string_view operation, const std::string& object) {
  return fail(ErrorCode::gone, std::string(operation), object, "the process has ended",
              "choose a shorter window, or a process that lives longer");
}

} // namespace

Result<Reference> Reference::open(const Files& files, const ProcessId& id, Clock& clock) {
  std::string path = files.resolve(fmt::format("/proc/{}", id.pid));
  Reference reference(clock, id.pid, Fd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)),
                      fmt::format("process {}", id.pid));
  // Only now that the folder is held can it be told that it is the right one and stays it.
  if (!reference.folder_ || !is_alive(files, id)) return has_ended("measure", reference.object_);
  Result<Fd> source = reference.open_file(reference.source_, O_RDONLY, "read the memory of");
  if (!source && source.error().code == ErrorCode::unsupported) {
    reference.source_ = "smaps";
    source = reference.open_file(reference.source_, O_RDONLY, "read the memory of");
  }
  if (!source) return fail(std::move(source).error());
  return reference;
}

Result<Fd> Reference::open_file(const char* name, int flags, std::string_view operation) const {
  Fd file(::openat(folder_.get(), name, flags | O_CLOEXEC));
  if (file) return file;
  int error = errno;
  bool there = ::faccessat(folder_.get(), "stat", F_OK, 0) == 0;
  if (error == ESRCH || (error == ENOENT && !there)) return has_ended(operation, object_);
  if (error == ENOENT)
    return fail(ErrorCode::unsupported, std::string(operation), object_,
                fmt::format("this kernel has no /proc/PID/{}", name),
                "use another --method, or a kernel with CONFIG_PROC_PAGE_MONITOR");
  if (error == EACCES || error == EPERM)
    return fail(ErrorCode::permission, std::string(operation), object_,
                "it belongs to another user or is protected, and we may not look into it",
                "run as root, or as its user");
  return fail(errno_error(error, std::string(operation), object_));
}

Result<> Reference::reset() {
  constexpr std::string_view kAction = "reset the referenced bits of";
  Nanoseconds cpu = own_cpu_time();
  HOTSET_TRY(Fd file, open_file("clear_refs", O_WRONLY, kAction));
  count_clear(pid_);
  Nanoseconds start = clock_->now();
  ssize_t written = ::write(file.get(), "1", 1);
  int error = errno;
  if (written != 1 && error == ESRCH) return has_ended(kAction, object_);
  if (written != 1) return fail(errno_error(error, std::string(kAction), object_));
  reset_at_ = clock_->now();
  reset_time_ = *reset_at_ - start;
  reset_stall_ += reset_time_;
  reset_cpu_ += own_cpu_time() - cpu;
  return {};
}

Result<std::string> Reference::read_source() const {
  constexpr std::string_view kAction = "read the memory of";
  HOTSET_TRY(Fd file, open_file(source_, O_RDONLY, kAction));
  Result<std::string> text = read_all(file.get(), object_, kSmapsBytes);
  if ((text && text->empty()) || (!text && text.error().code == ErrorCode::not_found))
    return has_ended(kAction, object_);
  return text;
}

Result<ReferenceReading> Reference::read() {
  Nanoseconds cpu = own_cpu_time();
  Nanoseconds start = clock_->now();
  HOTSET_TRY(std::string text, read_source());
  Nanoseconds end = clock_->now();
  Result<MemoryTotals> totals = parse_smaps(text);
  if (!totals) return fail(within("read the memory of", object_, std::move(totals).error()));
  ReferenceReading reading{.totals = *totals,
                           .window = reset_at_ ? start - *reset_at_ : Nanoseconds::zero(),
                           .reset_time = reset_time_,
                           .read_time = end - start,
                           .stall = std::exchange(reset_stall_, {}) + (end - start),
                           .cpu = std::exchange(reset_cpu_, {}) + (own_cpu_time() - cpu)};
  return reading;
}

} // namespace hotset
