/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Looks into the kernel's structures by plain loads.
 *
 * A copy by bpf_probe_read_kernel is a call that makes two more, and each return from one is dear where the kernel
 * guards returns against speculation. A load is a few instructions, but verifiers allow it only by a pointer whose type
 * they know. The arguments of a hook have one; bpf_rdonly_cast (Linux 6.2, `typed_pointers`) gives one to any number.
 * What cannot be loaded reads as zero. `typed`, everywhere: may be loaded; a constant to the verifier.
 */
#pragma once

#include "kernel_types.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

const volatile bool typed_pointers = false; /* this kernel has bpf_rdonly_cast */

void *bpf_rdonly_cast(const void *object, __u32 type) __ksym __weak;

/* A member of a kernel structure that the verifier knows the pointer to point to, if `typed`. */
#define peek(typed, pointer, member) ((typed) ? (pointer)->member : BPF_CORE_READ(pointer, member))

/*
 * The 64 bits at that address. A pointer is got as a number by it, for verifiers allow no arithmetic with pointers that
 * they know. To load, the address is said to be that of a structure which begins with such a number, and which all
 * kernels have.
 */
static __always_inline __u64 number_at(const void *address, bool typed)
{
	__u64 number = 0;

	if (typed)
		return ((struct timespec64 *)bpf_rdonly_cast(address, bpf_core_type_id_kernel(struct timespec64)))
		    ->tv_sec;
	bpf_probe_read_kernel(&number, sizeof(number), address);
	return number;
}

/* The count of a sequence lock, at an address that user space has found to be readable. */
static __always_inline __u32 sequence_at(__u64 address, bool typed)
{
	__u32 sequence = 1; /* odd: what cannot be copied is never steady */

	if (typed)
		return ((struct seqcount *)bpf_rdonly_cast((void *)address, bpf_core_type_id_kernel(struct seqcount)))
		    ->sequence;
	bpf_probe_read_kernel(&sequence, sizeof(sequence), (void *)address);
	return sequence;
}
