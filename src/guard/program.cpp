// SPDX-License-Identifier: Apache-2.0
#include "guard/program.h"

#include <bpf/bpf.h>
#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <iterator>
#include <string>
#include <utility>

#include "base/fd.h"
#include "fault/program.h"
#include "guard.skel.h"
#include "identity/process.h"
#include "kernel/object_info.h"
#include "kernel/time_namespace.h"

namespace hotset {
namespace {

constexpr std::string_view kName = "the policy's program";

void choose_programs(guard_bpf& object, const GuardSetup& setup) {
  const std::array<std::pair<bpf_program*, bool>, 6> programs{{
      {object.progs.guard_file_open, setup.hook == GUARD_LSM},
      {object.progs.guard_rmdir, setup.hook == GUARD_LSM},
      {object.progs.guard_rename, setup.rename_hook},
      {object.progs.guard_sys_exit, setup.hook == GUARD_CALLS},
      {object.progs.guard_prepare_exec, setup.hook == GUARD_CALLS && setup.prepare_exec},
      {object.progs.guard_process_exec, setup.hook == GUARD_CALLS && !setup.prepare_exec},
  }};
  for (auto [program, wanted] : programs)
    bpf_program__set_autoload(program, wanted);
  bpf_map__set_autocreate(object.maps.inode_matches, setup.hook == GUARD_LSM);
}

Result<std::uint64_t> random_key() {
  std::uint64_t key = 0;
  if (::getrandom(&key, sizeof(key), 0) != sizeof(key)) return fail(errno_error(errno, "draw", "a random number"));
  return key;
}

Result<> configure(guard_bpf& object, const GuardSetup& setup, const GuardOptions& options) {
  auto& read_only = *object.rodata;
  HOTSET_TRY(read_only.fingerprint_key, random_key());
  read_only.rename_lock_at = setup.rename_lock;
  read_only.mount_lock_at = setup.mount_lock;
  read_only.renames_end_matches = setup.topology == GUARD_TOPOLOGY_renames;
  read_only.calls_end_matches = setup.topology == GUARD_TOPOLOGY_calls;
  read_only.cache_matches = options.cache && setup.topology != GUARD_TOPOLOGY_none;
  read_only.typed_pointers = setup.typed_pointers;
  read_only.enforce = setup.enforce;
  read_only.exempt_pid = options.exempt_self ? static_cast<std::uint32_t>(::getpid()) : 0;
  read_only.only_pid = options.only_self ? static_cast<std::uint32_t>(::getpid()) : 0;
  read_only.pid_namespace = nested_pid_namespace();
  read_only.boot_offset_ns = time_offset(Files(), "boottime").count();
  read_only.events_per_second = options.events_per_second;
  bpf_map__set_max_entries(object.maps.events, options.event_bytes);
  return {};
}

Result<> share(bpf_map* map, int fd) {
  if (int error = bpf_map__reuse_fd(map, fd); error != 0)
    return fail(errno_error(-error, "share the map", bpf_map__name(map)));
  return {};
}

} // namespace

void DestroyGuardObject::operator()(guard_bpf* object) const {
  guard_bpf::destroy(object);
}

Result<GuardProgram> GuardProgram::load(const policy_image& image, const GuardSetup& setup, const GuardOptions& options,
                                        const GuardProgram* before) {
  HOTSET_TRY(Skeleton<guard_bpf> object, open_skeleton<guard_bpf>(kName));
  choose_programs(*object, setup);
  HOTSET_CHECK(configure(*object, setup, options));
  if (before != nullptr) {
    HOTSET_CHECK(share(object->maps.policy, before->window_fd()));
    HOTSET_CHECK(share(object->maps.events, before->events_fd()));
    HOTSET_CHECK(share(object->maps.guard_state, before->state_fd()));
  }
  HOTSET_CHECK(load_skeleton(*object->skeleton, kName));
  std::uint32_t key = 0;
  if (bpf_map_update_elem(bpf_map__fd(object->maps.image), &key, &image, BPF_ANY) != 0)
    return fail(errno_error(errno, "hand over", "the compiled policy"));
  GuardProgram program;
  program.object_.reset(object.release());
  return program;
}

// What ends that which is known comes first, so that nothing is kept that it might have ended.
Result<> GuardProgram::attach() {
  auto& programs = object_->progs;
  for (bpf_program* program : {programs.guard_rename, programs.guard_rmdir, programs.guard_sys_exit,
                               programs.guard_prepare_exec, programs.guard_process_exec, programs.guard_file_open})
    if (bpf_program__autoload(program)) {
      HOTSET_TRY(Attachment one, hotset::attach(*program, bpf_program__section_name(program)));
      std::ranges::move(one, std::back_inserter(attachment_));
    }
  return {};
}

Result<> GuardProgram::try_storage() const {
  if (!bpf_map__autocreate(object_->maps.inode_matches)) return {};
  int map = bpf_map__fd(object_->maps.inode_matches);
  Fd inode(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!inode) return fail(errno_error(errno, "open", "/"));
  int key = inode.get();
  std::uint64_t nothing_known = 0;
  if (bpf_map_update_elem(map, &key, &nothing_known, BPF_ANY) != 0) {
    Error error = errno_error(errno, "keep", "what is known of a path with its inode");
    error.remedy =
        "each open walks to the root meanwhile, to the same verdicts; on a processor with cmpxchg16b new "
        "kernels can keep it";
    return fail(std::move(error));
  }
  bpf_map_delete_elem(map, &key);
  return {};
}

Result<GuardJudges> GuardProgram::judges() const {
  GuardJudges ids{};
  std::size_t known = 0;
  auto& programs = object_->progs;
  for (bpf_program* program :
       {programs.guard_file_open, programs.guard_sys_exit, programs.guard_prepare_exec, programs.guard_process_exec})
    if (bpf_program__autoload(program)) {
      HOTSET_TRY(bpf_prog_info info, program_info(bpf_program__fd(program)));
      ids.at(known++) = info.id;
    }
  return ids;
}

int GuardProgram::window_fd() const {
  return bpf_map__fd(object_->maps.policy);
}

int GuardProgram::events_fd() const {
  return bpf_map__fd(object_->maps.events);
}

int GuardProgram::state_fd() const {
  return bpf_map__fd(object_->maps.guard_state);
}

Result<> try_rename_hook() {
  HOTSET_TRY(Skeleton<guard_bpf> object, open_skeleton<guard_bpf>("a program at vfs_rename"));
  for (bpf_map* map : {object->maps.image, object->maps.match_table, object->maps.inode_matches, object->maps.events,
                       object->maps.policy, object->maps.guard_state})
    bpf_map__set_autocreate(map, false);
  HOTSET_CHECK(load_only(*object, "guard_rename", "a program at vfs_rename"));
  HOTSET_TRY([[maybe_unused]] Attachment attached, attach(*object->progs.guard_rename, "vfs_rename"));
  return {};
}

} // namespace hotset
