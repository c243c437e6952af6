// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Counts the page faults of processes and now and then emits a sample.
 *
 * The published method keeps two hashes: `counts` (pid -> faults since the last sample), cleared once user space has
 * stored the sample, and `freq` (pid -> faults since the last emission), which is compared with a threshold. Faults
 * that fall between emission and clearing would be lost, and two hashes can disagree. Here both are views of one number
 * that only grows, `total` in the one map `counts`:
 *
 *     freq   = total - emitted_total   (total at the last emission, kept by this program)
 *     counts = total - stored total    (total of the last stored sample, kept by user space, which thereby "clears")
 *
 * A sample carries `total`. Whatever is dropped on the way, its faults come with the next sample.
 *
 * A sample is due when `freq` reaches the threshold, which follows the process's own rate (fault.h) and so is the
 * number of faults expected in one `pace`: reaching it early means that the rate has risen. It is also due, at the next
 * fault, when a pace has gone by, so that a threshold from a storm does not silence the calm after it. Reading the
 * clock costs more than all the rest, so it is read at most once a jiffy.
 *
 * The hooks are one-line shells over count_fault(); user space loads exactly one of them (src/kernel/hooks.cpp says
 * what each one counts).
 */
#include "kernel_types.h"
#include "compat.bpf.h"
#include "fault.h"
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Set before loading; the verifier takes them as constants and drops what they rule out. */
const volatile __u32 filter_tgid = 0;	       /* 0: any */
const volatile __u64 filter_start_ticks = 0;   /* of that process */
const volatile __u64 filter_comm[2] = {};      /* name of the main thread, up to and with its NUL */
const volatile __u64 filter_comm_mask[2] = {}; /* its bytes that count; both 0: any */
const volatile __u32 pid_namespace = 0;	       /* inode of the collector's; 0: the initial one */
const volatile __s64 boot_offset_ns = 0;       /* of the collector's time namespace */
const volatile __u64 pace_us = 0;	       /* 0: count only, emit nothing */
const volatile bool use_perf_buffer = false;

/* Set just before attaching. */
__u64 attached_ns = 0;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct fault_key);
	__type(value, struct fault_count);
} counts SEC(".maps");

/* Processes that are emitting at this moment: inserting is the test-and-set that makes one of several threads do it. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct fault_key);
	__type(value, __u32);
} emitting SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 * 1024);
} samples SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} perf_samples SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, FAULT_LOSS_COUNT);
	__type(key, __u32);
	__type(value, __u64);
} losses SEC(".maps");

/* Time and start times as the collector sees them: CLOCK_BOOTTIME in its time namespace. */
static __always_inline __u64 boot_now(void)
{
	return bpf_ktime_get_boot_ns() + boot_offset_ns;
}

static __always_inline void lose(enum fault_loss reason)
{
	__u32 index = reason;
	__u64 *count = bpf_map_lookup_elem(&losses, &index);

	if (count)
		__sync_fetch_and_add(count, 1); /* some hooks can be preempted */
}

static __always_inline bool comm_matches(struct task_struct *leader)
{
	__u64 comm[2];

	if (!filter_comm_mask[0])
		return true;
	bpf_core_read(comm, sizeof(comm), &leader->comm);
	return (comm[0] & filter_comm_mask[0]) == filter_comm[0] && (comm[1] & filter_comm_mask[1]) == filter_comm[1];
}

/* Identifies the current process. False when it is not one of those to observe. */
static __always_inline bool observed_process(struct fault_key *key)
{
	struct task_struct *leader = compat_current_leader();

	key->tgid = pid_namespace ? compat_pid_in_namespace(leader, pid_namespace) : bpf_get_current_pid_tgid() >> 32;
	if (!key->tgid || (filter_tgid && key->tgid != filter_tgid))
		return false;
	key->start_ticks = (compat_start_boottime(leader) + boot_offset_ns) / FAULT_NS_PER_TICK;
	if (filter_tgid && key->start_ticks != filter_start_ticks)
		return false;
	return comm_matches(leader);
}

static __always_inline struct fault_count *count_of(const struct fault_key *key)
{
	struct fault_count *count = bpf_map_lookup_elem(&counts, key);
	struct fault_count fresh = {};

	if (count)
		return count;
	fresh.since_ns = key->start_ticks * FAULT_NS_PER_TICK;
	if (fresh.since_ns < attached_ns)
		fresh.since_ns = attached_ns;
	fresh.emitted_ns = fresh.since_ns;
	fresh.threshold = 1;
	bpf_core_read(fresh.comm, sizeof(fresh.comm), &compat_current_leader()->comm);
	/* Another thread may insert it first: then this fails, and the look-up finds that one's. */
	bpf_map_update_elem(&counts, key, &fresh, BPF_NOEXIST);
	return bpf_map_lookup_elem(&counts, key);
}

