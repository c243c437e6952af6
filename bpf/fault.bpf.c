// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <linux/types.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";
