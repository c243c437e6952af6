/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tells user space of an open that was denied, or would have been: with the path, walked anew, for the cache keeps
 * none.
 *
 * A program that opens a denied file in a loop shall cost no more than its opens: a second has a budget of events, and
 * what is over it, or finds the ring buffer full, is counted and dropped.
 */
#pragma once

#include "guard_decide.bpf.h"
#include "guard_window.bpf.h"

const volatile __u32 events_per_second = 100;
const volatile __u32 pid_namespace = 0;	 /* inode of the agent's; 0: the initial one */
const volatile __s64 boot_offset_ns = 0; /* of the agent's time namespace */

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1024 * 1024);
} events SEC(".maps");

/* Programs on several processors that begin a second together may grant it a few events more. */
struct {
	__u64 second;
	__u64 granted;
} event_budget __attribute__((aligned(64)));

static __always_inline bool event_granted(__u64 time_ns)
{
	__u64 second = time_ns / 1000000000;

	if (event_budget.second != second) {
		event_budget.second = second;
		event_budget.granted = 0;
	}
	if (*(volatile __u64 *)&event_budget.granted >= events_per_second)
		return false;
	__sync_fetch_and_add(&event_budget.granted, 1);
	return true;
}

struct path_walk {
	struct climb climb;
	const struct origin *origin;
	struct guard_event *event;
	struct topology topology; /* before the walk */
	__u32 begin;
	__u32 begun; /* at this step of the loop, see struct match_walk */
	__u32 end;   /* enum guard_walk_end */
};

/* So often at least is the path written anew because of a rename or a mount meanwhile. */
#define PATH_RESTARTS 3

static __always_inline void path_walk_begin(struct path_walk *walk, __u32 step)
{
	topology_now(&walk->topology);
	climb_from(&walk->climb, walk->origin);
	walk->begin = GUARD_PATH_BYTES;
	walk->begun = step;
}

/* The end of a walk: 1 if what was written is one path of one moment, else it is begun again. */
static __always_inline long path_walk_ends(struct path_walk *walk, __u32 step, enum guard_walk_end end)
{
	struct topology now;

	topology_now(&now);
	walk->end = end;
	if (topology_held(&walk->topology, &now))
		return 1;
	walk->end = GUARD_WALK_unsteady;
	if (step >= PATH_RESTARTS * (GUARD_MAX_DEPTH + 1))
		return 1; /* what was written last stays */
	path_walk_begin(walk, step + 1);
	return 0;
}

/* Writes a name, and the slash in front of it, before what is there. What came of it: whole is "go on". */
static __always_inline enum guard_walk_end put_name(struct path_walk *walk, const struct name *name)
{
	__u32 bytes = name->bytes & (GUARD_NAME_BYTES - 1);
	struct guard_event *event = walk->event;
	__u32 at;

	if (walk->begin < bytes + 1)
		return GUARD_WALK_too_deep;
	at = (walk->begin - bytes) & (GUARD_PATH_BYTES - 1);
	if (bpf_probe_read_kernel(event->path + at, bytes, (void *)name->address))
		return GUARD_WALK_unreadable;
	at = (at - 1) & (GUARD_PATH_BYTES - 1);
	event->path[at] = '/';
	walk->begin = at;
	return GUARD_WALK_whole;
}

static long path_walk_step(__u32 step, struct path_walk *walk)
{
	enum guard_walk_end put;
	struct name name;

	if (step - walk->begun >= GUARD_MAX_DEPTH)
		return path_walk_ends(walk, step, GUARD_WALK_too_deep);
	switch (climb_step(&walk->climb, &name)) {
	case CLIMBED_A_MOUNT:
		return 0;
	case CLIMBED_A_NAME:
		put = put_name(walk, &name);
		return put == GUARD_WALK_whole ? 0 : path_walk_ends(walk, step, put);
	case CLIMBED_TO_THE_ROOT:
		return path_walk_ends(walk, step, GUARD_WALK_whole);
	default:
		return path_walk_ends(walk, step, GUARD_WALK_unreachable);
	}
}

static __always_inline void put_path(struct guard_event *event, const struct origin *origin)
{
	struct path_walk walk = {.origin = origin, .event = event, .end = GUARD_WALK_unsteady};
	__u32 end = walkable(origin);

	path_walk_begin(&walk, 0);
	bpf_loop((PATH_RESTARTS + 1) * (GUARD_MAX_DEPTH + 1), path_walk_step, &walk, 0);
	event->begin = walk.begin;
	event->walk = end != GUARD_WALK_whole ? end : walk.end;
}

__noinline __u32 current_pid(void)
{
	if (!pid_namespace)
		return bpf_get_current_pid_tgid() >> 32;
	return compat_pid_in_namespace(compat_current_leader(), pid_namespace);
}

/* `access`: with TELL_BLOCKED where the open failed. */
#define TELL_BLOCKED 0x100

__noinline int tell(const struct origin *origin, __u32 generation, __u32 access, __u32 verdict)
{
	__u64 now = bpf_ktime_get_boot_ns();
	struct guard_event *event;
	struct dentry *dentry;

	if (!origin)
		return 0;
	if (!event_granted(now)) {
		window_bump(policy, events_over_rate);
		return 0;
	}
	event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);
	if (!event) {
		window_bump(policy, events_lost);
		return 0;
	}
	dentry = (void *)origin->dentry;
	event->time_ns = now + boot_offset_ns;
	event->cgroup = bpf_get_current_cgroup_id();
	event->inode = BPF_CORE_READ(dentry, d_inode, i_ino);
	event->device = BPF_CORE_READ(dentry, d_inode, i_sb, s_dev);
	event->generation = generation;
	event->pid = current_pid();
	event->uid = current_user();
	event->rule = VERDICT_RULE(verdict);
	event->access = access;
	event->reason = VERDICT_REASON(verdict);
	event->blocked = !!(access & TELL_BLOCKED);
	bpf_get_current_comm(event->comm, sizeof(event->comm));
	put_path(event, origin);
	bpf_ringbuf_submit(event, 0);
	return 0;
}
