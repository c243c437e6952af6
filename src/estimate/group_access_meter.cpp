// SPDX-License-Identifier: Apache-2.0
// A tree or a cgroup by Accessed bits as an estimate record: who was in it, what its cgroup is charged for, and what of
// that has no Accessed bits.
#include "access/group_meter.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <random>

#include "base/units.h"
#include "estimate/access_record.h"
#include "estimate/meter.h"

namespace hotset {
namespace {

constexpr std::size_t kMostMembers = 4096;
constexpr std::size_t kFilesOfOurs = 64; // open beside those of the members
constexpr std::uint64_t kPage = 4096;

// Each member needs two open files: takes as many as the hard limit allows; how many members that is.
std::size_t most_members() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 128;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, std::max<rlim_t>(limit.rlim_cur, 2 * kMostMembers + kFilesOfOurs));
  ::setrlimit(RLIMIT_NOFILE, &limit);
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return std::min(kMostMembers, (std::max<std::size_t>(limit.rlim_cur, kFilesOfOurs + 2) - kFilesOfOurs) / 2);
}

// Asking each process costs more than reading its page tables does.
bool swap_is_used(const Files& files) {
  Result<std::string> text = files.read("/proc/meminfo");
  if (!text) return true;
  auto kilobytes = [&](std::string_view key) -> std::optional<std::uint64_t> {
    std::size_t at = text->find(key);
    if (at == std::string::npos) return std::nullopt;
    at = text->find_first_not_of(' ', at + key.size());
    return parse_u64(std::string_view(*text).substr(at, text->find(' ', at) - at));
  };
  std::optional<std::uint64_t> total = kilobytes("SwapTotal:"), free = kilobytes("SwapFree:");
  return !total || total != free;
}

class GroupAccessMeter final : public Meter {
 public:
  GroupAccessMeter(std::unique_ptr<Census> census, FrameFlags flags, const Files& files, Group& group, Clock& clock,
                   const MeterOptions& options, Aim::Method method)
      : census_(std::move(census)),
        meter_(*census_, clock, group, std::move(flags), std::random_device()(), most_members()),
        files_(files),
        group_(&group),
        clock_(&clock),
        options_(options),
        method_(method),
        damon_(damon_is_on(files)) {}

  Result<> begin() override { return meter_.begin(files_, aim_of(options_, method_, resident_, touched_)); }

  Result<Estimate> read() override {
    HOTSET_TRY(GroupReading reading, meter_.read(files_));
    resident_ = static_cast<double>(reading.answer.total.resident);
    touched_ = reading.answer.total.touched;
    return estimate_of(reading);
  }

  [[nodiscard]] bool group_alive() const override { return meter_.alive(); }

 private:
  [[nodiscard]] Estimate estimate_of(const GroupReading& reading) const {
    const Answer& answer = reading.answer.total;
    const Attendance& attendance = reading.attendance;
    Estimate estimate;
    estimate.wall = clock_->wall();
    estimate.group = GroupFacts{.tree = group_->cgroup() == nullptr,
                                .path = {},
                                .members = attendance.members,
                                .born = attendance.born,
                                .joined = attendance.joined,
                                .ended = attendance.ended,
                                .shared_bytes = reading.answer.shared * kPage,
                                .frame_set_bytes = reading.answer.frame_set_bytes,
                                .usage_bytes = std::nullopt};
    set_working_set(answer, estimate);
    add_access_flags(answer, reading.meter, options_, damon_, estimate);
    add_attendance(reading, estimate);
    if (const Process* root = group_->root()) estimate.target = *root;
    if (const Cgroup* cgroup = group_->cgroup())
      add_cgroup(*cgroup, estimate);
    else
      add_swap(estimate);
    return estimate;
  }

  void add_attendance(const GroupReading& reading, Estimate& estimate) const {
    const Attendance& who = reading.attendance;
    auto flag = [&](std::string_view code, std::string text) {
      estimate.flags.push_back({std::string(code), std::move(text)});
    };
    if (who.born > 0)
      flag("members_born", fmt::format("{} of the processes began in the window: all they touched counts", who.born));
    if (who.joined > 0)
      flag("members_joined",
           fmt::format("{} of the processes came from elsewhere in the window: {} that is set in them "
                       "may have been touched earlier, and is in the upper bound",
                       who.joined, human_bytes(reading.answer.joined * kPage)));
    if (who.ended > 0)
      flag("members_ended",
           fmt::format("{} left in the window: memory of their own is gone and does not count; "
                       "they may have touched {} that others have mapped: in the upper bound",
                       counted(who.ended, "process", "es"), human_bytes(reading.answer.ended * kPage)));
    if (who.execed > 0)
      flag("members_execed",
           fmt::format("{} went to another program in the window: what they had mapped before "
                       "is gone and does not count; they may have touched {} that others have mapped: "
                       "in the upper bound",
                       counted(who.execed, "process", "es"), human_bytes(reading.answer.ended * kPage)));
    if (who.child_faults > 0)
      flag("short_lived", fmt::format("processes that came and went in the window took {} page faults: what they alone "
                                      "touched is in no number, and what several others map is in the upper bound",
                                      who.child_faults));
    if (who.late > 0)
      flag("members_late", fmt::format("{} processes came while the others were read, and are not in these numbers: "
                                       "the group grows faster than it can be read",
                                       who.late));
    if (who.unreadable > 0)
      flag("members_unreadable", fmt::format("the memory of {} processes could not be read", who.unreadable));
    if (who.hidden > 0)
      flag("members_hidden",
           fmt::format("{} processes belong to other PID namespaces and can't be seen from here", who.hidden));
    if (who.may_hide)
      flag("members_hidden",
           "cgroup v1 does not list processes of other PID namespaces: what they use, if there are any, "
           "is not in these numbers; run hotset in the host's PID namespace");
    if (who.same_memory > 0)
      flag("members_same_memory", fmt::format("{} processes share all their memory with another one", who.same_memory));
    if (who.ourselves) flag("hotset_left_out", "hotset runs in the group itself, and is left out");
    if (who.left_out > 0) {
      flag("members_left_out",
           fmt::format("the {} processes with the least memory, {} of RSS, are left out: at most {} "
                       "are measured (see also ulimit -n)",
                       who.left_out, human_bytes(who.left_out_pages * kPage), who.members));
      const auto resident = static_cast<double>(reading.answer.total.resident);
      estimate.coverage = *estimate.coverage * resident / (resident + static_cast<double>(who.left_out_pages));
    }
  }

