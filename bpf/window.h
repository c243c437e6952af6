/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A rolling window: how often something happened in each of the last 300 seconds, counted by BPF programs on the
 * hottest paths and read at any time. This file is what both sides share: the layout in memory, and the steps of a
 * bump, which are plain C on injected memory and an injected time, so that the tests run the very same code outside
 * the kernel. BPF programs include window.bpf.h.
 *
 * The idea. Per CPU there are totals that only grow, and 300 slots. The first bump of a second writes down, in the slot
 * of that second, what the totals were when it began. Each bump then adds to the total, and to nothing else:
 *
 *	total      ─────────────────────────────────────────────▶ 57		a second's count is the difference
 *	slot start       12 (second 7)    30 (second 8)    41 (second 11)	of neighbouring starts: 18, 11, 16
 *
 * A slot is not cleared, so there is no moment between clearing and tagging in which a count can get lost, and the
 * totals that an exporter wants are there for nothing. The usual bump looks at the clock, compares it with the end of
 * the running second and adds: no division, one cache line. A second without a bump on that CPU has no slot; those
 * after the last bump cost nothing either.
 *
 * Programs that interrupt each other on one CPU (LSM, sleepable, a tracepoint inside an interrupt) lose nothing, and
 * nobody waits. The add is atomic. Of several programs that begin the same second, each may write the starts, until
 * one has finished; window_turn() says why that is right. A bump counts in the second in which it began, or, if another
 * has begun on that CPU before it came to add, in that one.
 *
 * The published layout is kept as a choice: 300 entries of 56 bytes, the number of the second and six counts, which
 * added up over slots and CPUs are the sums. It needs twice the memory accesses in a bump and 300 look-ups in a read.
 *
 * Time. A window runs on jiffies or on CLOCK_BOOTTIME, as its header says. Seconds are numbered from `epoch`, which
 * lies one second before the window was started: number 0 never occurs, and a tag of 0 is a slot never used. Until
 * somebody starts a window (writes its header, before the programs are attached) it counts into its totals only.
 */
#pragma once

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#ifdef __cplusplus
#define WINDOW_ASSERT(c, text) static_assert(c, text)
#else
#define WINDOW_ASSERT(c, text) _Static_assert(c, text)
#endif
#define WINDOW_INLINE static inline __attribute__((always_inline))

/* A test defines this to do between any two accesses what an interrupting program might. */
#ifndef WINDOW_BETWEEN_ACCESSES
#define WINDOW_BETWEEN_ACCESSES()
#endif

#define WINDOW_MAGIC   0x77646e77 /* "wndw" */
#define WINDOW_VERSION 1

#define WINDOW_SLOTS		  300	/* seconds */
#define WINDOW_VALUE_MAX	  32768 /* bytes in a per-CPU value, PCPU_MIN_UNIT_SIZE of the kernel */
#define WINDOW_MAX_COUNTERS	  12
#define WINDOW_PUBLISHED_COUNTERS 6

/* What the slots hold. */
enum window_layout {
	WINDOW_STARTS = 1,    /* the totals at the begin of the second */
	WINDOW_PUBLISHED = 2, /* the counts of the second */
};

enum window_clock {
	WINDOW_NOT_STARTED = 0,
	WINDOW_JIFFIES = 1,  /* cheapest; stands still during suspend */
	WINDOW_BOOTTIME = 2, /* goes on during suspend */
};

/*
 * Before the totals, in each CPU's copy. All but `until` is written once, when the window is started, and the same on
 * each CPU. `epoch` and `epoch_ns` are the same instant, on the clock that the programs look at and on the one that a
 * reader can: CLOCK_MONOTONIC for jiffies, else CLOCK_BOOTTIME, both as in the initial time namespace. For jiffies
 * `epoch_ns` is late by up to a tick, so that a reader who counts from it never takes a running second for a past one.
 */
struct window_header {
	__u32 magic;
	__u16 version;
	__u16 layout; /* enum window_layout */
	__u16 counters;
	__u16 slots;
	__u32 clock; /* enum window_clock */
	__u64 ticks_per_s;
	__u64 tick_ns;
	__u64 epoch;	/* in ticks */
	__u64 epoch_ns; /* the same */
	__u64 zero;
	__u64 until; /* this CPU's newest second ends at that tick; 0: none has begun. Beside the totals on purpose. */
};

/*
 * One CPU's copy, by 64-bit words, for n counters:
 *
 *	struct window_header	8 words
 *	totals			n
 *	slots[300]		1 + n each: the number of the second, then its starts
 *
 * In the published layout the slots are a map of their own, with a second and six counts each, and header and totals
 * are one entry of a per-CPU array beside it, named <window>_meta.
 */
struct window_published_slot {
	__u64 abs_bucket;
	__u64 count[WINDOW_PUBLISHED_COUNTERS];
};

#define WINDOW_WORDS(counters) (8ULL + (counters) + WINDOW_SLOTS * (1ULL + (counters)))

WINDOW_ASSERT(sizeof(struct window_header) == 64, "header of a rolling window");
WINDOW_ASSERT(sizeof(struct window_published_slot) == 56, "slot of the published layout");
WINDOW_ASSERT(WINDOW_WORDS(WINDOW_MAX_COUNTERS) * 8 <= WINDOW_VALUE_MAX, "the largest window fits a per-CPU value");
WINDOW_ASSERT(WINDOW_WORDS(WINDOW_MAX_COUNTERS + 1) * 8 > WINDOW_VALUE_MAX, "one counter more would not fit");

