/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From a file up to the root of its mount namespace, across mounts, name by name.
 *
 * Two walks share the steps: one feeds the policy's automaton (policy.h) and puts nothing together, the other writes
 * the path down for an event. Everything is read by bpf_probe_read_kernel, since what the walk meets may be freed
 * under it; whether that happened shows in the topology afterwards, and then it is begun again.
 *
 * The root is that of the mount namespace that the file's mount is in. A process's own root (chroot) is not asked for:
 * it would be no protection, for who may chroot can leave it, and the same file would have several paths.
 */
#pragma once

#include "compat.bpf.h"
#include "guard_topology.bpf.h"

#define KERNEL_MOUNT (1UL << 22) /* SB_KERNMOUNT, since Linux 2.6 */
#define S_IFMT	     00170000
#define S_IFREG	     0100000
#define NAME_PIECE   32 /* bytes read at a time; a power of two */

enum climbed {
	CLIMBED_A_NAME,
	CLIMBED_A_MOUNT, /* from its root to what it covers: no name in between */
	CLIMBED_TO_THE_ROOT,
	CLIMBED_ASTRAY, /* above the root of a bind mount, or out of what was unmounted */
};

/* Where a walk is. */
struct climb {
	struct dentry *dentry;
	struct dentry *root; /* of `mount` */
	struct mount *mount;
};

struct name {
	__u64 address;
	__u32 bytes;
};

static __always_inline void climb_from(struct climb *climb, const struct origin *origin)
{
	struct mount *mount = mount_of(origin);

	climb->dentry = (void *)origin->dentry;
	climb->mount = mount;
	climb->root = BPF_CORE_READ(mount, mnt.mnt_root);
}

static __always_inline enum climbed climb_step(struct climb *climb, struct name *name)
{
	struct dentry *dentry = climb->dentry;
	struct mount *mount = climb->mount;
	struct dentry *parent;

	if (dentry == climb->root) {
		struct mount *below = BPF_CORE_READ(mount, mnt_parent);

		if (below == mount)
			return CLIMBED_TO_THE_ROOT;
		climb->dentry = BPF_CORE_READ(mount, mnt_mountpoint);
		climb->mount = below;
		climb->root = BPF_CORE_READ(below, mnt.mnt_root);
		return CLIMBED_A_MOUNT;
	}
	parent = BPF_CORE_READ(dentry, d_parent);
	if (!parent || parent == dentry)
		return CLIMBED_ASTRAY;
	name->bytes = BPF_CORE_READ(dentry, d_name.len);
	name->address = (__u64)BPF_CORE_READ(dentry, d_name.name);
	climb->dentry = parent;
	return CLIMBED_A_NAME;
}

/* Before a walk: whether the file is where a path leads to at all. */
static __always_inline enum guard_walk_end walkable(const struct origin *origin)
{
	struct dentry *dentry = (void *)origin->dentry;
	struct mount *mount = mount_of(origin);
	struct mnt_namespace *namespace = BPF_CORE_READ(mount, mnt_ns);
	__u32 anonymous = 0;
	__u32 inum;

	if (is_error(namespace)) {
		/*
		 * A mount of the kernel's own. User space knows a pseudo file system's (a pipe, a socket, a memfd), of
		 * which memfds can be executed and are said to be without a path. Through others a file system opens
		 * the files below it (overlayfs its layers), when the open that user space made was judged already.
		 */
		if (BPF_CORE_READ(mount, mnt.mnt_sb, s_flags) & KERNEL_MOUNT &&
		    (BPF_CORE_READ(dentry, d_inode, i_mode) & S_IFMT) == S_IFREG)
			return GUARD_WALK_detached;
		return GUARD_WALK_foreign;
	}
	if (!namespace)
		return GUARD_WALK_detached; /* unmounted lazily */
	/* A mount that was never put anywhere (fsmount, open_tree) is in a namespace of its own without a number. */
	if (bpf_core_enum_value_exists(enum init_ns_ino, MNT_NS_ANON_INO))
		anonymous = bpf_core_enum_value(enum init_ns_ino, MNT_NS_ANON_INO);
	inum = BPF_CORE_READ(namespace, ns.inum);
	if (!inum || inum == anonymous)
		return GUARD_WALK_detached;
	if (!BPF_CORE_READ(dentry, d_hash.pprev) && BPF_CORE_READ(dentry, d_parent) != dentry)
		return GUARD_WALK_deleted;
	return GUARD_WALK_whole;
}

/* Walks with the automaton. */
struct match_walk {
	const struct policy_image *image;
	const struct origin *origin;
	struct climb climb;
	struct topology topology; /* before the walk */
	__u32 state;
	__u32 begun; /* at this step of the loop. Steps are not counted here, for a verifier would try each count */
	bool named;
	bool restarted;
	__u8 end; /* enum guard_walk_end */
};

static __always_inline void match_walk_begin(struct match_walk *walk, __u32 step)
{
	climb_from(&walk->climb, walk->origin);
	walk->state = walk->image->start;
	walk->begun = step;
	walk->named = false;
}

