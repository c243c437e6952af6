// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Holds a file-access policy against each file that is opened: denies (LSM), or tells what would have been denied.
 *
 * An open is judged in two steps. The match of the file's path is looked up, or found by walking up to the root
 * (guard_cache, guard_walk); it depends on the path alone. The verdict is worked out from the match, the access and the
 * subject each time, so one subject's verdict never answers another's.
 *
 * The hooks are shells over judge(). User space loads either those of the LSM, which can deny, or those that follow
 * system calls to their end and see the file that was opened, which any kernel allows.
 */
#include "guard_decide.bpf.h"
#include "guard_event.bpf.h"
#include <bpf/bpf_tracing.h>
#include <linux/errno.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile bool enforce = false;
const volatile __u32 exempt_pid = 0; /* the agent, in its own PID namespace: never denied anything */
const volatile __u32 only_pid = 0;   /* judge this process alone; 0: all */

/* The one policy, written before anything is attached and never changed: a reload loads new programs with new maps. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct policy_image);
} image SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct guard_state);
} guard_state SEC(".maps");

#define OPEN_EXEC	0x20  /* __FMODE_EXEC, among the flags of an open that is part of an execve */
#define OPEN_TRUNCATE	01000 /* O_TRUNC */
#define S_IFDIR		0040000
#define MODE_READ	1	   /* FMODE_READ */
#define MODE_WRITE	2	   /* FMODE_WRITE */
#define MODE_PATH	0x4000	   /* FMODE_PATH: names a file, and opens nothing */
#define MODE_NO_ACCOUNT 0x20000000 /* FMODE_NOACCOUNT: the kernel opens it for itself, below an open of user space */

static __always_inline __u32 access_of(__u32 mode, __u32 flags)
{
	__u32 access = 0;

	if (flags & OPEN_EXEC)
		return POLICY_EXECUTE;
	if (mode & MODE_READ)
		access |= POLICY_READ;
	if ((mode & MODE_WRITE) || (flags & OPEN_TRUNCATE))
		access |= POLICY_WRITE;
	/* O_ACCMODE, for ioctl alone: the kernel asks for both permissions. */
	return access ? access : POLICY_READ | POLICY_WRITE;
}

/* How a match was come by. */
enum match_source { FROM_CACHE, FROM_WALK, FROM_WALK_AND_KEPT };

static __always_inline void count_open(__u32 match, enum match_source source, bool stale, bool deny)
{
	struct policy_window *w = window_of(policy);

	if (!w)
		return;
	window_begin(w);
	window_count(w, lookups, 1);
	if (deny)
		window_count(w, denied, 1);
	if (source == FROM_CACHE) {
		if (match == POLICY_NO_MATCH)
			window_count(w, hits_no_policy, 1);
		else if (deny)
			window_count(w, hits_deny, 1);
		else
			window_count(w, hits_allow, 1);
		return;
	}
	window_count(w, misses_walk, 1);
	if (source == FROM_WALK_AND_KEPT)
		window_count(w, fills, 1);
	if (stale)
		window_count(w, invalidations, 1);
	if (match == POLICY_UNKNOWN_MATCH)
		window_count(w, unknown, 1);
}

/*
 * Whether the policy denies the current process this access to the file, which is at that address. `typed`: the
 * verifier knows `file` (see peek); `lsm`: and lets its inode's storage be used. Both are constants.
 */
