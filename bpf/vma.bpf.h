/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which mapping an address lies in, looked up where no lock may be taken: in the tracepoints of a page fault,
 * interrupts are off and the mmap lock may be anyone's.
 *
 * bpf_find_vma() answers there too, but to give the lock back it has to interrupt its own CPU: 14 us a fault on a
 * virtual machine, seven times the fault. The kernel's own fault path has since 6.4 looked the VMA up without a lock,
 * under RCU (lock_vma_under_rcu). A BPF program runs under RCU as well, and does the same: down the maple tree, a node
 * a level.
 *
 * The tree may change meanwhile. Every read is a checked copy, so the worst is a wrong answer, and that is found out:
 * the VMA must lie in this mm and around the address, else nothing is said.
 */
#pragma once

#include "kernel_types.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <stddef.h>

/* include/linux/maple_tree.h: nodes lie at multiples of 256 bytes; the bits below hold the type. */
#define MAPLE_NODE_BYTES   256UL
#define MAPLE_TYPE_SHIFT   3
#define MAPLE_TYPE_MASK	   15
#define MAPLE_LEAF_64	   1
#define MAPLE_ARANGE_64	   3
#define MAPLE_LEAST_NODE   4096UL /* what is less is an entry of its own, no node */
#define MAPLE_PIVOTS	   15
#define MAPLE_MAX_LEVELS   8 /* with nine children each at least: above any number of mappings */
#define WITHOUT_TOP_BIT(x) ((x) & ~(1UL << 63))

/*
 * The slot for `address` (above 0, of user space): as many pivots as are less than it. Unused ones are 0, and what
 * stands behind those of a smaller node are kernel pointers: both come out as very large, and are not less. Counted
 * without branches, for the verifier would follow each.
 */
static __always_inline unsigned long maple_slot(const unsigned long *pivots, unsigned long address)
{
	unsigned long less = 0;

#pragma unroll
	for (int i = 0; i < MAPLE_PIVOTS; i++)
		less += (WITHOUT_TOP_BIT(pivots[i] - 1) - (address - 1)) >> 63;
	return less;
}

/* An entry of the tree for that address, unchecked; null when there is none or this kernel has no such tree. */
static __always_inline void *maple_find(struct mm_struct *mm, unsigned long address)
{
	unsigned long pivots[MAPLE_PIVOTS];
	void *entry = NULL;

	if (!bpf_core_type_exists(struct maple_tree))
		return NULL;
	entry = BPF_CORE_READ(mm, mm_mt.ma_root);
	/* Unrolled, for of a loop clang makes one that is entered in its middle, which verifiers of 2022 (6.1) refuse.
	 */
#pragma unroll
	for (int level = 0; level < MAPLE_MAX_LEVELS; level++) {
		unsigned long encoded = (unsigned long)entry;
		unsigned long node = encoded & ~(MAPLE_NODE_BYTES - 1);
		unsigned int type = encoded >> MAPLE_TYPE_SHIFT & MAPLE_TYPE_MASK;
		unsigned long slots = type == MAPLE_ARANGE_64 ? bpf_core_field_offset(struct maple_arange_64, slot)
							      : bpf_core_field_offset(struct maple_range_64, slot);

		if (encoded < MAPLE_LEAST_NODE || type < MAPLE_LEAF_64 || type > MAPLE_ARANGE_64)
			return NULL;
		if (bpf_probe_read_kernel(pivots, sizeof(pivots),
					  (void *)node + bpf_core_field_offset(struct maple_range_64, pivot)))
			return NULL;
		slots += maple_slot(pivots, address) * sizeof(entry);
		if (bpf_probe_read_kernel(&entry, sizeof(entry), (void *)node + slots))
			return NULL;
		if (type == MAPLE_LEAF_64)
			return entry;
	}
	return NULL;
}

/* The VMA of the current process that `address` lies in, to be read by copies only; null when it cannot be told. */
static __always_inline struct vm_area_struct *find_vma_unlocked(struct mm_struct *mm, unsigned long address)
{
	struct vm_area_struct *vma = maple_find(mm, address);

	if (!vma || BPF_CORE_READ(vma, vm_mm) != mm)
		return NULL;
	return BPF_CORE_READ(vma, vm_start) <= address && address < BPF_CORE_READ(vma, vm_end) ? vma : NULL;
}
