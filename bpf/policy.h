/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A file-access policy as the kernel program runs it: one value of fixed size that user space compiles, and the pure
 * functions that find a verdict in it, the same in C++ and in the kernel.
 *
 * The question "which rules does this file's path match?" is answered by one deterministic automaton that reads the
 *path from its END: a file's dentry knows its name and its parent, so walking up gives the names from the leaf to the
 *root, and the path is never put together in a buffer. For each component the program feeds the bytes of the name from
 *the last to the first, and then a '/'. Where the walk crosses a mount it goes on at the mount point, with nothing fed
 *in between. The root itself, which has no component, is one '/'.
 *
 *	state = image->start;
 *	for each component, leaf first:
 *		for each byte of its name, last first:
 *			state = policy_next(image, state, byte);
 *		state = policy_next(image, state, '/');
 *		if (policy_settled(image, state))
 *			break;
 *	match = policy_match_of(image, state);
 *
 * A settled state is one that no further byte leaves, so the walk may end early; a walk that gives up (too deep, too
 * long, unreachable) in a state that is not settled has the match POLICY_UNKNOWN_MATCH.
 *
 * A match is a set of patterns, not a verdict. It is what may be cached for a file, since it depends on the file's path
 * alone: the subject (who opens) and the access (what for) enter in policy_decide, each time. The executable of a
 * subject is a file, too: its match comes from the same automaton, and may be cached in the same way.
 */
#pragma once

#include <linux/types.h>

#ifdef __cplusplus
#define POLICY_INLINE	       inline
#define POLICY_ASSERT(c, text) static_assert(c, text)
#else
#define POLICY_INLINE	       static __attribute__((always_inline)) inline
#define POLICY_ASSERT(c, text) _Static_assert(c, text)
#endif

/* All are powers of two, since the verifier takes a mask for a bound. What needs more is refused when compiled. */
#define POLICY_MAX_RULES       256U
#define POLICY_MAX_MATCHES     4096U
#define POLICY_MAX_CANDIDATES  65536U
#define POLICY_MAX_STATES      65536U
#define POLICY_MAX_TRANSITIONS (1U << 20)

#define POLICY_COMMAND_BYTES 16
#define POLICY_CGROUP_LEVELS 16U
#define POLICY_PATH_BYTES    4096 /* PATH_MAX: a path of more bytes cannot be opened by its name */

enum policy_mode { POLICY_AUDIT, POLICY_ENFORCE };
enum policy_action { POLICY_ALLOW, POLICY_DENY };

/* An access is a bit of a mask; opening for reading and writing asks for two of them. */
enum policy_access {
	POLICY_READ = 1,
	POLICY_WRITE = 2,
	POLICY_EXECUTE = 4,
};
#define POLICY_ACCESSES 3U

/* What a rule may ask of the subject. Bits of a mask: all of them must hold. */
enum policy_condition {
	POLICY_BY_COMMAND = 1,
	POLICY_BY_EXECUTABLE = 2,
	POLICY_BY_CGROUP = 4,
	POLICY_BY_UID = 8,
};

#define POLICY_NO_MATCH	     0U /* no rule has a pattern that the path matches */
#define POLICY_UNKNOWN_MATCH 0xffffffffU
#define POLICY_NO_RULE	     0xffffU
#define POLICY_NO_UID	     0xffffffffU /* (uid_t)-1, which no process has */

struct policy_rule {
	__u64 cgroup;			    /* id; the loader fills it in. The subject is in it or below it */
	char command[POLICY_COMMAND_BYTES]; /* filled up with zeros */
	__u32 uid;			    /* effective */
	__u8 access;			    /* enum policy_access, a mask */
	__u8 action;			    /* enum policy_action */
	__u8 conditions;		    /* enum policy_condition, a mask */
	__u8 cgroup_level;		    /* of its ancestors, the root being 0; the loader fills it in */
};

/* For one match and one access: rules to try in turn, and what decides when none of them applies to the subject. */
struct policy_choice {
	__u32 first;	 /* index into candidate[] */
	__u16 count;	 /* 0: the subject does not matter */
	__u16 otherwise; /* a rule without conditions, or POLICY_NO_RULE: the default */
};

struct policy_match {
	struct policy_choice
	    choice[POLICY_ACCESSES];		 /* of a file with this path; in the order of the bits of an access */
	__u64 executable[POLICY_MAX_RULES / 64]; /* bit r: as a subject's executable it meets the condition of rule r */
};

/* The compiled policy. Its size is fixed, so that it fits one map value whatever the policy: about 2.4 MiB. */
struct policy_image {
	__u32 generation; /* the loader fills it in: never 0, and never used twice */
	__u32 start;	  /* state in which each path begins */
	__u32 settled;	  /* states below this one are settled */
	__u32 states;
	__u32 classes; /* bytes that no pattern tells apart are one class */
	__u32 matches;
	__u32 candidates;
	__u16 rules;
	__u8 mode;	 /* enum policy_mode */
	__u8 fallback;	 /* enum policy_action: the default, where no rule decides */
	__u8 unknown;	 /* enum policy_action: where the path, or an executable that a rule asks for, is unknown */
	__u8 conditions; /* of all rules together: what of the subject has to be known at all */
	__u16 zero;
	__u32 zero2;

	__u8 class_of[256];
	struct policy_rule rule[POLICY_MAX_RULES]; /* in the order of the file */
	struct policy_match match[POLICY_MAX_MATCHES];
	__u8 candidate[POLICY_MAX_CANDIDATES]; /* index of a rule */
	__u16 match_of[POLICY_MAX_STATES];     /* by state */
	__u16 next[POLICY_MAX_TRANSITIONS];    /* by state and class */
};

