/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is known of a file's path: its match, kept so that the path need not be walked at each open.
 *
 * An entry is one word: the match, and a fingerprint of all that the match was computed from. It is read and written in
 * one piece, so any number of processors may look up and fill the same entry without a lock, and never see the match of
 * one path beside the proof of another. The fingerprint covers
 *
 *	the generation of the policy	a reload ends all entries
 *	the topology (guard_topology)	so does a mount, and the rename of a directory
 *	the mount			a file may be reached through several
 *	the directory's inode, the name	it may have several names; a rename of the file itself shows here
 *	whether the name is still there	it may have been unlinked
 *
 * which together are the path, so a file that got another's inode is no case of its own. It is keyed by a number that
 * user space draws for each run, and each step of it is a bijection, so two fingerprints of different parts agree only
 * by a chance of 1 in 2^52. The name is a weaker part: it enters by its length, the entry's address and the kernel's
 * 32-bit hash of it, which is keyed by the directory's address and is no cryptographic one. So a rename within one
 * directory, to a name as long, goes unnoticed by a chance of 1 in 2^32. A file system with a hash of its own (one that
 * folds case has the same for "a" and "A") would make it no chance at all: there nothing is kept (walk_to_match).
 * Entries are never removed, they cease to be true.
 *
 * In an LSM program the entry lies in the inode's own storage and goes with it. Other programs may not use that: theirs
 * is a table of fixed size, by device, inode number and generation, where a newer entry takes the place of an older.
 */
#pragma once

#include "guard_walk.bpf.h"

#define MATCH_MASK ((__u64)POLICY_MAX_MATCHES - 1)

const volatile __u64 fingerprint_key = 0;
const volatile bool cache_matches = true;

struct {
	__uint(type, BPF_MAP_TYPE_INODE_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u64);
} inode_matches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, GUARD_TABLE_ENTRIES);
	__type(key, __u32);
	__type(value, __u64);
} match_table SEC(".maps");

static __always_inline __u64 mixed(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL; /* odd: 2^64 divided by the golden ratio */
	return hash ^ hash >> 32;
}

static __always_inline void topology_of_an_entry(struct topology *topology)
{
	topology->own = *(volatile __u64 *)&own_topology.changes;
	topology->mounts = mount_lock_at ? sequence_at(mount_lock_at, typed_pointers) : 0;
}

/*
 * Where the file is, and the fingerprint of that. `walk`: also what a walk from there has to be held against. `file`
 * may be of any origin, `typed` or not; see peek.
 *
 * Each open comes by here, so a word of the fingerprint is as full as it can be: the lower 32 bits of our own count,
 * which repeat after 2^32 renames of directories, share one with the generation.
 */
static __always_inline __u64 find_file(struct origin *origin, struct file *file, __u32 generation, bool typed,
				       bool walk)
{
	struct dentry *dentry, *parent;
	struct inode *directory;
	bool unlinked;
	__u64 hash;

	if (walk || renames_end_matches)
		topology_now(&origin->topology);
	else
		topology_of_an_entry(&origin->topology);
	if (typed_pointers) {
		origin->vfsmount = number_at(&file->f_path.mnt, true);
		origin->dentry = number_at(&file->f_path.dentry, true);
	} else {
		bpf_core_read(origin, 2 * sizeof(__u64), &file->f_path); /* by one copy */
	}
	hash = mixed(fingerprint_key, generation | origin->topology.own << 32);
	if (renames_end_matches)
		hash = mixed(hash, origin->topology.mounts | (__u64)origin->topology.renames << 32);
	else if (mount_lock_at)
		hash = mixed(hash, origin->topology.mounts);
	hash = mixed(hash, origin->dentry);
	/* Without the kernel's count of mounts an address might be that of another mount by now. */
	if (!mount_lock_at && bpf_core_field_exists(struct mount, mnt_id_unique))
		hash = mixed(hash, number_at(&mount_of(origin)->mnt_id_unique, typed_pointers));
	else
		hash = mixed(hash, origin->vfsmount);
	dentry = (void *)origin->dentry;
	if (typed_pointers)
		dentry = bpf_rdonly_cast(dentry, bpf_core_type_id_kernel(struct dentry));
	else if (typed)
		dentry = file->f_path.dentry;
	if (typed && !typed_pointers)
		hash = mixed(hash, dentry->d_name.hash | (__u64)dentry->d_name.len << 32);
	else
		hash = mixed(hash, number_at(&dentry->d_name.hash, typed_pointers)); /* the length is beside it */
	parent = peek(typed, dentry, d_parent);
	directory = peek(typed, parent, d_inode);
	hash = mixed(hash, peek(typed, directory, i_ino));
	unlinked = !peek(typed, dentry, d_hash.pprev);
	hash = mixed(hash, peek(typed, directory, i_generation) | (__u64)unlinked << 32);
	return hash & ~MATCH_MASK;
}

/* An entry's word, by one load: it may be written meanwhile. 0: nothing was kept. */
static __always_inline __u64 kept_word(const __u64 *entry)
{
	return entry ? *(const volatile __u64 *)entry : 0;
}

/* Whether the match in that word is the one of the path with this fingerprint. */
static __always_inline bool still_true(__u64 word, __u64 proof)
{
	return cache_matches && (word & ~MATCH_MASK) == proof;
}

/* Keeps what a walk found, if it may be kept, by one store; says whether. */
static __always_inline bool keep_match(__u64 *entry, __u64 proof, __u64 walked)
{
	if (!entry || !cache_matches || !(walked & WALK_STEADY))
		return false;
	*(volatile __u64 *)entry = proof | (WALK_MATCH(walked) & MATCH_MASK);
	return true;
}

static __always_inline __u64 *table_entry(struct file *file, bool typed)
{
	struct inode *inode = peek(typed, file, f_inode);
	struct super_block *super = peek(typed, inode, i_sb);
	__u64 number = peek(typed, inode, i_ino);
	__u64 hash =
	    mixed(fingerprint_key ^ number, peek(typed, super, s_dev) | (__u64)peek(typed, inode, i_generation) << 32);
	__u32 slot = (hash >> 20) & (GUARD_TABLE_ENTRIES - 1);

	return bpf_map_lookup_elem(&match_table, &slot);
}
