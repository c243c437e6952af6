// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Hands the leaf page tables of one process to user space.
 *
 * iter/task_vma runs the program once per mapping with the target's mmap lock held for reading, so no table is freed
 * under it; page faults go on. The program walks from the top-level table through the direct map of all memory and
 * copies each leaf table, 512 entries, into a buffer that user space has mapped. Everything else (present, accessed,
 * frames, statistics) is done there: cheaper than a loop of 512 steps in BPF, and it can be tested without a kernel.
 *
 * The buffer holds a chunk. When it is full the program says where it stopped and breaks the iteration off, which gives
 * the lock back; user space takes the chunk and goes on with the same iteration, which shows the same mapping again. So
 * memory and the time that the lock is held are bounded for any target, and each mapping is looked up once, or twice
 * where a chunk ends.
 *
 * Absent parts cost next to nothing: an empty entry of a directory skips 1 GiB or 512 GiB.
 */
#include "compat.bpf.h"

#include "census.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define PRESENT		 0x1ULL
#define LARGE		 0x80ULL
#define PROT_NONE	 0x100ULL
#define FRAME		 0x000ffffffffff000ULL
#define TABLE_BYTES	 (1ULL << 21)
#define GIB		 (1ULL << 30)
#define DIRECTORY_BYTES	 (1ULL << 39)
#define DIRECT_MAP_TRIES (1 << 16)

#define VM_SHARED    0x8UL
#define VM_GROWSDOWN 0x100UL
#define VM_PFNMAP    0x400UL
#define VM_LOCKED    0x2000UL
#define VM_HUGETLB   0x400000UL
#define TMPFS_MAGIC  0x01021994UL

/* The chunk. One census runs at a time: its user space has one buffer. */
struct census_stretch stretches[CENSUS_CHUNK_STRETCHES];
__u64 entries[CENSUS_CHUNK_ENTRIES];
__u32 used;   /* of the stretches */
__u32 copied; /* of the entries */

/* Copies of the directories on the way down. */
__u64 gib_entries[CENSUS_TABLE_ENTRIES], table_entries[CENSUS_TABLE_ENTRIES];

/* How to walk, found by find_direct_map and kept by user space. */
__u64 direct_map;
__u32 levels;

/* In: read from this address on, up to that one; whether the iteration goes on from an earlier chunk. */
__u64 resume_at, read_until;
__u32 continued;

/*
 * Out, why the program broke off: the chunk is full, and the next one begins here; or everything below read_until was
 * seen; or the mapping in which the last chunk ended was split or unmapped since, so that this iteration may have
 * passed over the rest of it.
 */
__u64 next_at;
__u32 complete, astray;

__u64 visits;	     /* times the program was shown a mapping */
__u32 mappings;	     /* that were looked at */
__u32 unreadable;    /* directories or tables that could not be read: what is below them is missing */
__u64 giant_pages;   /* in 1 GiB entries (hugetlb), not copied */
__u64 address_space; /* of the process: its top-level table */
__s32 processor;     /* on which its main thread ran when the program was shown a mapping last, -1: on none */

/* Only tables whose bit is set are copied, if `filtered`, and only in GiB whose bit is set. */
__u32 filtered;
__u64 filter[CENSUS_FILTER_WORDS], gib_filter[CENSUS_GIB_WORDS];

/* For find_direct_map: a page of our own and the frame that /proc/self/pagemap names for it. */
__u64 known_address, known_frame;

struct walk {
	__u64 top;	      /* the process's top-level table */
	__u64 start, end;     /* of the mapping, from resume_at on */
	__u64 part, part_end; /* of it, below one directory of 1 GiB entries */
	__u64 gib, gib_end;   /* of that, below one directory of 2 MiB entries */
	__u32 vma;	      /* what goes into the stretches */
	__u8 mapping, flags;
	__u32 forks, content;
};

/* An entry that can't be read is 0, which is not present. No branch: callers in loops would double the verifier's work.
 */
static __always_inline __u64 load(__u64 address)
{
	__u64 value = 0;
	long failed = bpf_probe_read_kernel(&value, sizeof(value), (void *)address);

	unreadable += (__u64)failed >> 63;
	return value;
}

static __always_inline __u64 below(__u64 base, __u64 entry)
{
	return base + (entry & FRAME);
}

static __always_inline __u32 slot(__u64 address, int shift)
{
	return (address >> shift) & (CENSUS_TABLE_ENTRIES - 1);
}

/* Copies `count` entries of a directory; the first one copied is entry 0 of the copy. */
static __always_inline bool copy_directory(__u64 *copy, __u64 directory, __u32 first, __u64 count)
{
	__u64 bytes = count * 8;

	if (bytes > CENSUS_TABLE_ENTRIES * 8)
		return false;
	return !bpf_probe_read_kernel(copy, bytes, (void *)(directory + first * 8));
}

