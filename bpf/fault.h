/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the fault program and user space share: the layout of keys, values and samples, the reasons for losses, and the
 * rule by which the threshold adapts, which is a pure function so that it is tested outside the kernel.
 *
 * Layouts are of fixed width and without hidden padding; the asserts below hold in C and in C++.
 */
#pragma once

#include <linux/types.h>

#ifdef __cplusplus
#define FAULT_INLINE	      inline
#define FAULT_ASSERT(c, text) static_assert(c, text)
#else
#define FAULT_INLINE	      static __attribute__((always_inline)) inline
#define FAULT_ASSERT(c, text) _Static_assert(c, text)
#endif

#define FAULT_COMM_BYTES 16
/* /proc/PID/stat gives the start time in units of 1/USER_HZ s, and USER_HZ is 100 on every architecture we run on. */
#define FAULT_NS_PER_TICK 10000000ULL

/* A process: a pid is used again, a pid with its start time is not. */
struct fault_key {
	__u64 start_ticks; /* of the main thread, since boot: field 22 of /proc/PID/stat */
	__u32 tgid;	   /* in the PID namespace of the collector */
	__u32 zero;
};

/* A value of `counts`. Only the program writes it; all but `total` is its own state. Times: CLOCK_BOOTTIME. */
struct fault_count {
	__u64 total;	     /* faults since the program was attached; only grows */
	__u64 emitted_total; /* `total` at the last emission: total - emitted_total is the published `freq` */
	__u64 emitted_ns;    /* time of the last emission, `since_ns` before the first */
	__u64 since_ns;	     /* counting since: attach time, or the start of the process if later */
	__u64 threshold;     /* `freq` at which the next sample is emitted */
	__u64 checked_jiffy; /* when the clock was last looked at */
	char comm[FAULT_COMM_BYTES];
};

struct fault_sample {
	struct fault_key process;
	__u64 time_ns;
	__u64 since_ns;
	__u64 total;
	char comm[FAULT_COMM_BYTES];
};

/* Why something was not recorded. One row each: X(name of the counter). */
#define FAULT_LOSSES(X)                                                                                                \
	X(buffer_full)                                                                                                 \
	X(untracked)

#define FAULT_LOSS_INDEX(name) FAULT_LOSS_##name,
enum fault_loss { FAULT_LOSSES(FAULT_LOSS_INDEX) FAULT_LOSS_COUNT };

FAULT_ASSERT(sizeof(struct fault_key) == 16, "key of counts");
FAULT_ASSERT(sizeof(struct fault_count) == 64, "value of counts");
FAULT_ASSERT(sizeof(struct fault_sample) == 56, "record in the ring buffer");

#define FAULT_MAX_THRESHOLD (1ULL << 30)
#define FAULT_MAX_PACE_US   (1ULL << 32)
/* Factor by which the threshold grows at most from one emission to the next. */
#define FAULT_MAX_GROWTH 4ULL

/*
 * The threshold after an emission of `freq` faults that took `elapsed_us`: as many faults as that rate brings in one
 * pace. It falls at once, for a threshold that is too high delays samples, but grows fourfold at most, for two faults
 * in quick succession are no storm: from 1 to 70,000 it takes nine emissions. Never 0, at most FAULT_MAX_THRESHOLD.
 *
 * freq is cut at 2^31 and pace_us at 2^32, so that the product fits.
 */
FAULT_INLINE __u64 fault_next_threshold(__u64 threshold, __u64 freq, __u64 elapsed_us, __u64 pace_us)
{
	__u64 most, next;

	if (freq > (1ULL << 31))
		freq = 1ULL << 31;
	if (pace_us > FAULT_MAX_PACE_US)
		pace_us = FAULT_MAX_PACE_US;
	if (elapsed_us == 0)
		elapsed_us = 1;
	if (threshold == 0)
		threshold = 1;
	if (threshold > FAULT_MAX_THRESHOLD)
		threshold = FAULT_MAX_THRESHOLD;
	most = threshold * FAULT_MAX_GROWTH;
	if (most > FAULT_MAX_THRESHOLD)
		most = FAULT_MAX_THRESHOLD;
	next = freq * pace_us / elapsed_us;
	if (next > most)
		next = most;
	return next == 0 ? 1 : next;
}
