// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tries to make rolling windows lose. An LSM program has no guard against being interrupted by itself, and on a kernel
 * that preempts itself it is. Each call bumps three windows many times: the usual layout, the published one by the code
 * for such programs, and the published one by the plain code, which may lose.
 */
#include "kernel_types.h"
#include "window.bpf.h"
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define BUMPS 50

WINDOW(starts, first, second, third, fourth, fifth, sixth);
WINDOW_PUBLISHED(nested, first, second, third, fourth, fifth, sixth);
WINDOW_PUBLISHED(plain, first, second, third, fourth, fifth, sixth);

struct cpu {
	__u64 running;	/* programs */
	__u64 careless; /* bumps, by a load, a call and a store: for how often one comes in between */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu);
} cpus SEC(".maps");

__u32 tgid = 0;
__u64 calls = 0;
__u64 nested_calls = 0; /* begun while another was running on that CPU */

SEC("lsm/task_getscheduler")
int BPF_PROG(bump_nested, struct task_struct *task, int result)
{
	__u32 key = 0;
	struct cpu *cpu;
	__u64 careless;

	if (bpf_get_current_pid_tgid() >> 32 != tgid)
		return result;
	cpu = bpf_map_lookup_elem(&cpus, &key);
	if (!cpu)
		return result;
	__sync_fetch_and_add(&calls, 1);
	if (__sync_fetch_and_add(&cpu->running, 1) > 0)
		__sync_fetch_and_add(&nested_calls, 1);
	for (__u32 i = 0; i < BUMPS; i++) {
		window_bump(starts, sixth);
		window_published_add_nested(nested, sixth, 1);
		window_published_add(plain, sixth, 1);
		careless = window_load(&cpu->careless);
		bpf_ktime_get_ns();
		window_store(&cpu->careless, careless + 1);
	}
	__sync_fetch_and_add(&cpu->running, -1);
	return result;
}
