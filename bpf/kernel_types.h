/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The few kernel structures that our programs look into, with only the members they use.
 *
 * preserve_access_index makes clang record which member is meant; libbpf finds its real place in the running kernel's
 * type information when it loads the program. So a layout that differs between kernels does not matter, and no
 * generated vmlinux.h of 100,000 lines stands in the tree.
 */
#pragma once

#include <linux/bpf.h>
#include <linux/types.h>
#include <stdbool.h>

#define RELOCATED __attribute__((preserve_access_index))

struct ns_common {
	unsigned int inum;
} RELOCATED;

struct pid_namespace {
	struct ns_common ns;
} RELOCATED;

struct upid {
	int nr;
	struct pid_namespace *ns;
} RELOCATED;

struct pid {
	unsigned int level;
	struct upid numbers[1];
} RELOCATED;

struct thread_info {
	__u32 status;
	__u32 cpu;
} RELOCATED;

typedef struct {
	__u32 val;
} kuid_t;

struct cred {
	kuid_t euid;
} RELOCATED;

struct file;

/* The count of a sequence lock. */
struct seqcount {
	__u32 sequence;
} RELOCATED;

/* Stands for any number of 64 bits, see guard_peek.bpf.h. */
struct timespec64 {
	__s64 tv_sec;
} RELOCATED;

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
} RELOCATED;

struct files_struct {
	struct fdtable *fdt;
} RELOCATED;

struct mm_struct;

struct task_struct {
	struct thread_info thread_info;
	struct mm_struct *mm;
	struct files_struct *files;
	const struct cred *cred;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	__u64 start_boottime;
	char comm[16];
	int prio;
	unsigned int on_cpu; /* of another size since Linux 7: only what is unsigned may be read into a larger one */
} RELOCATED;

struct pt_regs {
	unsigned long di;
	unsigned long si;
	unsigned long dx;
	unsigned long cx;
	unsigned long r8;
	unsigned long ax;
	unsigned long orig_ax;
	unsigned long sp;
	unsigned long bp;
	unsigned long ip;
} RELOCATED;

struct super_block {
	__u32 s_dev;
	unsigned long s_flags;
	unsigned long s_magic;
} RELOCATED;

struct inode {
	unsigned short i_mode;
	struct super_block *i_sb;
	unsigned long i_ino;
	__u32 i_generation;
} RELOCATED;

struct qstr {
	__u32 hash;
	__u32 len;
	const unsigned char *name;
} RELOCATED;

struct hlist_bl_node {
	struct hlist_bl_node **pprev;
} RELOCATED;

/* An enum in Linux 6.18, macros with other values in 6.1. The real one is relocated, as that of init_ns_ino below. */
enum dentry_flags { DCACHE_OP_HASH = 1 << 0, DCACHE_MOUNTED = 1 << 15 };

struct dentry {
	__u32 d_flags;
	struct hlist_bl_node d_hash;
	struct dentry *d_parent;
	struct qstr d_name;
	struct inode *d_inode;
} RELOCATED;

struct vfsmount {
	struct dentry *mnt_root;
	struct super_block *mnt_sb;
} RELOCATED;

struct mnt_namespace {
	struct ns_common ns;
} RELOCATED;

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
	struct mnt_namespace *mnt_ns;
	__u64 mnt_id_unique; /* Linux 6.8 */
} RELOCATED;

/* Linux 6.17: numbers of namespaces that are always the same. The real one, which clang 14 gets wrong, is relocated. */
enum init_ns_ino { MNT_NS_ANON_INO = 1 };

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
} RELOCATED;

struct rb_node {
	struct rb_node *rb_right;
	struct rb_node *rb_left;
} RELOCATED;

struct rb_root {
	struct rb_node *rb_node;
} RELOCATED;

struct rb_root_cached {
	struct rb_root rb_root;
} RELOCATED;

/* Of a file: its pages, and in a tree all mappings of it. */
struct address_space {
	struct rb_root_cached i_mmap;
} RELOCATED;

struct file {
	struct address_space *f_mapping;
	__u32 f_mode;
	__u32 f_flags;
	struct path f_path;
	struct inode *f_inode;
} RELOCATED;

/* The index of a process's VMAs by address (Linux 6.1); bpf/vma.bpf.h walks it. */
struct maple_tree {
	void *ma_root;
} RELOCATED;

struct maple_range_64 {
	unsigned long pivot[15];
	void *slot[16];
} RELOCATED;

struct maple_arange_64 {
	unsigned long pivot[9];
	void *slot[10];
} RELOCATED;

struct mm_struct {
	void *pgd;
	struct maple_tree mm_mt;
	struct file *exe_file;
	struct seqcount write_protect_seq; /* moves with each mapping that a fork shares */
} RELOCATED;

struct renamedata {
	struct dentry *old_dentry;
	struct dentry *new_dentry;
} RELOCATED;

struct linux_binprm {
	struct file *file;
} RELOCATED;

struct vm_area_struct {
	unsigned long vm_start;
	unsigned long vm_end;
	struct mm_struct *vm_mm;
	unsigned long vm_flags;
	unsigned long vm_pgoff;
	const void *vm_ops;
	struct file *vm_file;
	struct {
		struct rb_node rb;
	} RELOCATED shared;
} RELOCATED;

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
} RELOCATED;

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
} RELOCATED;

struct bpf_iter__task_vma {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	struct vm_area_struct *vma;
} RELOCATED;

enum vm_fault_reason {
	VM_FAULT_OOM = 0x1,
	VM_FAULT_SIGBUS = 0x2,
	VM_FAULT_HWPOISON = 0x10,
	VM_FAULT_HWPOISON_LARGE = 0x20,
	VM_FAULT_SIGSEGV = 0x40,
	VM_FAULT_RETRY = 0x400,
	VM_FAULT_FALLBACK = 0x800,
};

/* bpf_tracing.h: take the register names from the structure above, not from the host's headers. */
#define __VMLINUX_H__
