/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rolling windows for BPF programs of any type: needs no more than bpf_map_lookup_elem, bpf_jiffies64 and
 * bpf_ktime_get_boot_ns. window.h says how it works and what it promises.
 *
 *	WINDOW(cache, lookups, hits, misses);		declares the map, with up to 12 counters
 *
 *	window_bump(cache, lookups);			counts one
 *	window_add(cache, misses, 3);			counts three
 *
 * or, when several are counted in one place, with one look-up for all of them:
 *
 *	struct cache_window *w = window_of(cache);
 *	if (w) {
 *		window_add_to(w, lookups, 1);
 *		window_add_to(w, hits, 1);
 *	}
 *
 * The names become members of the map's value, so BTF carries them to whoever reads the map. `struct cache_window`
 * may as well be the value of a map of your own, one for each of several targets, say; copies that are shared by CPUs
 * are right on x86 (window.h), if dearer.
 *
 * Include <linux/bpf.h> or vmlinux.h first. The program that loads the object starts the window before it attaches
 * (src/window/start.h; or write the header that window.h describes into every possible CPU's copy).
 */
#pragma once

#include "window.h"
#include <bpf/bpf_helpers.h>

#define WINDOW_VALUE(name, ...)                                                                                        \
	struct name##_counters {                                                                                       \
		__u64 __VA_ARGS__;                                                                                     \
	};                                                                                                             \
	struct name##_slot {                                                                                           \
		__u64 abs_bucket;                                                                                      \
		struct name##_counters start;                                                                          \
	};                                                                                                             \
	struct name##_window {                                                                                         \
		struct window_header header;                                                                           \
		struct name##_counters total;                                                                          \
		struct name##_slot slots[WINDOW_SLOTS];                                                                \
	};                                                                                                             \
	WINDOW_ASSERT(sizeof(struct name##_window) <= WINDOW_VALUE_MAX, "a window has at most 12 counters")

#define WINDOW(name, ...)                                                                                              \
	WINDOW_VALUE(name, __VA_ARGS__);                                                                               \
	struct {                                                                                                       \
		__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);                                                               \
		__uint(max_entries, 1);                                                                                \
		__type(key, __u32);                                                                                    \
		__type(value, struct name##_window);                                                                   \
	} name SEC(".maps")

#define window_of(name)                                                                                                \
	({                                                                                                             \
		__u32 window_key = 0;                                                                                  \
		(struct name##_window *)bpf_map_lookup_elem(&name, &window_key);                                       \
	})

/* Tells a started window's clock, in its ticks. */
static __always_inline __u64 window_now(const struct window_header *w)
{
	return w->clock == WINDOW_BOOTTIME ? bpf_ktime_get_boot_ns() : bpf_jiffies64();
}

#define window_add_to(w, counter, n)                                                                                   \
	window_add_at(&(w)->header, (const __u64 *)&(w)->total, (__u64 *)(w)->slots,                                   \
		      sizeof((w)->total) / sizeof(__u64), &(w)->total.counter, n, window_now(&(w)->header))

/* The same in two steps, for several that are counted at one time: one look at the clock serves them all. */
#define window_begin(w)                                                                                                \
	window_begin_at(&(w)->header, (const __u64 *)&(w)->total, (__u64 *)(w)->slots,                                 \
			sizeof((w)->total) / sizeof(__u64), window_now(&(w)->header))
#define window_count(w, counter, n) window_increase(&(w)->total.counter, n)

#define window_add(name, counter, n)                                                                                   \
	do {                                                                                                           \
		struct name##_window *window_copy = window_of(name);                                                   \
		if (window_copy)                                                                                       \
			window_add_to(window_copy, counter, n);                                                        \
	} while (0)

#define window_bump(name, counter) window_add(name, counter, 1)

/*
 * The published layout, with exactly six counters: WINDOW_PUBLISHED(cache, lookups, …) and
 * window_published_add(cache, lookups, 1). The name has at most 10 letters, for the kernel keeps 15 of a map's.
 */
#define WINDOW_PUBLISHED(name, ...)                                                                                    \
	struct name##_counters {                                                                                       \
		__u64 __VA_ARGS__;                                                                                     \
	};                                                                                                             \
	struct name##_slot {                                                                                           \
		__u64 abs_bucket;                                                                                      \
		__u64 __VA_ARGS__;                                                                                     \
	};                                                                                                             \
	struct name##_meta {                                                                                           \
		struct window_header header;                                                                           \
		struct name##_counters total;                                                                          \
	};                                                                                                             \
	WINDOW_ASSERT(sizeof(struct name##_slot) == sizeof(struct window_published_slot), "six counters");             \
	WINDOW_ASSERT(sizeof(#name "_meta") <= 16, "the kernel would cut the name");                                   \
	struct {                                                                                                       \
		__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);                                                               \
		__uint(max_entries, WINDOW_SLOTS);                                                                     \
		__type(key, __u32);                                                                                    \
		__type(value, struct name##_slot);                                                                     \
	} name SEC(".maps");                                                                                           \
	struct {                                                                                                       \
		__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);                                                               \
		__uint(max_entries, 1);                                                                                \
		__type(key, __u32);                                                                                    \
		__type(value, struct name##_meta);                                                                     \
	} name##_meta SEC(".maps")

/* `turn`: window_published_turn, or window_published_turn_nested where programs may interrupt each other. */
#define window_published_add_by(turn, name, counter, n)                                                                \
	do {                                                                                                           \
		__u32 window_key = 0;                                                                                  \
		struct name##_meta *window_meta = bpf_map_lookup_elem(&name##_meta, &window_key);                      \
		struct name##_slot *window_slot;                                                                       \
		__u64 window_tag;                                                                                      \
		if (!window_meta)                                                                                      \
			break;                                                                                         \
		window_increase(&window_meta->total.counter, n);                                                       \
		if (!window_meta->header.ticks_per_s)                                                                  \
			break;                                                                                         \
		window_tag = window_second(&window_meta->header, window_now(&window_meta->header));                    \
		window_key = window_slot_index(window_tag);                                                            \
		window_slot = bpf_map_lookup_elem(&name, &window_key);                                                 \
		if (!window_slot)                                                                                      \
			break;                                                                                         \
		turn(&window_slot->abs_bucket, window_tag);                                                            \
		window_increase(&window_slot->counter, n);                                                             \
	} while (0)

#define window_published_add(name, counter, n) window_published_add_by(window_published_turn, name, counter, n)
#define window_published_add_nested(name, counter, n)                                                                  \
	window_published_add_by(window_published_turn_nested, name, counter, n)
