// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Rolling windows as a user of bpf/window.bpf.h writes them: bumped on demand, and on the page-fault path. */
#include "kernel_types.h"
#include "window.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

WINDOW(seven, first, second, third, fourth, fifth, sixth, seventh);
WINDOW(twelve, a, b, c, d, e, f, g, h, i, j, k, l);
WINDOW_PUBLISHED(cache, lookups, hits_no_policy, hits_allow, hits_deny, misses_walk, fills);

/* Windows of the same kind for several targets, each one copy that all CPUs share. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 3);
	__type(key, __u32);
	__type(value, struct seven_window);
} targets SEC(".maps");

/* The verifier walks each of them. */
#define MOST_BUMPS 25

/* Set by the test. */
__u32 bumps = 0;
__u32 tgid = 0;
__u32 target = 0;
/* What the program saw, to compare with. */
__u64 faults = 0;

SEC("raw_tp/sys_enter")
int bump(void *ctx)
{
	for (__u32 i = 0; i < MOST_BUMPS && i < bumps; i++) {
		window_bump(seven, first);
		window_add(seven, seventh, 3);
		window_bump(twelve, l);
		window_published_add(cache, lookups, 1);
		window_published_add(cache, fills, 2);
	}
	return 0;
}

SEC("tp_btf/page_fault_user")
int on_fault(void *ctx)
{
	__u32 key = target;
	struct seven_window *w;

	if (bpf_get_current_pid_tgid() >> 32 != tgid)
		return 0;
	__sync_fetch_and_add(&faults, 1);
	window_bump(seven, third);
	window_published_add(cache, hits_deny, 1);
	w = bpf_map_lookup_elem(&targets, &key);
	if (w)
		window_add_to(w, third, 1);
	return 0;
}