  // Usage bounds the number from above; what of it nobody maps has no Accessed bits.
  void add_cgroup(const Cgroup& cgroup, Estimate& estimate) const {
    GroupFacts& facts = *estimate.group;
    facts.path = cgroup.path();
    facts.id = cgroup.id();
    const CgroupMemory memory = cgroup.memory(files_);
    auto flag = [&](std::string_view code, std::string text) {
      estimate.flags.push_back({std::string(code), std::move(text)});
    };
    estimate.swap_bytes = memory.swap;
    if (!memory.swap) flag("swap_unknown", "the kernel keeps no account of this cgroup's swap");
    facts.usage_bytes = memory.usage;
    if (!memory.usage) {
      flag("usage_unknown",
           "the kernel keeps no account of this cgroup's memory: no bound, and coverage is of the RSS");
      return;
    }
    const std::uint64_t usage = *memory.usage, resident = estimate.rss_bytes.value_or(0);
    const std::uint64_t all_cache = memory.cache.value_or(0);
    const std::uint64_t cache = all_cache - std::min(all_cache, memory.mapped_cache.value_or(all_cache));
    const std::uint64_t unmapped = std::min(usage, std::max(usage - std::min(usage, resident), cache));
    if (unmapped > 0) {
      estimate.coverage = *estimate.coverage * static_cast<double>(usage - unmapped) / static_cast<double>(usage);
      flag("usage_unmapped",
           fmt::format("of {} in use no process maps {}, {} of it page cache: that has no Accessed bits, "
                       "and may be in use all the same",
                       human_bytes(usage), human_bytes(unmapped), human_bytes(std::min(cache, unmapped))));
    }
    if (resident > usage) {
      flag("charged_elsewhere",
           fmt::format("the processes map {}, but the cgroup is charged for {}: the rest was first "
                       "used by others; what of it was touched is not told apart, and no number is above the charge",
                       human_bytes(resident), human_bytes(usage)));
      estimate.coverage = *estimate.coverage * static_cast<double>(usage) / static_cast<double>(resident);
      if (usage == 0) { // nothing to be touched, which is no working set of these processes
        estimate.wss.reset();
        estimate.method = "bounds";
        return;
      }
      WorkingSet& wss = *estimate.wss;
      if (wss.high_bytes <= usage) return;
      // More was touched than it is charged for: how much of the charge was is between these.
      wss.high_bytes = usage;
      wss.bytes = std::min(wss.bytes, usage);
      wss.low_bytes -= std::min(wss.low_bytes, resident - usage);
      if (estimate.method == "exact" && wss.low_bytes < usage) estimate.method = "bounds";
    }
  }

  // Swapped pages that several processes share count for each: an upper bound, unless there is none.
  void add_swap(Estimate& estimate) const {
    std::uint64_t sum = 0;
    if (swap_is_used(files_))
      for (pid_t pid : meter_.pids())
        sum += swap_of(files_, pid).value_or(0);
    if (sum == 0) {
      estimate.swap_bytes = 0;
      return;
    }
    estimate.flags.push_back({"swap_unknown", fmt::format("the processes' swap adds up to {}, with what they share "
                                                          "counted again and again",
                                                          human_bytes(sum))});
  }

  std::unique_ptr<Census> census_;
  GroupMeter meter_; // refers to the census
  Files files_;
  Group* group_;
  Clock* clock_;
  MeterOptions options_;
  Aim::Method method_;
  bool damon_;
  double resident_ = 0, touched_ = 0; // of the last window
};

Result<std::unique_ptr<Meter>> open(const Files& files, Group& target, Clock& clock, const MeterOptions& options,
                                    Aim::Method method) {
  HOTSET_TRY(Census opened, Census::open(clock));
  HOTSET_TRY(FrameFlags flags, FrameFlags::open());
  return std::make_unique<GroupAccessMeter>(std::make_unique<Census>(std::move(opened)), std::move(flags), files,
                                            target, clock, options, method);
}

} // namespace

Result<std::unique_ptr<Meter>> open_group_access_meter(const Files& files, Group& target, Clock& clock,
                                                       const MeterOptions& options) {
  return open(files, target, clock, options, Aim::Method::automatic);
}
Result<std::unique_ptr<Meter>> open_group_exact_meter(const Files& files, Group& target, Clock& clock,
                                                      const MeterOptions& options) {
  return open(files, target, clock, options, Aim::Method::exact);
}
Result<std::unique_ptr<Meter>> open_group_sample_meter(const Files& files, Group& target, Clock& clock,
                                                       const MeterOptions& options) {
  return open(files, target, clock, options, Aim::Method::sample);
}

} // namespace hotset
