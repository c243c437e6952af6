// SPDX-License-Identifier: Apache-2.0
#include "identity/group.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/units.h"
#include "identity/target.h"

namespace hotset {
namespace {

constexpr pid_t kNoSession = -1; // nobody's

Member member_of(const ProcessStat& stat) {
  return {.id = {stat.pid, stat.start_ticks}, .rss_pages = stat.rss_pages, .child_faults = stat.child_minor_faults};
}

class Tree final : public Group {
 public:
  explicit Tree(Process root) : root_(std::move(root)) { known_.emplace(root_.id.pid, root_.id.start_ticks); }

  Result<Roll> look_up(const Files& files) override {
    HOTSET_TRY(std::vector<std::string> entries, files.list("/proc"));
    std::vector<ProcessStat> stats;
    std::unordered_multimap<pid_t, std::size_t> children, sessions;
    for (const std::string& entry : entries) {
      std::optional<std::uint64_t> pid = parse_u64(entry);
      if (!pid) continue;
      Result<ProcessStat> stat = read_process_stat(files, static_cast<pid_t>(*pid));
      if (!stat) continue; // it ended meanwhile
      children.emplace(stat->parent, stats.size());
      sessions.emplace(stat->session, stats.size());
      stats.push_back(*std::move(stat));
    }
    std::map<pid_t, std::uint64_t> found;
    std::vector<std::size_t> open;
    auto add = [&](std::size_t at) {
      if (found.emplace(stats[at].pid, stats[at].start_ticks).second) open.push_back(at);
    };
    for (std::size_t at = 0; at < stats.size(); ++at)
      if (auto known = known_.find(stats[at].pid); known != known_.end() && known->second == stats[at].start_ticks)
        add(at);
    Roll roll;
    while (!open.empty()) {
      const ProcessStat& stat = stats[open.back()];
      open.pop_back();
      auto [first, last] = children.equal_range(stat.pid);
      for (auto child = first; child != last; ++child)
        add(child->second);
      // A session is handed on by fork alone: who is in the one that it began descends from it, whoever ended between.
      auto [opens, closes] = sessions.equal_range(stat.session == stat.pid ? stat.pid : kNoSession);
      for (auto other = opens; other != closes; ++other)
        add(other->second);
      if (stat.pid == ::getpid())
        roll.ourselves = true;
      else if (has_memory(stat))
        roll.members.push_back(member_of(stat));
    }
    known_ = std::move(found);
    std::ranges::sort(roll.members, {}, [](const Member& member) { return member.id.pid; });
    return roll;
  }

  [[nodiscard]] std::string describe() const override { return "the tree of " + hotset::describe(root_); }
  [[nodiscard]] const Process* root() const override { return &root_; }

 private:
  Process root_;
  std::map<pid_t, std::uint64_t> known_; // pid and start of all that were in it at the last look
};

class CgroupMembers final : public Group {
 public:
  explicit CgroupMembers(Cgroup cgroup) : cgroup_(std::move(cgroup)) {}

  Result<Roll> look_up(const Files& files) override {
    HOTSET_TRY(std::vector<pid_t> pids, cgroup_.processes(files));
    Roll roll;
    roll.may_hide = cgroup_.version() == 1 && nested_pid_namespace() != 0;
    for (pid_t pid : pids) {
      roll.hidden += pid == 0;
      roll.ourselves = roll.ourselves || pid == ::getpid();
      if (pid == 0 || pid == ::getpid()) continue;
      Result<ProcessStat> stat = read_process_stat(files, pid);
      if (stat && has_memory(*stat)) roll.members.push_back(member_of(*stat));
    }
    return roll;
  }

  [[nodiscard]] std::string describe() const override { return "the cgroup " + printable(cgroup_.path()); }
  [[nodiscard]] const Cgroup* cgroup() const override { return &cgroup_; }

 private:
  Cgroup cgroup_;
};

} // namespace

std::unique_ptr<Group> tree_of(Process root) {
  return std::make_unique<Tree>(std::move(root));
}

Result<std::unique_ptr<Group>> find_tree(const Files& files, pid_t root) {
  HOTSET_TRY(Process process, find_process(files, root));
  return tree_of(std::move(process));
}

Result<std::unique_ptr<Group>> find_cgroup(const Files& files, std::string_view path) {
  HOTSET_CHECK(check_proc(files));
  HOTSET_TRY(Cgroup cgroup, Cgroup::find(files, path));
  auto group = std::make_unique<CgroupMembers>(std::move(cgroup));
  HOTSET_TRY(Roll roll, group->look_up(files));
  if (roll.members.empty())
    return fail(ErrorCode::not_applicable, "measure", group->describe(),
                roll.hidden > 0  ? "its processes are in a PID namespace that is hidden from here"
                : roll.may_hide  ? "no process of this PID namespace is in it or below, and of others nothing is told"
                : roll.ourselves ? "hotset itself is the only process in it"
                                 : "there is nothing to measure: no process is in it or below",
                roll.hidden > 0 || roll.may_hide ? "run hotset in the host's PID namespace" : "");
  return group;
}

} // namespace hotset
