// SPDX-License-Identifier: Apache-2.0
// Whether this kernel and these privileges allow a BPF feature, found out by using it once.
//
// A version says little about a distribution's kernel, and "the program type is known" does not say that it may be
// loaded. So each probe loads a tiny program (bpf/probe.bpf.c), runs it, and looks for its trace. Nothing stays in the
// kernel. An error names the real cause (kernel/bpf_error.h).
#pragma once

#include <cstdint>

#include "base/result.h"

namespace hotset {

// Opened, read once, closed.
Result<> try_iter_task();
Result<> try_iter_task_vma();
// Loaded, attached and called. unsupported when it was never called: `bpf` is not among the active security modules.
Result<> try_lsm();
Result<> try_syscall_program();
Result<> try_bpf_loop();
// A program may read kernel memory: it is not in lockdown mode "confidentiality". At that address; 0: at one that is
// there for sure.
Result<> try_kernel_read(std::uint64_t address = 0);

// Maps.
Result<> try_ring_buffer();
// The perf buffer: the map and the event that is put into it.
Result<> try_perf_buffer();
// An array that user space maps.
Result<> try_mapped_array();
// A map with RLIMIT_MEMLOCK at 0 for the moment: whether BPF memory is charged to the cgroup (Linux 5.11) or to that
// limit. Single-threaded callers only.
Result<> try_map_without_memlock();

} // namespace hotset
