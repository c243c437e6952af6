// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Counts system calls, second by second: one line declares the window, one counts. */
#include <asm/unistd_64.h>
#include <linux/bpf.h>

#include <window.bpf.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

WINDOW(syscalls, openat, execve, others);

SEC("raw_tp/sys_enter")
int count_syscall(struct bpf_raw_tracepoint_args *ctx)
{
	switch (ctx->args[1]) {
	case __NR_openat:
		window_bump(syscalls, openat);
		break;
	case __NR_execve:
		window_bump(syscalls, execve);
		break;
	default:
		window_bump(syscalls, others);
	}
	return 0;
}
