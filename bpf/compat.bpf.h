/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Differences between kernels, one function each. Each looks for the member or the BPF helper that it needs in the
 * running kernel's type information; none looks at a version, which says little about a distribution's kernel.
 *
 * What is found out is a constant by the time the verifier sees it, so the branch not taken is removed, whatever
 * unknown helper stands in it.
 */
#pragma once

#include "kernel_types.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#define MAX_PID_NAMESPACES 33 /* MAX_PID_NS_LEVEL of the kernel, and the initial one */

/*
 * The main thread of the current process. Where bpf_get_current_task_btf exists (Linux 5.11), the pointer may be
 * followed by plain loads; elsewhere only by copies, a call each.
 */
static __always_inline struct task_struct *compat_current_leader(void)
{
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_get_current_task_btf))
		return bpf_get_current_task_btf()->group_leader;
	return BPF_CORE_READ((struct task_struct *)bpf_get_current_task(), group_leader);
}

static __always_inline __u64 compat_start_boottime(struct task_struct *leader)
{
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_get_current_task_btf))
		return leader->start_boottime;
	return BPF_CORE_READ(leader, start_boottime);
}

#define MAX_RT_PRIO 100 /* below: real-time and deadline, lent priority included */

/*
 * The processor on which a thread runs at this moment, -1 when it does not, when it runs at real-time priority, or
 * where the kernel doesn't say.
 */
static __always_inline int compat_processor_of(struct task_struct *task)
{
	if (!bpf_core_field_exists(task->on_cpu) || !bpf_core_field_exists(task->thread_info.cpu))
		return -1;
	if (!task->on_cpu || task->prio < MAX_RT_PRIO)
		return -1;
	return task->thread_info.cpu;
}

/*
 * The number of a process in the PID namespace of that inode, 0 when it is not visible there. The helper
 * bpf_get_ns_current_pid_tgid answers only for tasks directly in the namespace; this also finds those in namespaces
 * below it, as /proc does.
 */
static __always_inline __u32 compat_pid_in_namespace(struct task_struct *leader, __u32 inode)
{
	struct pid *pid = BPF_CORE_READ(leader, thread_pid);
	__u32 level = BPF_CORE_READ(pid, level);
	void *numbers = (void *)pid + bpf_core_field_offset(struct pid, numbers);

	for (__u32 i = 0; i < MAX_PID_NAMESPACES && i <= level; i++) {
		struct upid *upid = numbers + i * bpf_core_type_size(struct upid);

		if (BPF_CORE_READ(upid, ns, ns.inum) == inode)
			return BPF_CORE_READ(upid, nr);
	}
	return 0;
}

/* Results of handle_mm_fault that are no completed fault: an error, or to be begun again. */
static __always_inline __u32 compat_incomplete_fault_mask(void)
{
	return bpf_core_enum_value(enum vm_fault_reason, VM_FAULT_OOM) |
	       bpf_core_enum_value(enum vm_fault_reason, VM_FAULT_SIGBUS) |
	       bpf_core_enum_value(enum vm_fault_reason, VM_FAULT_HWPOISON) |
	       bpf_core_enum_value(enum vm_fault_reason, VM_FAULT_HWPOISON_LARGE) |
	       bpf_core_enum_value(enum vm_fault_reason, VM_FAULT_SIGSEGV) |
	       bpf_core_enum_value(enum vm_fault_reason, VM_FAULT_RETRY) |
	       bpf_core_enum_value(enum vm_fault_reason, VM_FAULT_FALLBACK);
}