/* Who opens the file. What image->conditions does not ask for may be left zero. */
struct policy_subject {
	__u64
	    cgroup[POLICY_CGROUP_LEVELS]; /* ids of its cgroup and the ancestors of that, by level; 0: not that deep */
	char command[POLICY_COMMAND_BYTES]; /* filled up with zeros */
	__u32 uid;			    /* effective */
	__u32 executable;		    /* match of its path; POLICY_NO_MATCH for a kernel thread */
};

/* Who says so. */
enum policy_reason {
	POLICY_BY_RULE,
	POLICY_BY_DEFAULT,
	POLICY_BY_UNKNOWN, /* of the path, or, with a rule, of the executable that this rule asks for */
};

struct policy_verdict {
	__u8 action; /* enum policy_action */
	__u8 reason; /* enum policy_reason */
	__u16 rule;  /* index, or POLICY_NO_RULE */
};

POLICY_ASSERT(sizeof(struct policy_rule) == 32, "shared with user space");
POLICY_ASSERT(sizeof(struct policy_match) == 56, "shared with user space");
POLICY_ASSERT(sizeof(struct policy_subject) == 152, "of 512 bytes of BPF stack");
POLICY_ASSERT(__builtin_offsetof(struct policy_image, class_of) == 40, "no hidden padding");
POLICY_ASSERT(__builtin_offsetof(struct policy_image, next) % 8 == 0, "no hidden padding");

POLICY_INLINE __u32 policy_next(const struct policy_image *image, __u32 state, __u8 byte)
{
	return image->next[(state * image->classes + image->class_of[byte]) & (POLICY_MAX_TRANSITIONS - 1)];
}

POLICY_INLINE int policy_settled(const struct policy_image *image, __u32 state)
{
	return state < image->settled;
}

POLICY_INLINE __u32 policy_match_of(const struct policy_image *image, __u32 state)
{
	return image->match_of[state & (POLICY_MAX_STATES - 1)];
}

/* Whether the subject meets the conditions of a rule, all but that of the executable. */
POLICY_INLINE int policy_subject_is(const struct policy_rule *rule, const struct policy_subject *subject)
{
	int i;

	if ((rule->conditions & POLICY_BY_UID) && rule->uid != subject->uid)
		return 0;
	if ((rule->conditions & POLICY_BY_CGROUP) &&
	    rule->cgroup != subject->cgroup[rule->cgroup_level & (POLICY_CGROUP_LEVELS - 1)])
		return 0;
	if (rule->conditions & POLICY_BY_COMMAND)
		for (i = 0; i < POLICY_COMMAND_BYTES; i++)
			if (rule->command[i] != subject->command[i])
				return 0;
	return 1;
}

POLICY_INLINE int policy_executable_is(const struct policy_image *image, __u32 match, __u8 rule)
{
	return image->match[match & (POLICY_MAX_MATCHES - 1)].executable[rule >> 6] >> (rule & 63) & 1;
}

POLICY_INLINE struct policy_verdict policy_verdict_of(const struct policy_image *image, __u16 rule)
{
	struct policy_verdict verdict = {image->fallback, POLICY_BY_DEFAULT, POLICY_NO_RULE};

	if (rule < POLICY_MAX_RULES) {
		verdict.action = image->rule[rule].action;
		verdict.reason = POLICY_BY_RULE;
		verdict.rule = rule;
	}
	return verdict;
}

/* The verdict on one access, the one of bit `access` (0 to 2), to a file of a known match. */
POLICY_INLINE struct policy_verdict policy_decide_one(const struct policy_image *image, __u32 match, __u32 access,
						      const struct policy_subject *subject)
{
	const struct policy_choice *choice = &image->match[match & (POLICY_MAX_MATCHES - 1)].choice[access];
	__u32 i, count = choice->count;

	for (i = 0; i < POLICY_MAX_RULES && i < count; i++) {
		__u8 index = image->candidate[(choice->first + i) & (POLICY_MAX_CANDIDATES - 1)];
		const struct policy_rule *rule = &image->rule[index];

		if (!policy_subject_is(rule, subject))
			continue;
		if (rule->conditions & POLICY_BY_EXECUTABLE) {
			if (subject->executable == POLICY_UNKNOWN_MATCH) {
				struct policy_verdict unknown = {image->unknown, POLICY_BY_UNKNOWN, index};
				return unknown;
			}
			if (!policy_executable_is(image, subject->executable, index))
				continue;
		}
		return policy_verdict_of(image, index);
	}
	return policy_verdict_of(image, choice->otherwise);
}

/*
 * The verdict on opening a file of this match for all of `access` (a mask, not empty): each access is decided on its
 * own, and one denied is all denied. Of several verdicts the first that denies is told, else the first.
 */
POLICY_INLINE struct policy_verdict policy_decide(const struct policy_image *image, __u32 match, __u32 access,
						  const struct policy_subject *subject)
{
	struct policy_verdict verdict = {image->unknown, POLICY_BY_UNKNOWN, POLICY_NO_RULE};
	__u32 bit;
	int decided = 0;

	if (match == POLICY_UNKNOWN_MATCH)
		return verdict;
	for (bit = 0; bit < POLICY_ACCESSES; bit++) {
		struct policy_verdict one;

		if (!(access >> bit & 1))
			continue;
		one = policy_decide_one(image, match, bit, subject);
		if (!decided || (one.action == POLICY_DENY && verdict.action != POLICY_DENY))
			verdict = one;
		decided = 1;
	}
	return verdict;
}
