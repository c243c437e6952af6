// SPDX-License-Identifier: Apache-2.0
// The table of doctor's checks, in the order in which they are shown; within a part of the main job, the best first.
#include <array>

#include "app/doctor_probes.h"

namespace hotset {
namespace {

template <Attach kAttach>
Finding hook(const Machine& machine) {
  return check_hook(machine, kAttach);
}

template <Capability kCapability>
Finding capability(const Machine& machine) {
  return check_capability(machine, kCapability);
}

Finding tracefs(const Machine& machine) {
  return check_mount(machine, "tracefs", "/sys/kernel/tracing");
}
Finding debugfs(const Machine& machine) {
  return check_mount(machine, "debugfs", "/sys/kernel/debug");
}
Finding bpffs(const Machine& machine) {
  return check_mount(machine, "bpf", "/sys/fs/bpf");
}
Finding securityfs(const Machine& machine) {
  return check_mount(machine, "securityfs", "/sys/kernel/security");
}

constexpr std::array kChecks{
    Check{"hook.fexit", "attach to the return of `handle_mm_fault`", Part::fault_hook, hook<Attach::fexit>},
    Check{"hook.fentry", "attach to the entry of `handle_mm_fault`", Part::fault_hook, hook<Attach::fentry>},
    Check{"hook.kprobe", "a kprobe on `handle_mm_fault` or `__handle_mm_fault`", Part::fault_hook,
          hook<Attach::kprobe>},
    Check{"hook.tp_btf", "attach to the BTF tracepoint `page_fault_user`", Part::fault_hook, hook<Attach::tp_btf>},
    Check{"hook.raw_tp", "attach to the raw tracepoint `page_fault_user`", Part::fault_hook, hook<Attach::raw_tp>},
    Check{"hook.tracepoint", "attach to the tracepoint `exceptions:page_fault_user`", Part::fault_hook,
          hook<Attach::tracepoint>},
    Check{"hook.perf_event", "attach to the software event `page-faults` on every CPU", Part::fault_hook,
          hook<Attach::perf_event>},

    Check{"reference.clear_refs", "write to `/proc/self/clear_refs`", Part::reset, check_clear_refs},
    Check{"reference.smaps_rollup", "read `/proc/self/smaps_rollup`", Part::reading, check_smaps_rollup},
    Check{"reference.smaps", "read `/proc/self/smaps`", Part::reading, check_smaps},
    Check{"reference.idle_bitmap", "open `/sys/kernel/mm/page_idle/bitmap`", Part::none, check_idle_bitmap},
    Check{"reference.damon", "look at DAMON's sysfs, without touching a kdamond", Part::none, check_damon},
    Check{"reference.census",
          "open the page-table census, which leads from our own page table to frames that `/proc/self/pagemap` names",
          Part::none, check_census},

    Check{"map.ringbuf", "make a BPF ring buffer", Part::transport, check_ring_buffer},
    Check{"map.perf_buffer", "make a perf buffer and put an event into it", Part::transport, check_perf_buffer},
    Check{"map.mmapable", "make an array and map it", Part::none, check_mapped_array},
    Check{"map.memlock", "make a map while `ulimit -l` is 0", Part::none, check_memlock},

    Check{"bpf.iter_task", "read one object of an `iter/task` program", Part::none, check_iter_task},
    Check{"bpf.iter_task_vma", "read one object of an `iter/task_vma` program", Part::none, check_iter_task_vma},
    Check{"bpf.lsm", "attach an LSM program, and see it called", Part::none, check_lsm},
    Check{"bpf.syscall", "run a `syscall` program", Part::none, check_syscall_program},
    Check{"bpf.loop", "run a program that calls `bpf_loop`", Part::none, check_bpf_loop},
    Check{"bpf.kernel_read", "run a program that reads kernel memory", Part::none, check_kernel_read},

    Check{"kernel.release", "`uname`", Part::none, check_release},
    Check{"kernel.btf", "parse `/sys/kernel/btf/vmlinux`", Part::none, check_btf},
    Check{"kernel.lockdown", "read the lockdown mode from securityfs", Part::none, check_lockdown},
    Check{"kernel.lsm_list", "find `bpf` in the list of active security modules", Part::none, check_lsm_list},
    Check{"kernel.psi", "read `/proc/pressure/memory`", Part::none, check_psi},
    Check{"kernel.unprivileged_bpf", "read the sysctl `kernel.unprivileged_bpf_disabled`", Part::none,
          check_unprivileged_bpf},
    Check{"kernel.perf_event_paranoid", "read the sysctl `kernel.perf_event_paranoid`", Part::none,
          check_perf_event_paranoid},

    Check{"privilege.bpf", "CAP_BPF: load programs, make maps", Part::none, capability<Capability::bpf>},
    Check{"privilege.perfmon", "CAP_PERFMON: attach to the kernel, read its memory", Part::none,
          capability<Capability::perfmon>},
    Check{"privilege.sys_admin", "CAP_SYS_ADMIN: frame numbers in pagemap, private mounts; stands for the two above",
          Part::none, capability<Capability::sys_admin>},
    Check{"privilege.sys_ptrace", "CAP_SYS_PTRACE: read the smaps of other users' processes", Part::none,
          capability<Capability::sys_ptrace>},
    Check{"privilege.dac_override", "CAP_DAC_OVERRIDE: write the clear_refs of other users' processes", Part::none,
          capability<Capability::dac_override>},
    Check{"privilege.sys_nice", "CAP_SYS_NICE: clear accessed bits of other processes (process_madvise)", Part::none,
          capability<Capability::sys_nice>},
    Check{"privilege.sys_resource", "CAP_SYS_RESOURCE: raise `ulimit -l`, which only old kernels need", Part::none,
          check_sys_resource},
    Check{"privilege.seccomp", "whether a seccomp filter is on, and lets bpf(2) through", Part::none, check_seccomp},
    Check{"privilege.user_namespace", "whether this is the initial user namespace", Part::none, check_user_namespace},
    Check{"privilege.pid_namespace", "whether this is the initial PID namespace", Part::none, check_pid_namespace},

    Check{"cgroup.version", "which cgroup hierarchies are mounted", Part::none, check_cgroup_version},
    Check{"cgroup.memory", "where the memory controller is", Part::none, check_cgroup_memory},

    Check{"mount.proc", "`/proc` is mounted and shows all processes", Part::none, check_proc},
    Check{"mount.tracefs", "tracefs is mounted; hotset looks into it without, as root", Part::none, tracefs},
    Check{"mount.debugfs", "debugfs is mounted; not used", Part::none, debugfs},
    Check{"mount.bpffs", "bpffs is mounted; needed to pin maps", Part::none, bpffs},
    Check{"mount.securityfs", "securityfs is mounted; hotset looks into it without, as root", Part::none, securityfs},

    Check{"build.lightgbm", "LightGBM is part of this program", Part::none, check_lightgbm},
};

} // namespace

std::span<const Check> doctor_checks() {
  return kChecks;
}

} // namespace hotset
