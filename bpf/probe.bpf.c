// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Whether a kernel offers a BPF feature is found out by using it: one tiny program per feature, of which user space
 * loads exactly one at a time, runs it once and looks for its trace in `calls` or in its result.
 */
#include "kernel_types.h"
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

__u64 calls;

/* A byte of output makes the reader's read(2) return after the first object, instead of walking all of them. */
static __always_inline void show(struct bpf_iter_meta *meta)
{
	char byte = '.';

	bpf_seq_write(meta->seq, &byte, sizeof(byte));
	calls++;
}

SEC("iter/task")
int probe_iter_task(struct bpf_iter__task *ctx)
{
	show(ctx->meta);
	return 0;
}

SEC("iter/task_vma")
int probe_iter_task_vma(struct bpf_iter__task_vma *ctx)
{
	show(ctx->meta);
	return 0;
}

/* A hook that hardly anyone calls (sched_getscheduler), so that nobody pays for the moment of its being attached. */
SEC("lsm/task_getscheduler")
int probe_lsm(void *ctx)
{
	calls++;
	return 0;
}

SEC("syscall")
int probe_syscall(void *ctx)
{
	calls++;
	return 0;
}

static long count_step(__u32 index, void *context)
{
	calls++;
	return 0;
}

/* Never attached: run once by BPF_PROG_TEST_RUN. */
SEC("raw_tp/sys_enter")
int probe_loop(void *ctx)
{
	bpf_loop(4, count_step, (void *)0, 0);
	return 0;
}

const volatile __u64 read_from = 0; /* 0: from the current task */

SEC("raw_tp/sys_enter")
int probe_kernel_read(void *ctx)
{
	__u64 word;

	if (!bpf_probe_read_kernel(&word, sizeof(word), (void *)(read_from ? read_from : bpf_get_current_task())))
		calls++;
	return 0;
}