static long visit_table(__u32 i, struct walk *w)
{
	__u64 address = (w->gib & ~(TABLE_BYTES - 1)) + (__u64)i * TABLE_BYTES, entry, bytes = sizeof(entry);
	__u64 bit = census_filter_bit(address);
	__u32 at = used, copy = copied, first, last;
	struct census_stretch *stretch;

	if (filtered && !(filter[bit / 64 & (CENSUS_FILTER_WORDS - 1)] >> (bit % 64) & 1))
		return 0;
	entry = table_entries[i & (CENSUS_TABLE_ENTRIES - 1)];
	if (!(entry & (PRESENT | PROT_NONE)))
		return 0;
	if (at >= CENSUS_CHUNK_STRETCHES || copy > CENSUS_CHUNK_ENTRIES - CENSUS_TABLE_ENTRIES) {
		next_at = address < w->start ? w->start : address;
		return 1;
	}
	first = address < w->start ? (w->start - address) >> 12 : 0;
	last = address + TABLE_BYTES > w->end ? (w->end - address) >> 12 : CENSUS_TABLE_ENTRIES;
	if (entry & LARGE) {
		entries[copy] = entry;
	} else {
		bytes = (__u64)(last - first) * 8;
		if (bytes > CENSUS_TABLE_ENTRIES * 8)
			return 0;
		if (bpf_probe_read_kernel(&entries[copy], bytes, (void *)(below(direct_map, entry) + first * 8))) {
			unreadable++;
			return 0;
		}
	}
	stretch = &stretches[at];
	stretch->address = address;
	stretch->vma = w->vma;
	stretch->first = first;
	stretch->last = last;
	stretch->mapping = w->mapping;
	stretch->forks = w->forks;
	stretch->content = w->content;
	stretch->flags = w->flags | (entry & LARGE ? CENSUS_HUGE : 0);
	stretch->copy = copy;
	used = at + 1;
	copied = copy + bytes / 8;
	return 0;
}

static long visit_gib(__u32 i, struct walk *w)
{
	__u64 address = (w->part & ~(GIB - 1)) + (__u64)i * GIB, entry, count, bit = census_gib_bit(address);

	if (filtered && !(gib_filter[bit / 64 & (CENSUS_GIB_WORDS - 1)] >> (bit % 64) & 1))
		return 0;
	entry = gib_entries[i & (CENSUS_TABLE_ENTRIES - 1)];
	if (!(entry & PRESENT))
		return 0;
	w->gib = address < w->part ? w->part : address;
	w->gib_end = address + GIB > w->part_end ? w->part_end : address + GIB;
	if (entry & LARGE) {
		giant_pages += (w->gib_end - w->gib) >> 12;
		return 0;
	}
	count = (w->gib_end - 1) / TABLE_BYTES - w->gib / TABLE_BYTES + 1;
	if (!copy_directory(table_entries, below(direct_map, entry), slot(w->gib, 21), count)) {
		unreadable++;
		return 0;
	}
	bpf_loop(count, visit_table, w, 0);
	return next_at != 0;
}

/* The directory of 1 GiB entries that covers the address, 0 when there is none. */
static __always_inline __u64 find_upper(__u64 table, __u64 base, __u32 depth, __u64 address)
{
	__u64 entry;

	if (depth == 5) {
		entry = load(table + slot(address, 48) * 8);
		if (!(entry & PRESENT))
			return 0;
		table = below(base, entry);
	}
	entry = load(table + slot(address, 39) * 8);
	return entry & PRESENT ? below(base, entry) : 0;
}

static long visit_part(__u32 i, struct walk *w)
{
	__u64 address = (w->start & ~(DIRECTORY_BYTES - 1)) + (__u64)i * DIRECTORY_BYTES, upper, count;

	upper = find_upper(w->top, direct_map, levels, address);
	if (!upper)
		return 0;
	w->part = address < w->start ? w->start : address;
	w->part_end = address + DIRECTORY_BYTES > w->end ? w->end : address + DIRECTORY_BYTES;
	count = (w->part_end - 1) / GIB - w->part / GIB + 1;
	if (!copy_directory(gib_entries, upper, slot(w->part, 30), count)) {
		unreadable++;
		return 0;
	}
	bpf_loop(count, visit_gib, w, 0);
	return next_at != 0;
}

/* By what clear_refs tells apart (has it a file?), and then by what the pages are. */
static __always_inline __u8 mapping_of(struct vm_area_struct *vma)
{
	unsigned long flags = vma->vm_flags;

	if (flags & VM_HUGETLB)
		return CENSUS_HUGETLB;
	if (flags & VM_PFNMAP)
		return CENSUS_SPECIAL;
	if (vma->vm_file)
		return vma->vm_file->f_inode->i_sb->s_magic == TMPFS_MAGIC ? CENSUS_SHMEM : CENSUS_FILE;
	if (vma->vm_ops) /* the vDSO and other pages of the kernel's own */
		return CENSUS_SPECIAL;
	return flags & VM_GROWSDOWN ? CENSUS_STACK : CENSUS_ANONYMOUS;
}

