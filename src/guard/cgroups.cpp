// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/stat.h>

#include "base/mounts.h"
#include "guard/guard.h"

namespace hotset {
namespace {

constexpr std::uint64_t kNobodys = ~std::uint64_t{0}; // no cgroup has it

} // namespace

// A cgroup's id is its directory's inode number.
Result<std::vector<std::string>> resolve_cgroups(const Files& files, CompiledPolicy& policy) {
  std::vector<std::string> notes;
  std::string mount;
  for (std::size_t i = 0; i < policy.policy.rules.size(); ++i) {
    const PolicyRule& rule = policy.policy.rules[i];
    if (!rule.cgroup) continue;
    if (mount.empty()) {
      HOTSET_TRY(std::vector<Mount> mounts, read_mounts(files));
      const Mount* found = find_mount(mounts, "cgroup2");
      if (found == nullptr)
        return fail(ErrorCode::unsupported, "find the cgroup of",
                    fmt::format("{}:{}", policy.policy.file, rule.place.line), "cgroup v2 is not mounted",
                    "mount it, or leave out the rules that name a cgroup");
      mount = found->point;
    }
    struct stat directory{};
    policy_rule& compiled = policy.image->rule[i];
    compiled.cgroup_level = cgroup_level(*rule.cgroup);
    compiled.cgroup =
        ::stat(files.resolve(mount + *rule.cgroup).c_str(), &directory) == 0 ? directory.st_ino : kNobodys;
    if (compiled.cgroup == kNobodys)
      notes.push_back(fmt::format("{}:{}: there is no cgroup {} now, so the rule applies to nobody until a reload",
                                  policy.policy.file, rule.place.line, *rule.cgroup));
  }
  return notes;
}

} // namespace hotset
