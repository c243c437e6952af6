# SPDX-License-Identifier: Apache-2.0
"""What each kernel is expected to do: tables, one row a fact.

They state intent. What a run measured (instructions verified) is in verifier.json instead, which is written by
./run vm --update-verifier and reviewed like any golden file.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from guest import JobResult
from kernels import Kernel

VERIFIER_TABLE = Path(__file__).parent / "verifier.json"
VERIFIER_UPDATE = "./run vm --update-verifier writes it"
# Growth up to this factor is the compiler's or the kernel's mood; more is ours, and someone should say that it is meant.
VERIFIER_GROWTH = 1.25

# So many times fewer instructions must judging an open take where the path is known, at any depth.
POLICY_CACHE_GAIN = 5

# Variables set before loading, so that the verifier walks what users can switch on. Where the kernel has the function,
# typed_pointers is set too (jobs/verifier.sh).
VERIFIER_SETTINGS = {
    "pace_us": 100_000,
    "filter_tgid": 1,
    "filter_start_ticks": 1,
    "filter_comm_mask": 255,
    "pid_namespace": 1,
    "enforce": 1,
    "exempt_pid": 1,
    "only_pid": 1,
    "rename_lock_at": 1,
    "mount_lock_at": 1,
    "renames_end_matches": 1,
    "calls_end_matches": 1,
}

# The hook that the collector picks by itself, best first in its own table: the exit of handle_mm_fault needs a
# trampoline, which all of Debian's kernels have; but on a kernel that preempts itself (lazily, since 7.0) a trampoline
# misses faults and comes last.
AUTOMATIC_HOOK = {
    "5.10": "fexit:handle_mm_fault",
    "6.1": "fexit:handle_mm_fault",
    "6.12": "fexit:handle_mm_fault",
    "sid": "kprobe:handle_mm_fault",
}
PUBLISHED_HOOK = "kprobe:handle_mm_fault"
FULLY_PREEMPTIBLE_HOOK = "kprobe:handle_mm_fault"  # in the configuration preempt-full


def automatic_hook(series: str, configuration: str) -> str:
    return FULLY_PREEMPTIBLE_HOOK if "preempt-full" in configuration.split("+") else AUTOMATIC_HOOK[series]


# (series, program, why): hooks that a kernel does not have. All others must attach and count.
ABSENT_HOOKS = (("5.10", "fault_kprobe_internal", "the compiler inlined __handle_mm_fault"),)


def absent_hook(series: str, program: str) -> str:
    return next((why for s, p, why in ABSENT_HOOKS if (s, p) == (series, program)), "")


# (series, program as object/name, why), both as patterns: kernels without a feature refuse the program, and nothing else
# may be refused.
REFUSED: tuple[tuple[str, str, str], ...] = (
    ("5.10", "census/.*|probe/probe_(iter_task_vma|census)", "no iterator over VMAs"),
    ("5.10", "probe/probe_loop", "no bpf_loop"),
    ("5.10", "guard/guard_(file_open|sys_exit|process_exec)", "no bpf_loop"),
    ("5.10|6.1", "guard/guard_prepare_exec", "no tracepoint sched_prepare_exec (6.10)"),
    ("5.10", "probe/probe_syscall", "no programs of type syscall"),
)


def refusal(series: str, program: str) -> str:
    return next((why for s, pattern, why in REFUSED if re.fullmatch(s, series) and re.fullmatch(pattern, program)), "")


# What the kernel says about emulated hardware, not about us.
HARMLESS_DMESG = re.compile(r"(?!)")


Evidence = Callable[[Kernel, JobResult], bool]


def config(name: str) -> Evidence:
    return lambda kernel, _: kernel.has(name)


def symbol(name: str) -> Evidence:
    return lambda _, seen: re.search(rf"\b{name}$", seen.text("kallsyms"), re.M) is not None


def btf(name: str) -> Evidence:
    return lambda _, seen: name in seen.text("btf_names").split()


def text(file: str, part: str) -> Evidence:
    return lambda _, seen: part in seen.text(file)


def every(*evidence: Evidence) -> Evidence:
    return lambda kernel, seen: all(e(kernel, seen) for e in evidence)


TRAMPOLINE = every(config("DYNAMIC_FTRACE_WITH_DIRECT_CALLS"), btf("handle_mm_fault"))
BPF_LSM_ACTIVE = every(config("BPF_LSM"), text("lsm", "bpf"))

# Name of a check of hotset doctor -> the same question, answered from the kernel's own files.
DOCTOR: dict[str, Evidence] = {
    "hook.fexit": TRAMPOLINE,
    "hook.fentry": TRAMPOLINE,
    "hook.kprobe": every(config("KPROBE_EVENTS"), symbol("handle_mm_fault")),
    "hook.tp_btf": btf("btf_trace_page_fault_user"),
    "hook.raw_tp": text("tracepoints", "page_fault_user"),
    "hook.tracepoint": text("tracepoints", "page_fault_user"),
    "hook.perf_event": config("PERF_EVENTS"),
    "reference.clear_refs": config("PROC_PAGE_MONITOR"),
    "reference.smaps_rollup": config("PROC_PAGE_MONITOR"),
    "reference.smaps": config("PROC_PAGE_MONITOR"),
    "reference.idle_bitmap": config("IDLE_PAGE_TRACKING"),
    "reference.damon": config("DAMON_SYSFS"),
    "reference.census": every(btf("bpf_iter__task_vma"), btf("bpf_loop")),
    "map.ringbuf": btf("BPF_MAP_TYPE_RINGBUF"),
    "map.perf_buffer": config("PERF_EVENTS"),
    "map.mmapable": btf("BPF_F_MMAPABLE"),
    "bpf.iter_task": btf("bpf_iter__task"),
    "bpf.iter_task_vma": btf("bpf_iter__task_vma"),
    "bpf.lsm": BPF_LSM_ACTIVE,
    "bpf.syscall": btf("BPF_PROG_TYPE_SYSCALL"),
    "bpf.loop": btf("bpf_loop"),
    "kernel.btf": config("DEBUG_INFO_BTF"),
    "kernel.lockdown": text("lockdown", "[none]"),
    "kernel.lsm_list": text("lsm", "bpf"),
    "kernel.psi": config("PSI"),
}