/* Whether a pace has gone by since the last emission; looked up once a jiffy, with the name as it is by then. */
static __always_inline bool pace_is_over(struct fault_count *count)
{
	__u64 jiffy = bpf_jiffies64();

	if (jiffy == count->checked_jiffy)
		return false;
	count->checked_jiffy = jiffy;
	bpf_core_read(count->comm, sizeof(count->comm), &compat_current_leader()->comm);
	return pace_us && boot_now() - count->emitted_ns >= pace_us * 1000;
}

static __always_inline void emit(void *ctx, const struct fault_key *key, struct fault_count *count)
{
	struct fault_sample sample = {.process = *key, .since_ns = count->since_ns};
	__u64 freq, elapsed_us;
	long failed;

	__builtin_memcpy(sample.comm, count->comm, sizeof(sample.comm));
	sample.total = *(volatile __u64 *)&count->total;
	sample.time_ns = boot_now();
	freq = sample.total - count->emitted_total;
	elapsed_us = sample.time_ns > count->emitted_ns ? (sample.time_ns - count->emitted_ns) / 1000 : 0;
	if (freq < count->threshold && elapsed_us < pace_us)
		return; /* another thread has just emitted */
	if (use_perf_buffer)
		failed = bpf_perf_event_output(ctx, &perf_samples, BPF_F_CURRENT_CPU, &sample, sizeof(sample));
	else
		failed = bpf_ringbuf_output(&samples, &sample, sizeof(sample), 0);
	if (failed)
		lose(FAULT_LOSS_buffer_full);
	count->threshold = fault_next_threshold(count->threshold, freq, elapsed_us, pace_us);
	count->emitted_total = sample.total;
	count->emitted_ns = sample.time_ns;
}

static __always_inline int count_fault(void *ctx)
{
	struct fault_key key = {};
	struct fault_count *count;
	__u32 claim = 0;
	__u64 freq;

	if (!observed_process(&key))
		return 0;
	count = count_of(&key);
	if (!count) {
		lose(FAULT_LOSS_untracked);
		return 0;
	}
	__sync_fetch_and_add(&count->total, 1);
	freq = *(volatile __u64 *)&count->total - count->emitted_total;
	if (!(pace_us && freq >= count->threshold) && !pace_is_over(count))
		return 0;
	if (bpf_map_update_elem(&emitting, &key, &claim, BPF_NOEXIST))
		return 0;
	emit(ctx, &key, count);
	bpf_map_delete_elem(&emitting, &key);
	return 0;
}

/*
 * handle_mm_fault. The kernel's own per-task counters (mm_account_fault) count the completed calls, whoever's memory it
 * was: so does the exit hook. At entry it is not known yet whether the kernel will begin the fault again; a call with
 * FAULT_FLAG_TRIED says that it was, and is passed over, but the second try of a fault that was first tried under the
 * VMA lock alone (Linux 6.4) does not say so, and counts twice.
 */
#define FAULT_FLAG_TRIED 0x20 /* the same in all kernels since it exists (3.9) */

static __always_inline int count_fault_entry(void *ctx, __u32 flags)
{
	return flags & FAULT_FLAG_TRIED ? 0 : count_fault(ctx);
}

SEC("fexit/handle_mm_fault")
int BPF_PROG(fault_fexit, struct vm_area_struct *vma, unsigned long address, unsigned int flags, struct pt_regs *regs,
	     unsigned int result)
{
	return result & compat_incomplete_fault_mask() ? 0 : count_fault(ctx);
}

SEC("fentry/handle_mm_fault")
int BPF_PROG(fault_fentry, struct vm_area_struct *vma, unsigned long address, unsigned int flags)
{
	return count_fault_entry(ctx, flags);
}

SEC("kprobe/handle_mm_fault")
int BPF_KPROBE(fault_kprobe, struct vm_area_struct *vma, unsigned long address, unsigned int flags)
{
	return count_fault_entry(ctx, flags);
}

SEC("kprobe/__handle_mm_fault")
int BPF_KPROBE(fault_kprobe_internal, struct vm_area_struct *vma, unsigned long address, unsigned int flags)
{
	return count_fault_entry(ctx, flags);
}

SEC("tp_btf/page_fault_user")
int fault_tp_btf(void *ctx)
{
	return count_fault(ctx);
}

SEC("raw_tp/page_fault_user")
int fault_raw_tp(void *ctx)
{
	return count_fault(ctx);
}

SEC("tracepoint/exceptions/page_fault_user")
int fault_tracepoint(void *ctx)
{
	return count_fault(ctx);
}

SEC("perf_event")
int fault_perf_event(void *ctx)
{
	return count_fault(ctx);
}
