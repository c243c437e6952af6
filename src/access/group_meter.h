// SPDX-License-Identifier: Apache-2.0
// Measures the working set of several processes as one, window by window, while processes come and go.
//
// Each process is an address space of one tracker: its addresses are moved to a stretch of 128 TiB of their own. So the
// group has one plan, one budget and one interval, and what is said of one process (access/meter.h) holds here, too.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "access/ager.h"
#include "access/census.h"
#include "access/clear.h"
#include "access/frame_set.h"
#include "access/group_count.h"
#include "access/judge.h"
#include "access/meter.h"
#include "access/tracker.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/result.h"
#include "identity/group.h"

namespace hotset {

// Who was in the group in the running window.
struct Attendance {
  std::size_t members = 0;          // whose page tables the newest reading saw
  std::size_t born = 0;             // of them, began their life in the window
  std::size_t joined = 0;           // of them, came from elsewhere in the window
  std::size_t ended = 0;            // were there when the window began, and are no more
  std::size_t execed = 0;           // are there, but went to another program: what they mapped before is gone
  std::size_t same_memory = 0;      // share all memory with another member: counted with it
  std::size_t late = 0;             // came while the others were read, too late to be read as well
  std::size_t unreadable = 0;       // are there, but what they map could not be read or cleared
  std::size_t left_out = 0;         // above the number that is measured: those with the least memory …
  std::uint64_t left_out_pages = 0; // … and how much that is, shared pages counted again and again
  std::uint64_t hidden = 0;         // in other PID namespaces
  std::uint64_t child_faults = 0;   // page faults of processes that began and ended unseen
  bool ourselves = false;           // hotset was in it, and left out
  bool may_hide = false;            // Roll::may_hide
};

struct GroupReading {
  GroupAnswer answer;
  Attendance attendance;
  MeterReading meter; // what it took and why; its `answer` is left empty
};

class GroupMeter {
 public:
  // All three must outlive it. Of more than `most` members those with the most memory are measured: each needs two open
  // files and some 0.2 ms for each window.
  GroupMeter(Census& census, Clock& clock, Group& group, FrameFlags flags, std::uint64_t seed, std::size_t most);

  // As AccessMeter's. ErrorCode::gone: nobody is left, or the cgroup was removed.
  Result<> begin(const Files& files, const Aim& aim);
  Result<GroupReading> read(const Files& files);
  // False once all of those seen last have ended.
  [[nodiscard]] bool alive() const;
  [[nodiscard]] std::vector<pid_t> pids() const;

 private:
  struct Process {
    ProcessId id;
    Census::Subject subject;
    Standing standing = Standing::tracked;
    std::uint64_t address_space = 0;      // as the kernel has it; 0: not read yet
    std::optional<std::uint32_t> clear{}; // the number of the newest clear that we know of
    // Which of its stretches of 128 TiB is which of ours, by number. Nearly always one.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> spaces{};
    Snapshot last{}; // in the group's addresses
  };

  Result<std::size_t> look_up(const Files& files, bool window_runs);
  std::uint64_t to_group(Process& process, std::uint64_t address);
  std::pair<Process*, std::uint64_t> to_process(std::uint64_t address);
  Result<bool> scan(Process& process, const Census::Visit& visit);
  Result<bool> scan_once(Process& process, const Census::Visit& visit, pid_t& owner);
  Result<bool> is_still_in(pid_t pid, std::uint64_t address_space);
  Result<> scan_for_begin(const Files& files);
  Result<> age(std::span<const Run> runs);
  Result<> clear_scoped();
  [[nodiscard]] bool has_been_cleared() const;
  Result<> settle();
  void gather();

  Census* census_;
  Clock* clock_;
  Group* group_;
  std::size_t most_;
  Judge judge_;
  Tracker tracker_;
  Ager ager_;
  ScopedCosts scoped_costs_;
  std::vector<Process> processes_;
  std::map<std::uint64_t, pid_t> seen_; // address spaces of the running pass, and whom each was read of
  std::uint64_t next_space_ = 0;
  FrameSet frames_, begun_; // of the newest reading, and of when the window began
  Snapshot last_;           // of all processes, the newest
  bool has_window_ = false;
  Contest contest_;
  ClearPlan plan_;
  Attendance attendance_;
  std::uint64_t born_after_ = 0;          // clock tick: who started later began its life in the window
  std::uint64_t child_faults_before_ = 0; // of all members, when the window began
  Nanoseconds began_{}, clear_time_{}, read_time_{}, cpu_{};
};

} // namespace hotset
