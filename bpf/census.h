/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What bpf/census.bpf.c hands to user space: copies of leaf page tables, and for each what it is about.
 */
#pragma once

#include <linux/types.h>

#define CENSUS_TABLE_ENTRIES 512
#define CENSUS_CHUNK_TABLES  512   /* copied in one go: 2 MiB of buffer for 1 GiB of address space */
#define CENSUS_FILTER_WORDS  4096U /* 2^18 bits: one per table, hashed */

/* The same as Mapping in src/access/snapshot.h. */
enum census_mapping {
	CENSUS_ANONYMOUS,
	CENSUS_STACK,
	CENSUS_FILE,
	CENSUS_SHMEM,
	CENSUS_HUGETLB,
	CENSUS_SPECIAL,
};

enum census_flags {
	CENSUS_HUGE = 1, /* the "table" is one directory entry, in entry[0], that maps 2 MiB */
	CENSUS_LOCKED = 2,
	CENSUS_SHARED = 4, /* MAP_SHARED */
};

struct census_table {
	__u64 entry[CENSUS_TABLE_ENTRIES];
};

/* One copied table, or the part of it that belongs to one mapping: neighbours that share a table get a copy each. */
struct census_stretch {
	__u64 address; /* of entry 0 */
	__u32 vma;     /* low bits of the page number at which the mapping starts: tells neighbours apart */
	__u16 first;   /* entries of the mapping: first <= i < last */
	__u16 last;
	__u8 mapping; /* enum census_mapping */
	__u8 flags;   /* enum census_flags */
	__u16 unused;
	__u32 unused2;
};

/* The bit of a table's address in the filter. */
static inline __u64 census_filter_bit(__u64 address)
{
	return ((address >> 21) * 0x9e3779b97f4a7c15ULL) >> 46;
}

#ifdef __cplusplus
static_assert(sizeof(census_table) == 4096 && sizeof(census_stretch) == 24);
#else
_Static_assert(sizeof(struct census_table) == 4096 && sizeof(struct census_stretch) == 24, "shared with user space");
#endif