static __always_inline bool judge(struct file *file, __u64 address, __u32 access, bool typed, bool lsm)
{
	enum match_source source = FROM_CACHE;
	struct policy_image *policy_image;
	__u64 *entry, proof, word, walked;
	struct origin origin = {};
	__u32 match, verdict, key = 0;

	policy_image = bpf_map_lookup_elem(&image, &key);
	if (!policy_image || (only_pid && current_pid() != only_pid))
		return false;
	proof = find_file(&origin, file, policy_image->generation, typed, false);
	entry = lsm ? bpf_inode_storage_get(&inode_matches, file->f_inode, NULL, 0) : table_entry(file, typed);
	word = kept_word(entry);
	match = word & MATCH_MASK;
	if (!still_true(word, proof)) {
		source = FROM_WALK;
		walked = find_and_walk(policy_image, &origin, address, &proof);
		if (WALK_END(walked) == GUARD_WALK_foreign)
			return false;
		match = WALK_MATCH(walked);
		if (lsm && !entry && cache_matches && (walked & WALK_STEADY))
			entry =
			    bpf_inode_storage_get(&inode_matches, file->f_inode, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
		if (keep_match(entry, proof, walked))
			source = FROM_WALK_AND_KEPT;
	}
	verdict = find_verdict(policy_image, match, access);
	count_open(match, source, word != 0, VERDICT_DENIES(verdict));
	if (!VERDICT_DENIES(verdict))
		return false;
	tell(&origin, policy_image->generation, access | (lsm && enforce ? TELL_BLOCKED : 0), verdict);
	return true;
}

static __always_inline bool is_directory(struct dentry *dentry)
{
	struct inode *inode = BPF_CORE_READ(dentry, d_inode);

	return inode && (BPF_CORE_READ(inode, i_mode) & S_IFMT) == S_IFDIR;
}

/*
 * Whether something is mounted on it, in whatever mount namespace. Where the flag has no number in the kernel's types
 * it is one of two, by version; the other means nothing that the entry of a file which is renamed would have.
 */
static __always_inline bool is_mount_point(struct dentry *dentry)
{
	__u32 mounted = 1 << 15 | 1 << 16;

	if (bpf_core_enum_value_exists(enum dentry_flags, DCACHE_MOUNTED))
		mounted = bpf_core_enum_value(enum dentry_flags, DCACHE_MOUNTED);
	return BPF_CORE_READ(dentry, d_flags) & mounted;
}

/* Whether a rename of it changes the paths of other files: of what lies below it, or on it. */
static __always_inline bool carries_others(struct dentry *dentry)
{
	return is_directory(dentry) || is_mount_point(dentry);
}

SEC("lsm/file_open")
int BPF_PROG(guard_file_open, struct file *file, int earlier)
{
	if (earlier)
		return earlier;
	if (file->f_mode & (MODE_NO_ACCOUNT | MODE_PATH))
		return 0;
	if (enforce && exempt_pid && current_pid() == exempt_pid)
		return 0;
	if (judge(file, number_at(ctx, typed_pointers), access_of(file->f_mode, file->f_flags), true, true) && enforce)
		return -EPERM;
	return 0;
}

/*
 * Of a directory, or in exchange for one. A file may be a mount point in another mount namespace than the one it is
 * renamed in: the mount goes with it.
 */
SEC("fexit/vfs_rename")
int BPF_PROG(guard_rename, struct renamedata *rename, int failed)
{
	if (!failed && (carries_others(rename->old_dentry) || carries_others(rename->new_dentry)))
		topology_changed();
	return 0;
}

/*
 * Before a directory is removed. It is locked: if it is removed it was empty already, so that nothing in it can be
 * looked up any more. File systems that number the generations of their inodes need none of this.
 */
SEC("lsm/inode_rmdir")
int BPF_PROG(guard_rmdir, struct inode *parent, struct dentry *directory, int earlier)
{
	if (!earlier && !parent->i_generation)
		topology_changed();
	return earlier;
}

/* What a system call means here, by its number: in the table of 64 bits, and with IN_32 in that of 32. */
enum { CALL_OPENS = 1, CALL_MOVES, CALL_REMOVES_DIRECTORY, CALL_UNLINKS_AT };
#define IN_32(meaning)	 ((meaning) << 4)
#define CALLS		 512
#define REMOVE_DIRECTORY 0x200	    /* AT_REMOVEDIR; dx is the third argument in both tables */
#define X32_CALL	 0x40000000 /* __X32_SYSCALL_BIT */
#define TS_COMPAT	 2	    /* the task is in a system call of the 32-bit table */

/*
 * open, creat, openat, open_by_handle_at, openat2; rename*, mount, umount (that of 32 bits alone), umount2, pivot_root,
 * move_mount; rmdir, unlinkat. One table, so that most calls are done with after one load.
 */
static const __u8 calls[CALLS] = {
    [2] = CALL_OPENS,
    [85] = CALL_OPENS,
    [257] = CALL_OPENS,
    [304] = CALL_OPENS,
    [82] = CALL_MOVES,
    [264] = CALL_MOVES,
    [316] = CALL_MOVES,
    [165] = CALL_MOVES,
    [166] = CALL_MOVES,
    [155] = CALL_MOVES,
    [84] = CALL_REMOVES_DIRECTORY,
    [263] = CALL_UNLINKS_AT,
    [429] = CALL_MOVES | IN_32(CALL_MOVES),
    [437] = CALL_OPENS | IN_32(CALL_OPENS),
    [5] = IN_32(CALL_OPENS),
    [8] = IN_32(CALL_OPENS),
    [295] = IN_32(CALL_OPENS),
    [342] = IN_32(CALL_OPENS),
    [38] = IN_32(CALL_MOVES),
    [302] = IN_32(CALL_MOVES),
    [353] = IN_32(CALL_MOVES),
    [21] = IN_32(CALL_MOVES),
    [22] = IN_32(CALL_MOVES),
    [52] = IN_32(CALL_MOVES),
    [217] = IN_32(CALL_MOVES),
    [40] = IN_32(CALL_REMOVES_DIRECTORY),
    [301] = IN_32(CALL_UNLINKS_AT),
};

/*
 * The file behind a descriptor of the current process, as a number that the verifier does not know. What a call
 * returned need be no descriptor: a tracer, or a supervisor by seccomp, may have answered in place of the kernel.
 */
static __always_inline struct file *file_of(struct task_struct *task, long descriptor)
{
	struct fdtable *table = task->files->fdt;

	if ((unsigned long)descriptor >= table->max_fds)
		return NULL;
	return (void *)number_at(table->fd + descriptor, typed_pointers);
}

/* Judges a file that was opened, by the number that is its address. */
static __always_inline void audit(struct file *file, bool executes)
{
	__u64 address = (__u64)file;
	__u32 mode;

	if (!file) {
		window_bump(policy, unseen);
		return;
	}
	if (typed_pointers)
		file = bpf_rdonly_cast(file, bpf_core_type_id_kernel(struct file));
	mode = peek(typed_pointers, file, f_mode);
	if (mode & MODE_PATH)
		return;
	/* The flags tell no more: O_TRUNC is taken off by now, and who executes says so. */
	judge(file, address, executes ? POLICY_EXECUTE : access_of(mode, 0), typed_pointers, false);
}

SEC("tp_btf/sys_exit")
int BPF_PROG(guard_sys_exit, struct pt_regs *regs, long result)
{
	__u32 number = regs->orig_ax & ~X32_CALL;
	struct task_struct *task;
	__u8 meaning;

	if (number >= CALLS || result < 0 || !calls[number])
		return 0;
	task = bpf_get_current_task_btf();
	meaning = task->thread_info.status & TS_COMPAT ? calls[number] >> 4 : calls[number] & 0xf;
	switch (meaning) {
	case CALL_OPENS:
		audit(file_of(task, result), false);
		break;
	case CALL_UNLINKS_AT:
		if (!(regs->dx & REMOVE_DIRECTORY))
			break;
		/* fallthrough */
	case CALL_REMOVES_DIRECTORY:
		topology_changed();
		break;
	case CALL_MOVES:
		if (calls_end_matches)
			topology_changed();
		break;
	}
	return 0;
}

/* An execve that will not fail any more; the process is still what it was. Linux 6.10. */
SEC("tp_btf/sched_prepare_exec")
int BPF_PROG(guard_prepare_exec, struct task_struct *task, struct linux_binprm *bprm)
{
	audit(BPF_CORE_READ(bprm, file), true);
	return 0;
}

/* An execve that is done: the subject is the new program already. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(guard_process_exec, struct task_struct *task, int old_pid, struct linux_binprm *bprm)
{
	audit(BPF_CORE_READ(bprm, file), true);
	return 0;
}
