/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What kind of page fault it is, from what the processor says of it (the error code of the exception) and what the
 * kernel knows of the mapping. A pure function, so that it is tested outside the kernel; and the layouts that the
 * program shares with user space.
 */
#pragma once

#include "fault.h"
#include <linux/types.h>

/* Bits of the error code that the processor pushes (arch/x86/include/asm/trap_pf.h). */
#define FAULT_ERROR_PRESENT 1ULL /* the page was there, but not for this access */
#define FAULT_ERROR_WRITE   2ULL
#define FAULT_ERROR_FETCH   16ULL

/* Bits of vm_flags (include/linux/mm.h), the same since before there was BPF. */
#define FAULT_VM_WRITE	0x2ULL
#define FAULT_VM_EXEC	0x4ULL
#define FAULT_VM_ACCESS 0x7ULL /* to read, to write or to execute */
#define FAULT_VM_SHARED 0x8ULL

enum fault_kind {
	FAULT_KIND_anonymous,	  /* memory of its own: heap, stack */
	FAULT_KIND_file,	  /* a file or shared memory */
	FAULT_KIND_copy_on_write, /* a write to a private page that is shared so far: after a fork, or a file's */
	FAULT_KIND_unknown,	  /* none of these, or it could not be told */
};

/* The mapping that the address lies in. */
struct fault_mapping {
	__u64 vm_flags;
	__u64 file;    /* not 0: of a file; shared memory is one too */
	__u64 special; /* not 0: filled by a driver or the kernel itself, when there is no file */
};

/* Whether the mapping allows the access at all; the kernel asks the same (access_error). */
FAULT_INLINE bool fault_is_allowed(__u64 error_code, __u64 vm_flags)
{
	if (error_code & FAULT_ERROR_WRITE)
		return vm_flags & FAULT_VM_WRITE;
	return vm_flags & (error_code & FAULT_ERROR_FETCH ? FAULT_VM_EXEC : FAULT_VM_ACCESS);
}

/*
 * A fault has exactly one kind. A write to a page that is present is a copy-on-write where the mapping is private: the
 * kernel then copies the page, or finds that no one else has it any more and makes it writable, which costs a fault all
 * the same. So is the first write to a page of a private file mapping, which is copied at once. A fault that fails
 * (SIGSEGV) is none of the kinds.
 */
FAULT_INLINE enum fault_kind fault_kind_of(__u64 error_code, const struct fault_mapping *mapping)
{
	if (!fault_is_allowed(error_code, mapping->vm_flags))
		return FAULT_KIND_unknown;
	if ((error_code & FAULT_ERROR_WRITE) && !(mapping->vm_flags & FAULT_VM_SHARED) &&
	    ((error_code & FAULT_ERROR_PRESENT) || mapping->file))
		return FAULT_KIND_copy_on_write;
	if (mapping->file)
		return FAULT_KIND_file;
	return mapping->special ? FAULT_KIND_unknown : FAULT_KIND_anonymous;
}
