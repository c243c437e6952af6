// SPDX-License-Identifier: Apache-2.0
// The probe functions behind doctor's table of checks. Internal to src/app.
#pragma once

#include <string_view>

#include "app/doctor.h"
#include "base/result.h"
#include "kernel/hooks.h"

namespace hotset {

// What a try says about the machine: its error sorted by barrier, with `kernel_remedy` where the kernel lacks it and
// the error has no remedy of its own.
Finding judge(const Result<>& tried, const Machine& machine, std::string_view kernel_remedy, std::string detail = {});
// The same for a file that needs a capability: a bare "permission denied" becomes the name of what is missing.
Finding judge_file(const Result<>& tried, const Machine& machine, Capability needed, std::string_view kernel_remedy,
                   std::string detail = {});

// Hooks and BPF (doctor_bpf.cpp).
Finding check_hook(const Machine& machine, Attach attach);
Finding check_iter_task(const Machine& machine);
Finding check_iter_task_vma(const Machine& machine);
Finding check_lsm(const Machine& machine);
Finding check_syscall_program(const Machine& machine);
Finding check_bpf_loop(const Machine& machine);
Finding check_kernel_read(const Machine& machine);
Finding check_ring_buffer(const Machine& machine);
Finding check_perf_buffer(const Machine& machine);
Finding check_mapped_array(const Machine& machine);
Finding check_memlock(const Machine& machine);
Finding check_btf(const Machine& machine);

// Reference measurements (doctor_reference.cpp).
Finding check_clear_refs(const Machine& machine);
Finding check_smaps_rollup(const Machine& machine);
Finding check_smaps(const Machine& machine);
Finding check_idle_bitmap(const Machine& machine);
Finding check_damon(const Machine& machine);
Finding check_census(const Machine& machine);

// Privileges (doctor_privileges.cpp).
Finding check_capability(const Machine& machine, Capability capability);
Finding check_sys_resource(const Machine& machine);
Finding check_seccomp(const Machine& machine);
Finding check_user_namespace(const Machine& machine);
Finding check_pid_namespace(const Machine& machine);
Finding check_unprivileged_bpf(const Machine& machine);
Finding check_perf_event_paranoid(const Machine& machine);
Finding check_lockdown(const Machine& machine);
Finding check_lsm_list(const Machine& machine);

// Control groups, pressure, mounts, build (doctor_system.cpp).
Finding check_release(const Machine& machine);
Finding check_cgroup_version(const Machine& machine);
Finding check_cgroup_memory(const Machine& machine);
Finding check_psi(const Machine& machine);
Finding check_proc(const Machine& machine);
Finding check_mount(const Machine& machine, std::string_view type, std::string_view point);
Finding check_lightgbm(const Machine& machine);

} // namespace hotset
