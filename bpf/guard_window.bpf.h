/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the guard counts, in one rolling window (window.h), whose usual layout loses nothing where programs are
 * preempted, as those of the LSM are.
 *
 * The first six are those of the published method, and always
 *
 *	lookups = hits_no_policy + hits_allow + hits_deny + misses_walk
 */
#pragma once

#include "kernel_types.h"
#include "window.bpf.h"

WINDOW(policy,		 /* opens of files ... */
       lookups,		 /* that were judged */
       hits_no_policy,	 /* whose match was known: no rule names the path */
       hits_allow,	 /* known, and allowed */
       hits_deny,	 /* known, and denied */
       misses_walk,	 /* not known, or no longer true: the path was walked */
       fills,		 /* walked, and the match kept */
       unknown,		 /* walked in vain: "unknown" of the policy decided */
       invalidations,	 /* of the misses: there was an entry, which had ceased to be true */
       denied,		 /* denied, or would have been, hit or miss */
       events_over_rate, /* events dropped: more than the budget of the second */
       events_lost,	 /* events dropped: nobody read, and the ring buffer was full */
       unseen);		 /* opens whose descriptor was closed again before they could be looked at */