/*
 * Whether the mapping is the only one of its file: the root of the tree of them all, without children. No lock is held
 * that keeps the tree as it is: while a mapping is put in, taken out or changed, the others can be missed for a moment.
 * So user space believes it only when two readings have found it.
 */
static __always_inline bool is_alone(struct vm_area_struct *vma)
{
	struct rb_node *own, *root;

	if (!vma->vm_file)
		return false;
	own = (void *)vma + bpf_core_field_offset(struct vm_area_struct, shared.rb);
	root = BPF_CORE_READ(vma, vm_file, f_mapping, i_mmap.rb_root.rb_node);
	return root == own && !BPF_CORE_READ(root, rb_left) && !BPF_CORE_READ(root, rb_right);
}

/*
 * A hash of what the mapping shows where: the file, and which of its pages address 0 would show. Anonymous memory has
 * its own page numbers for a file's, and keeps them when it is moved (mremap); 0 where it never was.
 */
static __always_inline __u32 content_of(struct vm_area_struct *vma, __u8 mapping)
{
	__u64 shift = vma->vm_pgoff - (vma->vm_start >> 12), mixed = shift * 0x9e3779b97f4a7c15ULL;

	if (vma->vm_file)
		return ((__u64)BPF_CORE_READ(vma, vm_file, f_inode) >> 6) ^ (mixed >> 32);
	return mapping == CENSUS_ANONYMOUS && shift ? mixed >> 32 | 1 : 0;
}

SEC("iter/task_vma")
int copy_tables(struct bpf_iter__task_vma *ctx)
{
	struct vm_area_struct *vma = ctx->vma;
	struct task_struct *task = ctx->task;
	struct walk w = {};

	if (!vma || !task)
		return 0;
	visits++;
	processor = compat_processor_of(task);
	/* An iteration goes on by the end of its last mapping: what was split off before that is not shown. */
	if (continued && vma->vm_start > resume_at) {
		astray = 1;
		return 1;
	}
	continued = 0;
	if (vma->vm_start >= read_until) {
		complete = 1;
		return 1;
	}
	if (vma->vm_end <= resume_at)
		return 0;
	mappings++;
	w.top = (__u64)BPF_CORE_READ(vma, vm_mm, pgd);
	address_space = w.top;
	w.start = vma->vm_start < resume_at ? resume_at : vma->vm_start;
	w.end = vma->vm_end;
	w.vma = vma->vm_start >> 12;
	w.mapping = mapping_of(vma);
	w.forks = BPF_CORE_READ(vma, vm_mm, write_protect_seq.sequence);
	w.content = content_of(vma, w.mapping);
	if (vma->vm_flags & VM_LOCKED)
		w.flags |= CENSUS_LOCKED;
	if (vma->vm_flags & VM_SHARED)
		w.flags |= CENSUS_SHARED;
	if (is_alone(vma))
		w.flags |= CENSUS_ALONE;
	bpf_loop((w.end - 1) / DIRECTORY_BYTES - w.start / DIRECTORY_BYTES + 1, visit_part, &w, 0);
	/* When the chunk is full: 1 breaks the iteration off, and it will show this mapping again. */
	return next_at != 0;
}

struct search {
	__u64 top, guess;
	__u32 depth;
	__u32 found;
};

static long try_base(__u32 i, struct search *s)
{
	__u64 base = s->guess - (__u64)(i / 2) * GIB, table, entry;
	__u32 depth = i % 2 ? 5 : 4;

	table = find_upper(s->top, base, depth, known_address);
	if (!table)
		return 0;
	entry = load(table + slot(known_address, 30) * 8);
	if (!(entry & PRESENT) || (entry & LARGE))
		return 0;
	entry = load(below(base, entry) + slot(known_address, 21) * 8);
	if (!(entry & PRESENT) || (entry & LARGE))
		return 0;
	entry = load(below(base, entry) + slot(known_address, 12) * 8);
	if (!(entry & PRESENT) || (entry & FRAME) >> 12 != known_frame)
		return 0;
	direct_map = base;
	levels = depth;
	return 1;
}

/*
 * Finds where all memory is mapped (a multiple of 1 GiB, randomised on many kernels) and whether there are four or five
 * levels of tables: the right pair leads from our own top-level table to the frame that is known for one of our pages.
 */
SEC("iter/task_vma")
int find_direct_map(struct bpf_iter__task_vma *ctx)
{
	struct vm_area_struct *vma = ctx->vma;
	struct search s = {};

	if (!vma || !ctx->task || known_address < vma->vm_start || known_address >= vma->vm_end)
		return 0;
	s.top = (__u64)BPF_CORE_READ(vma, vm_mm, pgd);
	s.guess = s.top & ~(GIB - 1);
	bpf_loop(2 * DIRECT_MAP_TRIES, try_base, &s, 0);
	return 0;
}
