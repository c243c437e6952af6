/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether the way from a file up to the root is still the one that was walked.
 *
 * What ends a file's own name (a rename of it, another link, an unlink) shows in its directory entry, which is compared
 * at each look-up (guard_cache). What is further up is told by two counts of the kernel and one of ours:
 *
 *	rename_lock	a sequence lock that the kernel holds while it moves any directory entry, on whoever's behalf
 *	mount_lock	the same for mounts
 *	own_topology	renames of directories, counted when vfs_rename returns; and removals of directories where a new
 *			one elsewhere may get the same inode number and generation
 *
 * The count of a sequence lock is odd during a change and other after it. So a walk is true if both counts were even,
 * and the same before and after it: thus the kernel's own d_path() does it. vfs_rename is what system calls, io_uring
 * and the kernel's file servers have in common. Not so the clients of network file systems (NFS, FUSE) that come upon a
 * directory in another place than before, because somebody moved it at the server: that alone is not noticed.
 *
 * Without a program at vfs_rename (`renames_end_matches`) each move of any entry ends all of them, which is truer
 * still, and dearer. Without the addresses of the locks (a kernel whose symbols leave data out: `calls_end_matches`) it
 * is the returning system calls that are counted, and a mount is told by its number that is never used again (Linux
 * 6.8).
 */
#pragma once

#include "guard.h"
#include "guard_peek.bpf.h"

/* Addresses of the kernel's sequence counts; 0: not known. */
const volatile __u64 rename_lock_at = 0;
const volatile __u64 mount_lock_at = 0;
const volatile bool renames_end_matches = false;
const volatile bool calls_end_matches = false;

/* On a cache line that nobody else writes to. */
struct {
	__u64 changes;
	__u64 padding[15];
} own_topology __attribute__((aligned(64)));

struct topology {
	__u32 renames;
	__u32 mounts;
	__u64 own;
};

/* What a walk has to hold against; what an entry has to is less where directories are counted by us. */
static __always_inline void topology_now(struct topology *topology)
{
	topology->own = *(volatile __u64 *)&own_topology.changes;
	topology->mounts = mount_lock_at ? sequence_at(mount_lock_at, typed_pointers) : 0;
	topology->renames = rename_lock_at ? sequence_at(rename_lock_at, typed_pointers) : 0;
}

static __always_inline void topology_changed(void)
{
	__sync_fetch_and_add(&own_topology.changes, 1);
}

/* Whether nothing that was found between the reading of `before` and that of `after` can have been half a change. */
static __always_inline bool topology_held(const struct topology *before, const struct topology *after)
{
	return before->renames == after->renames && before->mounts == after->mounts && before->own == after->own &&
	       !((before->renames | before->mounts) & 1);
}

/* Where a walk begins: a directory entry in a mount, by address, and the topology, read before they were. */
struct origin {
	__u64 vfsmount;
	__u64 dentry;
	struct topology topology;
};

static __always_inline struct mount *mount_of(const struct origin *origin)
{
	return (void *)origin->vfsmount - bpf_core_field_offset(struct mount, mnt);
}

/* Above the last address: an error in the place of a pointer, as in the kernel. */
static __always_inline bool is_error(const void *pointer)
{
	return (__u64)pointer >= (__u64)-4095;
}
