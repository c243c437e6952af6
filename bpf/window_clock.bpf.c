// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What the clocks of a rolling window stand at. Never attached: user space runs it once (BPF_PROG_TEST_RUN) and looks
 * at the variables. The jiffies come first, so that the times are never earlier than the begin of that jiffy.
 */
#include "kernel_types.h"
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

__u64 jiffies = 0;
__u64 monotonic_ns = 0;
__u64 boottime_ns = 0;

SEC("raw_tp/sys_enter")
int window_clock(void *ctx)
{
	jiffies = bpf_jiffies64();
	monotonic_ns = bpf_ktime_get_ns();
	boottime_ns = bpf_ktime_get_boot_ns();
	return 0;
}