/* The end of a walk: true if it stands, else it is begun again, for as long as the loop goes on. */
static __always_inline bool match_walk_ends(struct match_walk *walk, __u32 step, enum guard_walk_end end)
{
	struct topology now;

	topology_now(&now);
	walk->end = end;
	if (topology_held(&walk->topology, &now))
		return true;
	walk->end = GUARD_WALK_unsteady;
	walk->restarted = true;
	walk->topology = now;
	match_walk_begin(walk, step + 1);
	return false;
}

/*
 * The state after a name, from its last byte to its first, and the slash in front of it; NAME_UNREADABLE. By pieces,
 * for a stack is small. Global, so that verifiers look at its loop once, whatever the walk has come to.
 */
#define NAME_UNREADABLE 0xffffffffU

__noinline __u32 feed_name(const struct policy_image *image, __u32 state, __u64 name, __u32 bytes)
{
	char piece[NAME_PIECE] = {};
	__u32 last = 0; /* of the piece */

	if (!image || bytes >= GUARD_NAME_BYTES)
		return NAME_UNREADABLE;
	for (__u32 fed = 0; fed < GUARD_NAME_BYTES - 1; fed++) {
		if (fed >= bytes)
			break;
		if (fed % NAME_PIECE == 0) {
			last = bytes - fed - 1;
			if (last >= NAME_PIECE)
				last = NAME_PIECE - 1;
			__asm__ volatile("" : "+r"(last)); /* keeps the mask, which verifiers understand */
			last &= NAME_PIECE - 1;
			if (bpf_probe_read_kernel(piece, last + 1, (void *)(name + (bytes - fed - 1 - last))))
				return NAME_UNREADABLE;
		}
		state = policy_next(image, state, piece[(last - fed) & (NAME_PIECE - 1)]);
	}
	return policy_next(image, state, '/');
}

static long match_walk_step(__u32 step, struct match_walk *walk)
{
	struct name name;

	if (step - walk->begun >= GUARD_MAX_DEPTH)
		return match_walk_ends(walk, step, GUARD_WALK_too_deep);
	switch (climb_step(&walk->climb, &name)) {
	case CLIMBED_A_MOUNT:
		return 0;
	case CLIMBED_A_NAME:
		walk->state = feed_name(walk->image, walk->state, name.address, name.bytes);
		walk->named = true;
		if (walk->state == NAME_UNREADABLE)
			return match_walk_ends(walk, step, GUARD_WALK_unreadable);
		if (!policy_settled(walk->image, walk->state))
			return 0;
		return match_walk_ends(walk, step, GUARD_WALK_whole);
	case CLIMBED_TO_THE_ROOT:
		return match_walk_ends(walk, step, GUARD_WALK_whole);
	default:
		return match_walk_ends(walk, step, GUARD_WALK_unreachable);
	}
}

/* Whether the file system hashes the names in that file's directory itself, so that names may share a hash by rule. */
static __always_inline bool names_share_hashes(const struct origin *origin)
{
	struct dentry *dentry = (void *)origin->dentry;
	__u32 own_hash = 1; /* so far in all versions */

	if (bpf_core_enum_value_exists(enum dentry_flags, DCACHE_OP_HASH))
		own_hash = bpf_core_enum_value(enum dentry_flags, DCACHE_OP_HASH);
	return BPF_CORE_READ(dentry, d_parent, d_flags) & own_hash;
}

/*
 * Walks from there, with the policy's automaton. The answer is a match and why there is none; WALK_STEADY: what was
 * found may be kept, since the topology was that of the origin all the time, and another name would show.
 */
#define WALK_MATCH(walked) ((__u32)(walked))
#define WALK_END(walked)   ((__u32)((walked) >> 32) & 0xff) /* enum guard_walk_end */
#define WALK_STEADY	   (1ULL << 63)
#define WALK_UNKNOWN(end)  ((__u64)(end) << 32 | POLICY_UNKNOWN_MATCH)

__noinline __u64 walk_to_match(const struct policy_image *image, const struct origin *origin)
{
	struct match_walk walk = {.image = image, .origin = origin};
	__u64 match;

	if (!image || !origin)
		return WALK_UNKNOWN(GUARD_WALK_unreadable);
	walk.end = walkable(origin);
	if (walk.end != GUARD_WALK_whole)
		return WALK_UNKNOWN(walk.end);
	walk.topology = origin->topology;
	match_walk_begin(&walk, 0);
	bpf_loop((GUARD_MIN_RESTARTS + 1) * (GUARD_MAX_DEPTH + 1), match_walk_step, &walk, 0);
	if (walk.end != GUARD_WALK_whole)
		return WALK_UNKNOWN(walk.end);
	if (!walk.named)
		walk.state = policy_next(image, image->start, '/'); /* the root itself */
	match = policy_match_of(image, walk.state);
	return walk.restarted || names_share_hashes(origin) ? match : match | WALK_STEADY;
}
