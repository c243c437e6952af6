// SPDX-License-Identifier: Apache-2.0
// The kernel's verdicts are those of decide(), whatever the path, the access and the subject.
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <random>
#include <vector>

#include "base/mounts.h"
#include "guard_files.h"

namespace hotset {
namespace {

class GuardDecide : public GuardTest {};

struct AccessCase {
  int flags;
  std::uint32_t access;
};

TEST_P(GuardDecide, agrees_with_the_oracle) {
  Folder folder;
  ::chmod(folder.path().c_str(), 0777);
  const std::string& top = folder.path();
  std::string self = std::filesystem::read_symlink("/proc/self/exe");
  // Rules of every kind, in an order in which most decide something.
  std::string rules = rule(top + "/a/exact", "allow") + rule(top + "/a/", "deny", "access = [\"write\"]\nuid = 4711") +
                      rule(top + "/**/*.key", "deny", "command = \"reader\"") +
                      rule(top + "/**/*.key", "allow", "executable = \"/usr/bin/other\"") +
                      rule(top + "/b/", "deny", fmt::format("executable = \"{}\"\naccess = [\"read\"]", self)) +
                      rule(top + "/b/*/deep/**", "allow") + rule(top + "/c?/", "deny") +
                      rule(top + "/**/[xyz]*", "deny", "access = [\"write\"]");
  CompiledPolicy oracle = auditing(rules);
  Guard guard = start(auditing(rules));
  std::mt19937 random(7);
  constexpr std::array<std::string_view, 8> kDirectories{"a", "b", "c1", "c", "d", "deep", "a/exact.d", "b/x/deep"};
  constexpr std::array<std::string_view, 8> kNames{"exact", "one.key", "x", "yy", "key", ".key", "z.key", "plain"};
  constexpr std::array<AccessCase, 3> kAccesses{
      {{O_RDONLY, POLICY_READ}, {O_WRONLY, POLICY_WRITE}, {O_RDWR, POLICY_READ | POLICY_WRITE}}};
  constexpr std::array<const char*, 2> kCommands{"reader", "writer"};
  for (int i = 0; i < 600; ++i) {
    std::string path = top;
    for (std::size_t levels = random() % 3; levels > 0; --levels)
      path += fmt::format("/{}", kDirectories[random() % kDirectories.size()]);
    path += fmt::format("/{}", kNames[random() % kNames.size()]);
    std::error_code ignored;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
    if (Fd made(::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0666)); !made) continue; // it is a directory
    for (auto at = std::filesystem::path(path); at != top; at = at.parent_path())
      ::chmod(at.c_str(), 0777);
    AccessCase asked = kAccesses[random() % kAccesses.size()];
    const char* command = kCommands[random() % kCommands.size()];
    std::uint32_t uid = random() % 2 == 0 ? 0 : 4711;
    PolicyQuery query{
        .path = path, .access = asked.access, .command = command, .executable = self, .cgroup = {}, .uid = uid};
    bool expected = decide(*oracle.image, query).action == POLICY_DENY;
    ::prctl(PR_SET_NAME, command);
    ASSERT_EQ(::seteuid(uid), 0);
    Judged outcome = open_judged(guard, path, asked.flags);
    ASSERT_EQ(::seteuid(0), 0);
    ASSERT_EQ(outcome.error, 0) << path;
    EXPECT_EQ(outcome.denied, expected) << path << " access " << asked.access << " by " << command << " " << uid;
  }
  GuardCounts counts = totals_of(guard.history().value());
  EXPECT_TRUE(counts.adds_up());
  if (!guard.keeps()) return;
  EXPECT_GT(counts[GuardCounter::hits_deny], 0U);
  EXPECT_GT(counts[GuardCounter::hits_allow], 0U);
  EXPECT_GT(counts[GuardCounter::hits_no_policy], 0U);
}

// A cgroup below the mount of cgroup v2 for this process, which returns to its own at the end.
class OwnCgroup {
 public:
  explicit OwnCgroup(std::string_view name) {
    const std::vector<Mount> mounts = read_mounts(Files()).value();
    const Mount* mount = find_mount(mounts, "cgroup2");
    if (mount == nullptr) return;
    std::ifstream own("/proc/self/cgroup");
    for (std::string line; std::getline(own, line);)
      if (line.starts_with("0::")) before_ = mount->point + line.substr(3);
    path_ = fmt::format("/hotset-guard-{}-{}", name, ::getpid());
    folder_ = mount->point + path_;
    std::error_code failed;
    made_ = std::filesystem::create_directory(folder_, failed);
  }
  OwnCgroup(const OwnCgroup&) = delete;
  OwnCgroup& operator=(const OwnCgroup&) = delete;
  ~OwnCgroup() {
    if (made_ && join(before_)) ::rmdir(folder_.c_str());
  }

  [[nodiscard]] bool made() const { return made_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool enter() const { return join(folder_); }

 private:
  static bool join(const std::string& folder) {
    return static_cast<bool>(std::ofstream(folder + "/cgroup.procs") << ::getpid() << std::flush);
  }
  std::string before_, path_, folder_;
  bool made_ = false;
};

// One process, which moves to and fro: what one of its places has made known is a hit in the other, with its own
// verdict.
TEST_P(GuardDecide, a_rule_for_a_cgroup_decides_for_who_is_in_it_alone) {
  OwnCgroup meant("meant"), other("other");
  if (!meant.made() || !other.made()) GTEST_SKIP() << "no cgroup can be made in a hierarchy of cgroup v2";
  Folder folder;
  std::string file = folder.file("denied/a");
  const bool denies = GetParam() == GUARD_LSM;
  Guard guard = start(
      compiled(fmt::format("mode = \"{}\"\ndefault = \"allow\"\nunknown = \"allow\"\n", denies ? "enforce" : "audit") +
               rule(folder / "denied/", "deny", fmt::format("cgroup = \"{}\"", meant.path()))));
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(meant.enter());
    Judged in = open_judged(guard, file);
    ASSERT_TRUE(other.enter());
    Judged out = open_judged(guard, file);
    EXPECT_TRUE(in.denied);
    EXPECT_EQ(in.error, denies ? EPERM : 0);
    EXPECT_FALSE(out.denied);
    EXPECT_EQ(out.error, 0);
    if (!guard.keeps()) continue;
    // Stale: something outside, a mount or a rename, ended what was known.
    EXPECT_TRUE(out.hit || out.stale);
    if (round > 0) {
      EXPECT_TRUE(in.hit || in.stale);
    }
  }
}

HOTSET_GUARD_TESTS(GuardDecide);

} // namespace
} // namespace hotset
