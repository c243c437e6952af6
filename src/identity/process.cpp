// SPDX-License-Identifier: Apache-2.0
// What /proc says about a process. Everything here is read through Files, so that a test can show it any process there
// ever was: odd names, zombies, kernel threads, files that vanish between two reads.
#include "identity/process.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <limits>
#include <optional>

#include "base/units.h"

namespace hotset {
namespace {

constexpr std::uint64_t kKernelThreadFlag = 0x00200000; // PF_KTHREAD, include/linux/sched.h
// PROC_PID_INIT_INO of the kernel's proc_ns.h, the same on every kernel.
constexpr ino_t kInitialPidNamespace = 0xEFFFFFFC;
constexpr std::size_t kCommBytes = 15; // TASK_COMM_LEN without its zero

std::string proc_path(pid_t pid, std::string_view file) {
  return fmt::format("/proc/{}/{}", pid, file);
}

std::string name_of(pid_t pid) {
  return fmt::format("process {}", pid);
}

bool ended(const ProcessStat& stat) {
  return stat.state == 'Z' || stat.state == 'X' || stat.state == 'x';
}

// The numbers behind the name: field 4 is the first.
struct StatFields {
  std::array<std::uint64_t, 21> values{};

  [[nodiscard]] std::uint64_t field(std::size_t number) const { return values[number - 4]; }
};

std::optional<StatFields> parse_fields(std::string_view text) {
  StatFields fields;
  for (std::uint64_t& value : fields.values) {
    std::size_t start = text.find_first_not_of(' ');
    if (start == std::string_view::npos) return std::nullopt;
    text.remove_prefix(start);
    std::string_view word = text.substr(0, text.find_first_of(" \n"));
    text.remove_prefix(word.size());
    // Only tty_nr, tpgid, priority, nice and rss can be negative; of those we use rss, and below zero it is none.
    bool negative = word.starts_with('-');
    std::optional<std::uint64_t> number = parse_u64(negative ? word.substr(1) : word);
    if (!number) return std::nullopt;
    value = negative ? 0 : *number;
  }
  return fields;
}

// A file of a process that is no more fails with ENOENT when it is opened and with ESRCH when it is read.
Error no_such_process(const Files& files, pid_t pid) {
  Error error{ErrorCode::not_found, "find", name_of(pid), "there is no such process", ""};
  if (!files.exists("/proc/self") && files.resolve("").empty()) {
    error.code = ErrorCode::unsupported;
    error.cause = "/proc is not mounted";
    error.remedy = "mount it: mount -t proc proc /proc";
  } else if (files.resolve("").empty() && ::kill(pid, 0) != 0 && errno == EPERM) {
    error.code = ErrorCode::permission;
    error.cause = "it belongs to another user and /proc hides it (hidepid)";
    error.remedy = "run as root";
  }
  return error;
}

// The process that a thread belongs to. `status` escapes line feeds in the name, so a line's start can be trusted.
Result<pid_t> thread_group(const Files& files, pid_t pid) {
  constexpr std::string_view kKey = "\nTgid:\t";
  HOTSET_TRY(std::string status, files.read(proc_path(pid, "status")));
  std::size_t key = status.find(kKey);
  if (key != std::string::npos) {
    std::string_view rest = std::string_view(status).substr(key + kKey.size());
    std::optional<std::uint64_t> tgid = parse_u64(rest.substr(0, rest.find('\n')));
    if (tgid && *tgid > 0) return static_cast<pid_t>(*tgid);
  }
  return fail(ErrorCode::bad_data, "read", files.resolve(proc_path(pid, "status")), "it names no thread group");
}

std::optional<Error> why_not_measurable(const ProcessStat& stat) {
  Error error{ErrorCode::not_applicable, "measure", fmt::format("{} ({})", name_of(stat.pid), printable(stat.comm)), "",
              ""};
  if ((stat.flags & kKernelThreadFlag) != 0) {
    error.cause = "it is a kernel thread, which has no memory of its own";
  } else if (ended(stat)) {
    error.cause = stat.threads > 1
                      ? "its main thread has ended, and the kernel shows the memory of a process through that thread"
                      : "it has ended and is a zombie, which has no memory any more";
  } else {
    return std::nullopt;
  }
  return error;
}

} // namespace

Result<ProcessStat> parse_process_stat(std::string_view text) {
  auto malformed = [](std::string_view what) {
    return fail(ErrorCode::bad_data, "read", "the stat file of a process", std::string(what));
  };
  std::size_t open = text.find(" (");
  std::size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open + 2)
    return malformed("it holds no name in parentheses");
  std::optional<std::uint64_t> pid = parse_u64(text.substr(0, open));
  if (!pid || *pid == 0 || *pid > static_cast<std::uint64_t>(std::numeric_limits<pid_t>::max()))
    return malformed("it does not start with a pid");
  if (text.size() < close + 3 || text[close + 1] != ' ') return malformed("it ends after the name");
  std::optional<StatFields> fields = parse_fields(text.substr(close + 3));
  if (!fields) return malformed("a field is missing or is not a number");
  return ProcessStat{.pid = static_cast<pid_t>(*pid),
                     .comm = std::string(text.substr(open + 2, close - open - 2)),
                     .state = text[close + 2],
                     .parent = static_cast<pid_t>(fields->field(4)),
                     .session = static_cast<pid_t>(fields->field(6)),
                     .flags = fields->field(9),
                     .minor_faults = fields->field(10),
                     .child_minor_faults = fields->field(11),
                     .major_faults = fields->field(12),
                     .user_ticks = fields->field(14),
                     .system_ticks = fields->field(15),
                     .threads = fields->field(20),
                     .start_ticks = fields->field(22),
                     .rss_pages = fields->field(24)};
}

