// SPDX-License-Identifier: Apache-2.0
// Processes that are measured together: a process with all that descend from it, or those of a cgroup. They come and
// go, so who they are is asked again and again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "identity/cgroup.h"
#include "identity/process.h"

namespace hotset {

struct Member {
  ProcessId id;
  std::uint64_t rss_pages = 0;
  // Minor faults of its children that ended and were waited for, and of theirs: when the number grows, processes have
  // come and gone.
  std::uint64_t child_faults = 0;
};

// Who was in the group when it was looked up. Kernel threads and zombies have no memory and are left out.
struct Roll {
  std::vector<Member> members; // ascending by pid
  std::uint64_t hidden = 0;    // processes of other PID namespaces, which have no pid here
  bool ourselves = false;      // we are in it, and left out
  bool may_hide = false; // cgroup v1 does not list processes of other PID namespaces, and ours is not the initial one
};

class Group {
 public:
  virtual ~Group() = default;
  // Nobody left is no error but an empty roll. ErrorCode::gone: the cgroup was removed.
  virtual Result<Roll> look_up(const Files& files) = 0;
  // "the tree of 4711 (postgres)", "the cgroup /a/b": fit for a terminal.
  [[nodiscard]] virtual std::string describe() const = 0;
  // The process that the tree hangs from; nothing for a cgroup.
  [[nodiscard]] virtual const Process* root() const { return nullptr; }
  // Nothing for a tree.
  [[nodiscard]] virtual const Cgroup* cgroup() const { return nullptr; }
};

// Whoever was seen to descend from the root stays in, even when its parent ends and init adopts it.
std::unique_ptr<Group> tree_of(Process root);
// The same of the process of this pid. Errors: those of find_process.
Result<std::unique_ptr<Group>> find_tree(const Files& files, pid_t root);
// Errors: those of Cgroup::find, and not_applicable when no process is in it.
Result<std::unique_ptr<Group>> find_cgroup(const Files& files, std::string_view path);

} // namespace hotset
