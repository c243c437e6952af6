/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the guard, which holds a file-access policy (policy.h) against each file that is opened, shares with user space:
 * its bounds, its events and what it says about itself.
 */
#pragma once

#include "policy.h"

#define GUARD_NAME_BYTES 256  /* NAME_MAX and a byte that makes it a power of two */
#define GUARD_PATH_BYTES 4096 /* a power of two */
#define GUARD_COMM_BYTES 16

/* A path of more components and mounts than this is unknown. */
#define GUARD_MAX_DEPTH 256U
/* So often at least is a walk begun again because of a rename or a mount meanwhile, before the path is unknown. */
#define GUARD_MIN_RESTARTS 32U

/* Entries of the table of matches: a power of two. Each is a word. */
#define GUARD_TABLE_ENTRIES (1U << 17)

/* What became of a walk from a file up to the root. One row each: X(name, what a user reads). */
#define GUARD_WALKS(X)                                                                                                 \
	X(whole, "")                                                                                                   \
	X(too_deep, "too deep")                                                                                        \
	X(unreachable, "not below the root of its mount namespace")                                                    \
	X(detached, "on a mount that is in no namespace")                                                              \
	X(deleted, "deleted, or without a name yet")                                                                   \
	X(unsteady, "renamed again and again during the walk")                                                         \
	X(unreadable, "a name that cannot be read")                                                                    \
	X(foreign, "opened by the kernel for itself")

#define GUARD_WALK_INDEX(name, text) GUARD_WALK_##name,
enum guard_walk_end { GUARD_WALKS(GUARD_WALK_INDEX) GUARD_WALK_COUNT };

/* An open that was denied, or would have been. */
struct guard_event {
	__u64 time_ns; /* CLOCK_BOOTTIME */
	__u64 cgroup;  /* id, in the hierarchy of cgroup v2 */
	__u64 inode;
	__u32 device; /* as the kernel numbers it: major << 20 | minor */
	__u32 generation;
	__u32 pid;  /* in the PID namespace of the agent, 0: not visible there */
	__u32 uid;  /* effective */
	__u16 rule; /* index, or POLICY_NO_RULE */
	__u8 access;
	__u8 reason;  /* enum policy_reason */
	__u8 blocked; /* 1: the open failed with EPERM, 0: it would have */
	__u8 walk;    /* enum guard_walk_end of the path below */
	__u16
	    begin; /* the path is what stands from here to GUARD_PATH_BYTES; cut at its front where walk is not whole */
	char comm[GUARD_COMM_BYTES];
	char path[GUARD_PATH_BYTES +
		  GUARD_NAME_BYTES]; /* what stands behind GUARD_PATH_BYTES is room for the verifier */
};

/* How it is noticed that a match is no longer true (guard_topology). One row each: X(name, what a user reads). */
#define GUARD_TOPOLOGIES(X)                                                                                            \
	X(directories, "a rename of a directory and a mount end what is known")                                        \
	X(renames, "each rename and each mount end all that is known")                                                 \
	X(calls, "each system call that renames or mounts ends all that is known")                                     \
	X(none, "nothing is kept: this kernel does not show what renames and mounts there are")

#define GUARD_TOPOLOGY_INDEX(name, text) GUARD_TOPOLOGY_##name,
enum guard_topology { GUARD_TOPOLOGIES(GUARD_TOPOLOGY_INDEX) GUARD_TOPOLOGY_COUNT };

enum guard_hook { GUARD_LSM, GUARD_CALLS };

#define GUARD_STATE_VERSION 2
#define GUARD_LABEL_BYTES   64
#define GUARD_FILE_BYTES    4096
#define GUARD_JUDGES	    2 /* programs that judge opens at most */

struct guard_rule_label {
	__u32 line;			  /* in the policy's file */
	char name[GUARD_LABEL_BYTES - 4]; /* cut, and ended by a zero */
};

/* What the agent says of itself to whoever asks for the status. Programs do not look at it. */
struct guard_state {
	__u32 version;
	__u32 pid;
	__u64 loaded_ns; /* CLOCK_BOOTTIME of the last load or reload */
	__u32 generation;
	__u32 reloads;
	__u32 refused_reloads; /* of files that were broken: the policy before stayed */
	__u32 events_per_second;
	__u16 rules;
	__u8 hook;     /* enum guard_hook */
	__u8 topology; /* enum guard_topology */
	__u8 mode;     /* enum policy_mode, as it is held: audit where the agent was told so */
	__u8 fallback;
	__u8 unknown;
	__u8 cache;
	__u32 judge[GUARD_JUDGES]; /* ids of the programs that judge opens; 0: none. The kernel counts what it skips */
	__u64 missed_before;	   /* runs that the kernel skipped of those of policies before */
	char file[GUARD_FILE_BYTES];
	struct guard_rule_label label[POLICY_MAX_RULES];
};

POLICY_ASSERT(sizeof(struct guard_state) == 56 + GUARD_FILE_BYTES + GUARD_LABEL_BYTES * POLICY_MAX_RULES, "no padding");
POLICY_ASSERT(sizeof(struct guard_event) == 64 + GUARD_PATH_BYTES + GUARD_NAME_BYTES, "record in the ring buffer");