/* Set in the number of a published slot while the counts of five minutes ago are being taken off. */
#define WINDOW_BUSY (1ULL << 63)

/* Each made exactly once and in the order of the program: others may interrupt between any two. */
WINDOW_INLINE __u64 window_load(const volatile __u64 *word)
{
	WINDOW_BETWEEN_ACCESSES();
	return *word;
}

WINDOW_INLINE void window_store(volatile __u64 *word, __u64 value)
{
	WINDOW_BETWEEN_ACCESSES();
	*word = value;
}

WINDOW_INLINE void window_increase(__u64 *word, __u64 n)
{
	WINDOW_BETWEEN_ACCESSES();
	__sync_fetch_and_add(word, n);
}

/* The number of the second that tick `now` is in. The window has been started. */
WINDOW_INLINE __u64 window_second(const struct window_header *w, __u64 now)
{
	return (now - w->epoch) / w->ticks_per_s;
}

/*
 * Below WINDOW_SLOTS. The compiler knows that, the verifier of most kernels does not: the first opaque step keeps the
 * check, the second keeps what is computed from the index behind it.
 */
WINDOW_INLINE __u64 window_slot_index(__u64 second)
{
	__u64 index = second % WINDOW_SLOTS;

	__asm__ volatile("" : "+r"(index));
	if (index >= WINDOW_SLOTS)
		index = 0;
	__asm__ volatile("" : "+r"(index));
	return index;
}

/*
 * Begins the second of `now` on this CPU: writes its slot and sets `until`.
 *
 * Another program may interrupt between any two accesses and begin the same second, or a later one, and bump. Who
 * finishes sets the tag after all starts, `until` after the tag, and adds only then. So a total that was read while
 * neither showed it finished contains no bump of this second or a later one: it is a right start, whoever writes it,
 * however late, and however often. That is why each total is read first, then the two are looked at, then it is stored.
 *
 * What is left: a program held up for whole seconds between the look and the store, while two others begin seconds on
 * both sides. Its start may be older than right, and the reader, for whom a start is never above the one that follows,
 * then counts some bumps a second early. Held up there for exactly five minutes, it may name a slot's older second,
 * whose bumps then count with the second before. The totals are right in any case.
 *
 * Where several CPUs share one copy, the same holds on x86, which keeps loads, and stores, in order among themselves.
 */
WINDOW_INLINE void window_turn(struct window_header *w, const __u64 *totals, __u64 *slots, __u32 counters, __u64 now)
{
	__u64 second, until, total;
	__u64 *slot;

	if (w->ticks_per_s == 0)
		return;
	second = window_second(w, now);
	until = w->epoch + (second + 1) * w->ticks_per_s;
	slot = slots + window_slot_index(second) * (counters + 1);
	for (__u32 i = 0; i < counters; i++) {
		total = window_load(&totals[i]);
		if (window_load(&w->until) >= until)
			return;
		if (window_load(slot) == second)
			break;
		window_store(&slot[1 + i], total);
	}
	window_store(slot, second);
	window_store(&w->until, until);
}

/* Begins the second of `now`, in ticks, if it has not begun. What is added right after it counts as of `now`. */
WINDOW_INLINE void window_begin_at(struct window_header *w, const __u64 *totals, __u64 *slots, __u32 counters,
				   __u64 now)
{
	if (now >= window_load(&w->until))
		window_turn(w, totals, slots, counters, now);
}

/* Adds to the counter whose total is `total`, at time `now`, in ticks. */
WINDOW_INLINE void window_add_at(struct window_header *w, const __u64 *totals, __u64 *slots, __u32 counters,
				 __u64 *total, __u64 n, __u64 now)
{
	window_begin_at(w, totals, slots, counters, now);
	window_increase(total, n);
}

/*
 * The published layout: makes the slot that of `second`, where programs do not interrupt each other. If they do, the
 * bumps of one that came in between the first and the last step here are lost from the slot (once a second and CPU at
 * the most, and never from the totals).
 */
WINDOW_INLINE void window_published_turn(__u64 *slot, __u64 second)
{
	if (window_load(slot) == second)
		return;
	window_store(slot, 0); /* a reader passes over it meanwhile */
	for (__u32 i = 1; i <= WINDOW_PUBLISHED_COUNTERS; i++)
		window_store(&slot[i], 0);
	window_store(slot, second);
}

/*
 * The same for programs that interrupt each other: loses nothing. The old counts are read first. Then the slot is
 * claimed by exchanging its tag; whoever comes in from now on adds. Had anybody claimed and added before, the exchange
 * would fail, so the counts that were read are those of the old second, and taking them off leaves just what was added.
 *
 * Needs Linux 5.12, and clang -mcpu=v3 where it is used.
 */
WINDOW_INLINE void window_published_turn_nested(__u64 *slot, __u64 second)
{
	__u64 tag = window_load(slot);
	__u64 old[WINDOW_PUBLISHED_COUNTERS];

	if ((tag & ~WINDOW_BUSY) >= second)
		return;
	for (__u32 i = 0; i < WINDOW_PUBLISHED_COUNTERS; i++)
		old[i] = window_load(&slot[1 + i]);
	WINDOW_BETWEEN_ACCESSES();
	if (__sync_val_compare_and_swap(slot, tag, second | WINDOW_BUSY) != tag)
		return;
	for (__u32 i = 0; i < WINDOW_PUBLISHED_COUNTERS; i++)
		window_increase(&slot[1 + i], -old[i]);
	window_store(slot, second);
}
