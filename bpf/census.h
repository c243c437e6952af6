/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What bpf/census.bpf.c hands to user space: copies of leaf page tables, and for each what it is about.
 */
#pragma once

#include <linux/types.h>

#define CENSUS_TABLE_ENTRIES 512
#define CENSUS_CHUNK_ENTRIES                                                                                           \
	65536U /* copied in one go: 512 KiB, which stay in a processor's cache until they are read */
#define CENSUS_CHUNK_STRETCHES 2048U
#define CENSUS_FILTER_WORDS    1024U /* 2^16 bits: one per table, hashed */
#define CENSUS_GIB_WORDS       16U   /* 2^10 bits: one per GiB, hashed */

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
	CENSUS_HUGE = 1, /* no table but one directory entry that maps 2 MiB */
	CENSUS_LOCKED = 2,
	CENSUS_SHARED = 4, /* MAP_SHARED */
	CENSUS_ALONE = 8,  /* the only mapping of its file, in all processes */
};

/* One copied table, or the part of it that belongs to one mapping: neighbours that share a table have a stretch each.
 */
struct census_stretch {
	__u64 address; /* of entry 0 of the table */
	__u32 vma;     /* low bits of the page number at which the mapping starts: tells neighbours apart */
	__u16 first;   /* entries of the mapping: first <= i < last */
	__u16 last;
	__u8 mapping; /* enum census_mapping */
	__u8 flags;   /* enum census_flags */
	__u16 unused;
	__u32 copy;    /* where the copies of its entries begin: last - first of them, or one that maps 2 MiB */
	__u32 forks;   /* moves with each mapping that a fork shares, and so with each fork */
	__u32 content; /* tells apart what mappings show at an address, files most of all; 0: nothing to tell */
};

/* The bit of a table's address in the filter, and that of the GiB it lies in. */
static inline __u64 census_filter_bit(__u64 address)
{
	return ((address >> 21) * 0x9e3779b97f4a7c15ULL) >> 48;
}
static inline __u64 census_gib_bit(__u64 address)
{
	return ((address >> 30) * 0x9e3779b97f4a7c15ULL) >> 54;
}

#ifdef __cplusplus
static_assert(sizeof(census_stretch) == 32);
#else
_Static_assert(sizeof(struct census_stretch) == 32, "shared with user space");
#endif
