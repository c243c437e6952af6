// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Ways to tell user space that something happened, each as a program that can be run a million times in one call (tc),
 * and as one on the page-fault path.
 */
#include "kernel_types.h"
#include "window.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

WINDOW(seven, lookups, hits_no_policy, hits_allow, hits_deny, misses_walk, fills, evictions);
WINDOW_PUBLISHED(published, lookups, hits_no_policy, hits_allow, hits_deny, misses_walk, fills);

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u64);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 * 1024 * 1024);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} perf SEC(".maps");

/* As large as a sample of page faults. */
struct record {
	__u64 word[7];
};

__u64 refused = 0; /* records that found the buffer full */
__u64 told = 0;	   /* by the clock: so that nobody leaves it out */

static __always_inline void count_in_hash(void)
{
	__u32 key = 1;
	__u64 one = 1;
	__u64 *count = bpf_map_lookup_elem(&counts, &key);

	if (count)
		__sync_fetch_and_add(count, 1);
	else
		bpf_map_update_elem(&counts, &key, &one, BPF_NOEXIST);
}

static __always_inline void send_by_ring(void)
{
	struct record record = {.word = {bpf_ktime_get_boot_ns()}};

	if (bpf_ringbuf_output(&ring, &record, sizeof(record), 0))
		__sync_fetch_and_add(&refused, 1);
}

static __always_inline void send_by_perf(void *ctx)
{
	struct record record = {.word = {bpf_ktime_get_boot_ns()}};

	if (bpf_perf_event_output(ctx, &perf, BPF_F_CURRENT_CPU, &record, sizeof(record)))
		__sync_fetch_and_add(&refused, 1);
}

/* Once in a run; and in a fault so often that it can be told from what faults vary by. */
#define BUMPS_PER_FAULT 16

#define BOTH(name, times, body)                                                                                        \
	SEC("tc") int run_##name(void *ctx)                                                                            \
	{                                                                                                              \
		body;                                                                                                  \
		return 0;                                                                                              \
	}                                                                                                              \
	SEC("tp_btf/page_fault_user") int fault_##name(void *ctx)                                                      \
	{                                                                                                              \
		for (int i = 0; i < (times); i++) {                                                                    \
			body;                                                                                          \
		}                                                                                                      \
		return 0;                                                                                              \
	}

BOTH(empty, 1, )
BOTH(window, BUMPS_PER_FAULT, window_bump(seven, hits_allow))
BOTH(published, BUMPS_PER_FAULT, window_published_add(published, hits_allow, 1))
BOTH(hash, BUMPS_PER_FAULT, count_in_hash())
BOTH(boottime, BUMPS_PER_FAULT, told += bpf_ktime_get_boot_ns())
BOTH(ringbuf, 1, send_by_ring())
BOTH(perfbuf, 1, send_by_perf(ctx))