Result<ProcessStat> read_process_stat(const Files& files, pid_t pid) {
  Result<std::string> text = files.read(proc_path(pid, "stat"));
  if (!text) {
    if (text.error().code == ErrorCode::not_found) return fail(no_such_process(files, pid));
    return fail(within("look at", name_of(pid), std::move(text).error()));
  }
  return parse_process_stat(*text);
}

bool has_memory(const ProcessStat& stat) {
  return !why_not_measurable(stat);
}

Result<> check_proc(const Files& files) {
  std::array<char, 32> link{};
  const ssize_t length = ::readlink(files.resolve("/proc/self").c_str(), link.data(), link.size());
  if (length < 0 && !files.exists("/proc/version")) return {};
  const std::string_view shown(link.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
  if (parse_u64(shown) == static_cast<std::uint64_t>(::getpid())) return {};
  return fail(ErrorCode::unsupported, "tell processes apart", "", "/proc is not that of this PID namespace",
              "mount it: mount -t proc proc /proc");
}

std::uint32_t nested_pid_namespace() {
  struct stat own{};
  if (::stat("/proc/self/ns/pid", &own) != 0 || own.st_ino == kInitialPidNamespace) return 0;
  return static_cast<std::uint32_t>(own.st_ino);
}

Result<Process> find_process(const Files& files, pid_t pid) {
  HOTSET_CHECK(check_proc(files));
  HOTSET_TRY(ProcessStat stat, read_process_stat(files, pid));
  Result<pid_t> group = thread_group(files, pid);
  if (!group) {
    if (group.error().code == ErrorCode::not_found) return fail(no_such_process(files, pid));
    return fail(std::move(group).error());
  }
  if (*group != pid) {
    HOTSET_TRY(stat, read_process_stat(files, *group));
  }
  if (std::optional<Error> error = why_not_measurable(stat)) return fail(*std::move(error));
  return Process{.id = {*group, stat.start_ticks}, .comm = std::move(stat.comm), .requested = pid};
}

Result<std::vector<Process>> find_processes(const Files& files, std::string_view name) {
  HOTSET_CHECK(check_proc(files));
  std::string_view wanted = name.substr(0, kCommBytes);
  HOTSET_TRY(std::vector<std::string> entries, files.list("/proc"));
  std::vector<Process> found;
  std::optional<Error> unfit;
  for (const std::string& entry : entries) {
    std::optional<std::uint64_t> pid = parse_u64(entry);
    if (!pid || static_cast<pid_t>(*pid) == ::getpid()) continue;
    Result<ProcessStat> stat = read_process_stat(files, static_cast<pid_t>(*pid));
    if (!stat || stat->comm != wanted) continue; // one that ended meanwhile bears no name any more
    if (std::optional<Error> error = why_not_measurable(*stat)) {
      unfit = std::move(error);
    } else {
      found.push_back({.id = {stat->pid, stat->start_ticks}, .comm = std::move(stat->comm), .requested = stat->pid});
    }
  }
  if (found.empty() && unfit) return fail(*std::move(unfit));
  std::ranges::sort(found, {}, [](const Process& process) { return process.id.pid; });
  return found;
}

bool is_alive(const Files& files, const ProcessId& id) {
  Result<ProcessStat> stat = read_process_stat(files, id.pid);
  return stat && stat->start_ticks == id.start_ticks && (!ended(*stat) || stat->threads > 1);
}

bool has_had_children(const Files& files, const ProcessId& id) {
  Result<ProcessStat> own = read_process_stat(files, id.pid);
  if (!own || own->start_ticks != id.start_ticks) return false;
  if (own->child_minor_faults > 0) return true; // no process starts without a page fault
  Result<std::vector<std::string>> entries = files.list("/proc");
  return entries && std::ranges::any_of(*entries, [&](const std::string& entry) {
           std::optional<std::uint64_t> pid = parse_u64(entry);
           if (!pid) return false;
           Result<ProcessStat> stat = read_process_stat(files, static_cast<pid_t>(*pid));
           return stat && stat->parent == id.pid;
         });
}

} // namespace hotset
