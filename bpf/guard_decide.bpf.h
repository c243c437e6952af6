/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From a match and an access to a verdict: policy_decide() of policy.h, in a form that verifiers can follow, and with
 * the subject looked at only where a rule asks for it.
 */
#pragma once

#include "guard_cache.bpf.h"

/* struct policy_verdict as a number, which functions that are verified by themselves can return and take. */
#define VERDICT(verdict)       ((__u32)(verdict).rule << 16 | (verdict).reason << 8 | (verdict).action)
#define VERDICT_RULE(number)   ((number) >> 16)
#define VERDICT_REASON(number) ((number) >> 8 & 0xff)
#define VERDICT_DENIES(number) (((number) & 0xff) == POLICY_DENY)

/*
 * Finds the file at that address once more, for it may have been renamed since, and walks. The fingerprint of where it
 * was found goes to *proof.
 */
__noinline __u64 find_and_walk(const struct policy_image *policy_image, struct origin *origin, __u64 file, __u64 *proof)
{
	if (!policy_image || !origin || !proof)
		return WALK_UNKNOWN(GUARD_WALK_unreadable);
	*proof = find_file(origin, (void *)file, policy_image->generation, false, true);
	return walk_to_match(policy_image, origin);
}

/* The match of a subject's executable. It is kept in the table, for it may be known by no pointer that storage takes.
 */
__noinline __u32 executable_match(const struct policy_image *policy_image)
{
	struct file *file = BPF_CORE_READ(bpf_get_current_task_btf(), mm, exe_file);
	struct origin origin = {};
	__u64 *entry, proof, word, walked;

	if (!file || !policy_image)
		return POLICY_NO_MATCH;
	proof = find_file(&origin, file, policy_image->generation, false, true);
	entry = table_entry(file, false);
	word = kept_word(entry);
	if (still_true(word, proof))
		return word & MATCH_MASK;
	walked = walk_to_match(policy_image, &origin);
	keep_match(entry, proof, walked);
	return WALK_MATCH(walked);
}

struct choosing {
	const struct policy_image *image;
	struct policy_subject *subject;
	__u32 first;
	struct policy_verdict verdict;
};

static long try_candidate(__u32 i, struct choosing *choosing)
{
	const struct policy_image *policy_image = choosing->image;
	__u8 index = policy_image->candidate[(choosing->first + i) & (POLICY_MAX_CANDIDATES - 1)];
	const struct policy_rule *rule = &policy_image->rule[index];
	struct policy_subject *subject = choosing->subject;

	if (rule->conditions & POLICY_BY_CGROUP)
		subject->cgroup[rule->cgroup_level & (POLICY_CGROUP_LEVELS - 1)] =
		    bpf_get_current_ancestor_cgroup_id(rule->cgroup_level);
	if (!policy_subject_is(rule, subject))
		return 0;
	if (rule->conditions & POLICY_BY_EXECUTABLE) {
		if (subject->executable == POLICY_UNKNOWN_MATCH) {
			choosing->verdict.action = policy_image->unknown;
			choosing->verdict.reason = POLICY_BY_UNKNOWN;
			choosing->verdict.rule = index;
			return 1;
		}
		if (!policy_executable_is(policy_image, subject->executable, index))
			return 0;
	}
	choosing->verdict = policy_verdict_of(policy_image, index);
	return 1;
}

static __always_inline const struct policy_choice *choice_of(const struct policy_image *policy_image, __u32 match,
							     __u32 bit)
{
	return &policy_image->match[match & (POLICY_MAX_MATCHES - 1)].choice[bit];
}

/* The effective one: rules decide by it, and events tell it. */
static __always_inline __u32 current_user(void)
{
	return BPF_CORE_READ(bpf_get_current_task_btf(), cred, euid.val);
}

/* policy_decide() of policy.h, with a loop that verifiers can see the end of, and a subject that is asked when needed.
 */
__noinline __u32 decide(const struct policy_image *policy_image, __u32 match, __u32 access, __u32 executable)
{
	struct policy_subject subject = {.executable = executable};
	struct choosing choosing = {.image = policy_image, .subject = &subject};
	__u32 verdict = 0;
	bool decided = false;

	if (!policy_image)
		return 0;
	subject.uid = current_user();
	bpf_get_current_comm(subject.command, sizeof(subject.command));
	for (__u32 bit = 0; bit < POLICY_ACCESSES; bit++) {
		const struct policy_choice *choice = choice_of(policy_image, match, bit);

		if (!(access >> bit & 1))
			continue;
		choosing.verdict = policy_verdict_of(policy_image, choice->otherwise);
		choosing.first = choice->first;
		if (choice->count)
			bpf_loop(choice->count, try_candidate, &choosing, 0);
		if (!decided || (choosing.verdict.action == POLICY_DENY && !VERDICT_DENIES(verdict)))
			verdict = VERDICT(choosing.verdict);
		decided = true;
	}
	return verdict;
}

/* The verdict as far as no subject matters; SUBJECT_MATTERS where one does. */
#define SUBJECT_MATTERS 0xffffffffU

static __always_inline __u32 verdict_on_anybody(const struct policy_image *policy_image, __u32 match, __u32 access)
{
	bool decided = false;
	__u32 verdict = 0;

	for (__u32 bit = 0; bit < POLICY_ACCESSES; bit++) {
		const struct policy_choice *choice = choice_of(policy_image, match, bit);
		__u32 one;

		if (!(access >> bit & 1))
			continue;
		if (choice->count)
			return SUBJECT_MATTERS;
		one = VERDICT(policy_verdict_of(policy_image, choice->otherwise));
		if (!(access & (access - 1)))
			return one; /* as nearly always */
		if (!decided || (VERDICT_DENIES(one) && !VERDICT_DENIES(verdict)))
			verdict = one;
		decided = true;
	}
	return verdict;
}

static __always_inline __u32 find_verdict(const struct policy_image *policy_image, __u32 match, __u32 access)
{
	struct policy_verdict unknown = {policy_image->unknown, POLICY_BY_UNKNOWN, POLICY_NO_RULE};
	__u32 executable = POLICY_NO_MATCH;
	__u32 verdict;

	if (match == POLICY_UNKNOWN_MATCH)
		return VERDICT(unknown);
	verdict = verdict_on_anybody(policy_image, match, access);
	if (verdict != SUBJECT_MATTERS)
		return verdict;
	if (policy_image->conditions & POLICY_BY_EXECUTABLE)
		executable = executable_match(policy_image);
	return decide(policy_image, match, access, executable);
}
