// SPDX-License-Identifier: Apache-2.0
// Which process: a pid together with its start time, for a pid alone is used again.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace hotset {

struct ProcessId {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0; // field 22 of /proc/PID/stat: clock ticks (1/100 s) since boot

  friend bool operator==(const ProcessId&, const ProcessId&) = default;
};

struct Process {
  ProcessId id;
  std::string comm;    // as the kernel has it, at most 15 bytes of anything; print with printable()
  pid_t requested = 0; // what the user named: differs from id.pid when that was a thread id
};

// The fields of /proc/PID/stat that we use.
struct ProcessStat {
  pid_t pid = 0;
  std::string comm;
  char state = '?';
  pid_t parent = 0;
  pid_t session = 0;                    // the pid of the process that began it; 0 for kernel threads
  std::uint64_t flags = 0;              // PF_KTHREAD is 0x00200000
  std::uint64_t minor_faults = 0;       // of the whole process, all threads, ended ones included
  std::uint64_t child_minor_faults = 0; // of children that ended and were waited for, and of theirs
  std::uint64_t major_faults = 0;
  std::uint64_t user_ticks = 0, system_ticks = 0;
  std::uint64_t threads = 0; // a zombie that still counts others has lost its main thread only
  std::uint64_t start_ticks = 0;
  std::uint64_t rss_pages = 0;
};

// comm may hold blanks, parentheses and line feeds: it ends at the last ')'.
Result<ProcessStat> parse_process_stat(std::string_view text);
Result<ProcessStat> read_process_stat(const Files& files, pid_t pid);
// Neither a kernel thread nor a zombie.
bool has_memory(const ProcessStat& stat);

// Whether /proc shows the processes of our own PID namespace: to the kernel's calls a number of another's is another
// process. True of a /proc that is not mounted, of which others complain. Errors: unsupported.
Result<> check_proc(const Files& files);
// The inode of our PID namespace, 0 when it is the initial one, in which the kernel's own numbers are right.
std::uint32_t nested_pid_namespace();

// The process of this pid or thread id, if it has memory of its own to measure. Pids are those of the PID namespace
// that /proc was mounted in, which has to be ours. Errors: not_found (no such pid), permission (hidden by /proc's
// hidepid), not_applicable (a kernel thread or a zombie, said which), unsupported (no /proc, or another namespace's).
Result<Process> find_process(const Files& files, pid_t pid);
// Every process with memory of its own whose comm is `name` (compared after the kernel's cut at 15 bytes), by pid; we
// ourselves left out. Empty when there is none; not_applicable when all that bear the name are kernel threads or
// zombies.
Result<std::vector<Process>> find_processes(const Files& files, std::string_view name);
// False once the process ended, became a zombie, or its pid was given to another.
bool is_alive(const Files& files, const ProcessId& id);
// True when it has a child now, or had one that it waited for. A zombie still knows of those.
bool has_had_children(const Files& files, const ProcessId& id);

} // namespace hotset
