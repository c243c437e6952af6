// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Page faults by kind, second by second: rolling windows of the whole host and of single processes.
 *
 * Three programs, all attached at once: the two tracepoints of a page-fault exception tell where it happened, the
 * address and the processor's error code; from the address follows the mapping (vma.bpf.h), from both the kind
 * (faultkinds.h). Whether there was input from disk shows only at the end of a fault; of that the kernel tells by its
 * software event.
 *
 * Of the host there is a window per CPU. A process has one that all CPUs share, for per CPU would be processes × CPUs
 * of them; which is dearer per fault, but only for those observed.
 */
#include "kernel_types.h"
#include "compat.bpf.h"
#include "faultkinds.h"
#include "vma.bpf.h"
#include "window.bpf.h"
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Set before loading. */
const volatile bool observe_processes = false;
const volatile __u64 filter_comm[2] = {};      /* name of the main thread, up to and with its NUL */
const volatile __u64 filter_comm_mask[2] = {}; /* its bytes that count; both 0: only what user space has put in */
const volatile __u32 pid_namespace = 0;	       /* inode of the reader's; 0: the initial one */
const volatile __s64 boot_offset_ns = 0;       /* of the reader's time namespace */

/*
 * user + kernel = anonymous + file + copy_on_write + unknown. Major ones are among them. Refused, in the host's window,
 * are those of processes that match the filter and found no room.
 */
WINDOW(faults, user, kernel, anonymous, file, copy_on_write, unknown, major, refused);

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16);
	__type(key, struct fault_key);
	__type(value, struct faults_window);
} processes SEC(".maps");

/* What a new process begins with: a started window without counts. Set just before attaching. */
__u64 fresh[sizeof(struct faults_window) / sizeof(__u64)] = {};

static __always_inline bool comm_matches(struct task_struct *leader)
{
	__u64 comm[2];

	if (!filter_comm_mask[0])
		return false;
	bpf_core_read(comm, sizeof(comm), &leader->comm);
	return (comm[0] & filter_comm_mask[0]) == filter_comm[0] && (comm[1] & filter_comm_mask[1]) == filter_comm[1];
}

/* The window of the current process, null when it is not observed. */
static __always_inline struct faults_window *process_window(void)
{
	struct task_struct *leader = compat_current_leader();
	struct faults_window *window;
	struct fault_key key = {};

	key.tgid = pid_namespace ? compat_pid_in_namespace(leader, pid_namespace) : bpf_get_current_pid_tgid() >> 32;
	if (!key.tgid)
		return NULL;
	key.start_ticks = (compat_start_boottime(leader) + boot_offset_ns) / FAULT_NS_PER_TICK;
	window = bpf_map_lookup_elem(&processes, &key);
	if (window || !comm_matches(leader))
		return window;
	/* Another thread may insert it first: then this fails, and the look-up finds that one's. */
	bpf_map_update_elem(&processes, &key, fresh, BPF_NOEXIST);
	window = bpf_map_lookup_elem(&processes, &key);
	if (!window)
		window_bump(faults, refused);
	return window;
}

static __always_inline enum fault_kind kind_of(struct mm_struct *mm, unsigned long address, unsigned long error_code)
{
	struct vm_area_struct *vma = find_vma_unlocked(mm, address);
	struct fault_mapping mapping;

	if (!vma)
		return FAULT_KIND_unknown;
	mapping.vm_flags = BPF_CORE_READ(vma, vm_flags);
	mapping.file = (__u64)BPF_CORE_READ(vma, vm_file);
	mapping.special = (__u64)BPF_CORE_READ(vma, vm_ops);
	return fault_kind_of(error_code, &mapping);
}

static __always_inline void count_into(struct faults_window *window, bool user, enum fault_kind kind)
{
	if (user)
		window_add_to(window, user, 1);
	else
		window_add_to(window, kernel, 1);
	switch (kind) {
	case FAULT_KIND_anonymous:
		window_add_to(window, anonymous, 1);
		break;
	case FAULT_KIND_file:
		window_add_to(window, file, 1);
		break;
	case FAULT_KIND_copy_on_write:
		window_add_to(window, copy_on_write, 1);
		break;
	default:
		window_add_to(window, unknown, 1);
	}
}

/* Addresses with the top bit set are the kernel's own: its repairs of its page tables are no faults of a process. */
static __always_inline int count_fault(unsigned long address, unsigned long error_code, bool user)
{
	struct mm_struct *mm = BPF_CORE_READ((struct task_struct *)bpf_get_current_task(), mm);
	struct faults_window *window;
	enum fault_kind kind;

	if (!mm || address >> 63)
		return 0;
	kind = kind_of(mm, address, error_code);
	window = window_of(faults);
	if (window)
		count_into(window, user, kind);
	window = observe_processes ? process_window() : NULL;
	if (window)
		count_into(window, user, kind);
	return 0;
}

SEC("raw_tp/page_fault_user")
int BPF_PROG(kinds_user, unsigned long address, struct pt_regs *regs, unsigned long error_code)
{
	return count_fault(address, error_code, true);
}

SEC("raw_tp/page_fault_kernel")
int BPF_PROG(kinds_kernel, unsigned long address, struct pt_regs *regs, unsigned long error_code)
{
	return count_fault(address, error_code, false);
}

SEC("perf_event")
int kinds_major(void *ctx)
{
	struct faults_window *window;

	window_bump(faults, major);
	window = observe_processes ? process_window() : NULL;
	if (window)
		window_add_to(window, major, 1);
	return 0;
}
