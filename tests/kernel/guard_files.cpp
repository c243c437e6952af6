// SPDX-License-Identifier: Apache-2.0
#include "guard_files.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>
#include <utility>

#include "kernel/bpf_probes.h"

namespace hotset {

Folder::Folder(const std::string& below) {
  std::string name = below + "/hotset-guard-XXXXXX";
  std::filesystem::create_directories(below);
  if (::mkdtemp(name.data()) == nullptr) ::abort();
  path_ = name;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string Folder::file(const std::string& name) const {
  std::string path = path_ + "/" + name;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << '.';
  return path;
}

CompiledPolicy compiled(const std::string& text) {
  Result<Policy> policy = without_flaws(parse_policy(text, "test.toml"));
  if (!policy) throw std::runtime_error(to_sentence(policy.error()));
  Result<CompiledPolicy> image = compile_policy(*std::move(policy));
  if (!image) throw std::runtime_error(to_sentence(image.error()));
  return *std::move(image);
}

CompiledPolicy auditing(const std::string& rules) {
  return compiled("mode = \"audit\"\ndefault = \"allow\"\nunknown = \"allow\"\n" + rules);
}

std::string rule(const std::string& path, const std::string& action, const std::string& more) {
  return fmt::format("[[rule]]\npath = \"{}\"\naction = \"{}\"\n{}\n", path, action, more);
}

int open_errno(const std::string& path, int flags) {
  Fd fd(::open(path.c_str(), flags | O_CLOEXEC, 0600));
  return fd ? 0 : errno;
}

Judged difference(const GuardCounts& before, const GuardCounts& after) {
  auto more = [&](GuardCounter counter) { return after[counter] > before[counter]; };
  Judged outcome;
  outcome.judged = more(GuardCounter::lookups);
  outcome.hit = after.hits() > before.hits();
  outcome.walked = more(GuardCounter::misses_walk);
  outcome.filled = more(GuardCounter::fills);
  outcome.stale = more(GuardCounter::invalidations);
  outcome.unknown = more(GuardCounter::unknown);
  outcome.denied = more(GuardCounter::denied);
  return outcome;
}

Judged open_judged(const Guard& guard, const std::string& path, int flags) {
  return judged(guard, [&] { return ::open(path.c_str(), flags | O_CLOEXEC, 0600); });
}

Judged open_until_hit(const Guard& guard, const std::string& path) {
  constexpr int kTries = 3;
  Judged before = open_judged(guard, path);
  Judged again = open_judged(guard, path);
  auto ended_by_others = [&] { return again.stale || (before.walked && !before.filled); };
  for (int tries = 0; !again.hit && ended_by_others() && tries < kTries; ++tries)
    before = std::exchange(again, open_judged(guard, path));
  return again;
}

void GuardTest::SetUp() {
  if (std::optional<std::string> why = GetParam() == GUARD_LSM ? no_lsm() : no_guard()) GTEST_SKIP() << *why;
  static std::array<std::optional<guard_topology>, 2> known; // it does not change, and takes a second to find out
  std::optional<guard_topology>& topology = known.at(GetParam());
  if (!topology) topology = choose_setup(Files(), options(), POLICY_AUDIT).value().topology;
  if (topology == GUARD_TOPOLOGY_none) GTEST_SKIP() << topology_text(GUARD_TOPOLOGY_none);
}

GuardOptions GuardTest::options() const {
  GuardOptions options;
  options.hook = GetParam();
  options.exempt_self = false;
  options.only_self = true;
  return options;
}

namespace {

struct Shared {
  std::string rules;
  Guard guard;
};
std::array<std::optional<Shared>, 2> shared; // by hook

} // namespace

Guard& GuardTest::auditing_guard(const std::string& rules) const {
  std::optional<Shared>& one = shared.at(GetParam());
  if (one && one->rules != rules) one.reset();
  if (!one) one.emplace(Shared{rules, start(auditing(rules))});
  return one->guard;
}

void GuardTest::TearDownTestSuite() {
  for (std::optional<Shared>& one : shared)
    one.reset();
}

Guard GuardTest::start(CompiledPolicy policy) const {
  return start(std::move(policy), options());
}

Guard GuardTest::start(CompiledPolicy policy, const GuardOptions& options) const {
  Result<Guard> guard = Guard::start(std::move(policy), options);
  if (!guard) throw std::runtime_error(to_sentence(guard.error()));
  // The first reading opens files of its own, and none after it does.
  if (!guard->history(1)) throw std::runtime_error("the counters cannot be read");
  return *std::move(guard);
}

void in_own_mount_namespace(const std::function<void()>& work) {
  bool made = false;
  pid_t thread = 0;
  std::thread([&] {
    thread = ::gettid();
    if (::unshare(CLONE_NEWNS) != 0) return;
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return;
    made = true;
    work();
  }).join();
  // A thread that was joined lets go of its namespaces later, but before it is gone. That ends what is known of paths.
  const std::string entry = fmt::format("/proc/self/task/{}", thread);
  for (int i = 0; i < 1000 && ::access(entry.c_str(), F_OK) == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  if (!made) GTEST_SKIP() << "no mount namespace can be made here";
}

std::string hook_test_name(const testing::TestParamInfo<guard_hook>& info) {
  return std::string(hook_name(info.param));
}

namespace {

std::optional<std::string> why_not(const Result<>& tried) {
  return tried ? std::nullopt : std::optional(to_sentence(tried.error()));
}

} // namespace

// Asked before each test, and the same each time: to try takes a while, attaching to an LSM hook above all.
std::optional<std::string> no_guard() {
  static const std::optional<std::string> kWhy = why_not(try_bpf_loop());
  return kWhy;
}

std::optional<std::string> no_lsm() {
  if (std::optional<std::string> why = no_guard()) return why;
  static const std::optional<std::string> kWhy = why_not(try_lsm());
  return kWhy;
}

} // namespace hotset
