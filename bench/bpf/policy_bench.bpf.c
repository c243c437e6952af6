// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a hook costs by itself: programs that do nothing. */
#include "kernel_types.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("tp_btf/sys_exit")
int BPF_PROG(empty_sys_exit, struct pt_regs *regs, long result)
{
	return 0;
}

SEC("lsm/file_open")
int BPF_PROG(empty_file_open, struct file *file, int earlier)
{
	return earlier;
}
