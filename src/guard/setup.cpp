// SPDX-License-Identifier: Apache-2.0
#include "guard/setup.h"

#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <mutex>
#include <string>
#include <utility>

#include "guard/program.h"
#include "kernel/bpf_probes.h"
#include "kernel/preemption.h"
#include "kernel/security.h"
#include "kernel/symbols.h"

namespace hotset {
namespace {

#define GUARD_TOPOLOGY_ROW(name, text) std::pair<std::string_view, std::string_view>(#name, text),
constexpr std::array kTopologies{GUARD_TOPOLOGIES(GUARD_TOPOLOGY_ROW)};
#undef GUARD_TOPOLOGY_ROW

constexpr std::array<std::string_view, 2> kLocks{"rename_lock", "mount_lock"};

// They do not move while the kernel runs, and its list of symbols is long (a tenth of a second): once found, they are
// known. Found in that list, that is: `files` may be another tree the next time.
std::vector<std::uint64_t> lock_addresses(const Files& files) {
  static std::mutex one_at_a_time;
  static std::string known_from;
  static std::vector<std::uint64_t> known;
  std::scoped_lock hold(one_at_a_time);
  std::string list = files.resolve("/proc/kallsyms");
  if (list == known_from && std::ranges::count(known, 0) == 0) return known;
  known = kernel_addresses(files, kLocks);
  // The guard reads them by plain loads, to which what cannot be read is a lock that nobody ever takes.
  for (std::uint64_t& address : known)
    if (address != 0 && !try_kernel_read(address)) address = 0;
  known_from = std::move(list);
  return known;
}

std::string kernel_release() {
  utsname names{};
  return ::uname(&names) == 0 ? names.release : "";
}

Error cannot_enforce(const Files& files, Error cause) {
  cause = within("enforce the policy", "", std::move(cause));
  if (cause.code != ErrorCode::permission) cause.remedy = enforcing_remedy(files);
  return cause;
}

// A program at vfs_rename that runs preempted is passed over for who renames meanwhile on that CPU, so a kernel that
// preempts itself has to end what is known at each rename.
guard_topology best_topology(const Files& files, const GuardSetup& setup, const KernelTypes& types) {
  if (setup.rename_lock != 0 && setup.mount_lock != 0)
    return !preempts_itself(files) && try_rename_hook() ? GUARD_TOPOLOGY_directories : GUARD_TOPOLOGY_renames;
  bool mounts_are_told_apart = types.has_member("mount", "mnt_id_unique");
  if (setup.hook == GUARD_CALLS && mounts_are_told_apart && calls_are_all_seen(kernel_release()))
    return GUARD_TOPOLOGY_calls;
  return GUARD_TOPOLOGY_none;
}

} // namespace

Result<GuardSetup> choose_setup(const Files& files, const GuardOptions& options, unsigned mode) {
  GuardSetup setup;
  bool enforce = mode == POLICY_ENFORCE && !options.audit;
  if (enforce && options.hook == GUARD_CALLS)
    return fail(ErrorCode::usage, "enforce the policy", "", "the end of a system call is too late to deny it",
                "leave out --hook, or use --audit");
  if (options.hook != GUARD_CALLS) {
    Result<> lsm = try_lsm();
    if (lsm)
      setup.hook = GUARD_LSM;
    else if (enforce)
      return fail(cannot_enforce(files, std::move(lsm).error()));
    else if (options.hook == GUARD_LSM)
      return fail(std::move(lsm).error());
  }
  setup.enforce = enforce;
  HOTSET_TRY(KernelTypes types, KernelTypes::open());
  setup.typed_pointers = types.has_function("bpf_rdonly_cast");
  setup.prepare_exec = types.has_tracepoint("sched_prepare_exec");
  std::vector<std::uint64_t> locks = lock_addresses(files);
  setup.rename_lock = locks[0];
  setup.mount_lock = locks[1];
  setup.topology = options.topology ? *options.topology : best_topology(files, setup, types);
  if (setup.topology == GUARD_TOPOLOGY_calls || setup.topology == GUARD_TOPOLOGY_none)
    setup.rename_lock = setup.mount_lock = 0;
  setup.rename_hook = setup.topology == GUARD_TOPOLOGY_directories;
  return setup;
}

std::string enforcing_remedy(const Files& files) {
  Result<std::string> active = read_securityfs(files, "lsm");
  if (active && std::ranges::count(parse_lsm_list(*active), "bpf") > 0)
    return "boot a kernel built with CONFIG_BPF_LSM=y, which allows such programs, or use --audit";
  return "boot with 'bpf' in lsm= (hotset doctor), or use --audit";
}

bool calls_are_all_seen(std::string_view release) {
  constexpr std::pair kLast{6U, 18U};
  std::pair<unsigned, unsigned> version{};
  const char* end = release.data() + release.size();
  auto [dot, wrong] = std::from_chars(release.data(), end, version.first);
  if (wrong != std::errc() || dot == end || *dot != '.') return false;
  if (std::from_chars(dot + 1, end, version.second).ec != std::errc()) return false;
  return version <= kLast;
}

std::string_view hook_name(unsigned hook) {
  return hook == GUARD_LSM ? "lsm" : "calls";
}

std::string_view topology_name(unsigned topology) {
  return kTopologies.at(topology).first;
}

std::string_view topology_text(unsigned topology) {
  return kTopologies.at(topology).second;
}

} // namespace hotset
