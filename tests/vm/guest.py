# SPDX-License-Identifier: Apache-2.0
"""Boots a kernel in QEMU, runs jobs in it, and brings their results home.

Software emulation, because it works on every machine. Its processors take turns on one thread, and they lack one
instruction, for the sake of two faults of the emulator (QEMU 7.2), which look like crashes of the kernel:
  - With a thread for each processor, one may keep a translation of code that another is just patching, as attaching to
    a function does: "Oops: int3" (fixed in QEMU 8.1, which locks the page before it translates).
  - cmpxchg16b leaves arbitrary flags behind, the trap flag among them; newer kernels use it in their allocator, and
    about every second boot of 6.12 died. Without it they have another way.
Nor are "fast" string instructions theirs (erms, fsrm): they go a byte at a time here, and a kernel that relies on them
spends a third of its time on clearing and copying pages.
Two processors all the same, because programs for each CPU need them, and turns end anywhere. The console goes to one
file and results as frames (see init.sh) to another, so that a guest which hangs, panics or is ended by the time limit
still says what it did, and its console says where it stopped.
"""

from __future__ import annotations

import base64
import binascii
import io
import re
import subprocess
import tarfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from image import boot_archive
from kernels import Kernel


CPU = "max,cx16=off,erms=off,fsrm=off"


@dataclass(frozen=True)
class Configuration:
    """One row of the table of guest configurations. Several may be joined: "paging4+cpus"."""

    name: str
    says: str
    cpu: str = ""  # appended to QEMU's -cpu
    smp: str = ""
    append: str = ""  # to the kernel's command line
    qemu: tuple[str, ...] = ()  # further options of QEMU
    cgroup: str = ""
    needs: str = ""  # a CONFIG_ option without which the kernel cannot be configured so
    needs_if_known: str = ""  # the same, for an option that some kernels do not know: those always can


CONFIGURATIONS = {
    c.name: c
    for c in (
        Configuration("default", "two processors, the kernel's own settings, cgroup v2 with the memory controller"),
        Configuration("cpus", "8 possible processors of which 2 are online", smp="8", append="maxcpus=2"),
        Configuration("paging4", "4-level page tables", cpu=",la57=off"),
        Configuration("paging5", "5-level page tables", cpu=",la57=on", needs_if_known="X86_5LEVEL"),
        Configuration("thp-always", "transparent huge pages always", append="transparent_hugepage=always"),
        Configuration("thp-never", "transparent huge pages never", append="transparent_hugepage=never"),
        Configuration("cgroup2", "cgroup v2 alone, with the memory controller", append="cgroup_no_v1=all", cgroup="v2"),
        Configuration("cgroup1", "memory controller on cgroup v1, v2 beside it (hybrid)", cgroup="v1", needs_if_known="MEMCG_V1"),
        Configuration("preempt-full", "fully preemptible kernel", append="preempt=full", needs="PREEMPT_DYNAMIC"),
        Configuration("icount", "one processor, whose clocks advance by a nanosecond with each instruction", smp="1",
                      qemu=("-icount", "shift=0,sleep=off")),
        Configuration("lsm-bpf", "BPF is among the active LSMs", append="lsm=lockdown,yama,bpf", needs="BPF_LSM"),
        Configuration("lsm-off", "BPF LSM built in but not active", append="lsm=lockdown,yama", needs="BPF_LSM"),
    )
}


def configure(names: str) -> list[Configuration]:
    rows = []
    for name in names.split("+"):
        if name not in CONFIGURATIONS:
            raise SystemExit(f"vm: no guest configuration {name}: known are {', '.join(CONFIGURATIONS)}")
        rows.append(CONFIGURATIONS[name])
    return rows


def lacking(kernel: Kernel, names: str) -> str:
    """Why that kernel cannot be configured so; empty if it can."""
    for row in configure(names):
        if row.needs and not kernel.has(row.needs):
            return f"built without CONFIG_{row.needs}"
        if row.needs_if_known and kernel.config.get(row.needs_if_known) == "n":
            return f"built without CONFIG_{row.needs_if_known}"
    return ""


@dataclass
class JobResult:
    name: str
    status: int
    seconds: float
    files: dict[str, bytes] = field(default_factory=dict)

    def text(self, name: str) -> str:
        return self.files.get(name, b"").decode(errors="replace")


@dataclass
class GuestRun:
    configuration: str
    seconds: float = 0.0
    boot_seconds: float = 0.0
    jobs: dict[str, JobResult] = field(default_factory=dict)
    trouble: str = ""  # empty: the guest ran to its end
    console: str = ""

    def console_tail(self, lines: int = 25) -> str:
        return "\n".join(self.console.splitlines()[-lines:])


def parse_frames(text: str, run: GuestRun) -> bool:
    """Adds the complete frames to the run; true if the guest said that it was done."""
    boot = re.search(r"^@@boot \S+ (\d+)", text, re.M)
    run.boot_seconds = int(boot[1]) / 1000 if boot else 0.0
    for match in re.finditer(r"^@@job (\S+) (\d+) (\d+)\r?\n(.*?)^@@end \1\r?$", text, re.M | re.S):
        result = JobResult(match[1], int(match[2]), int(match[3]) / 1000)
        try:
            with tarfile.open(fileobj=io.BytesIO(base64.b64decode(match[4])), mode="r:gz") as tar:
                for member in tar:
                    data = tar.extractfile(member) if member.isfile() else None
                    if data:
                        result.files[member.name.removeprefix("./")] = data.read()
        except (tarfile.TarError, binascii.Error, EOFError, OSError) as problem:
            run.trouble = f"results of job {match[1]} are damaged: {problem}"
        run.jobs[result.name] = result
    return re.search(r"^@@off\r?$", text, re.M) is not None


def boot(
    kernel: Kernel, configuration: str, base: bytes, jobs: list[tuple[str, int]], folder: Path, limit_s: float,
    modules: list[str], environment: dict[str, str],
) -> GuestRun:
    """Runs the jobs in one guest. `limit_s` is for all of it, the jobs have theirs."""
    rows = configure(configuration)
    folder.mkdir(parents=True, exist_ok=True)
    console, results = folder / "console.log", folder / "results.log"
    variables = {
        "HOTSET_GUEST": kernel.release,
        "HOTSET_GUEST_CONFIG": configuration,
        "HOTSET_GUEST_CGROUP": next((c.cgroup for c in rows if c.cgroup), ""),
        **environment,
    }
    initrd = folder / "initrd.img"
    initrd.write_bytes(base + boot_archive(kernel, modules, jobs, variables))
    append = " ".join(["console=ttyS0 panic=-1 loglevel=6", *(c.append for c in rows if c.append)])
    smp = next((c.smp for c in rows if c.smp), "2")
    command = [
        "qemu-system-x86_64", "-accel", "tcg,thread=single", "-cpu", CPU + "".join(c.cpu for c in rows),
        "-smp", smp, "-m", "4096", "-display", "none", "-monitor", "none", "-nodefaults", "-no-reboot", "-no-user-config",
        "-serial", f"file:{console}", "-serial", f"file:{results}",
        "-kernel", str(kernel.file("vmlinuz")), "-initrd", str(initrd), "-append", append,
        *(word for c in rows for word in c.qemu),
    ]
    run = GuestRun(configuration)
    begin = time.monotonic()
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as qemu:
        try:
            said, _ = qemu.communicate(timeout=limit_s)
            if qemu.returncode != 0:
                run.trouble = f"QEMU ended with status {qemu.returncode}: {said.decode(errors='replace').strip()}"
        except subprocess.TimeoutExpired:
            run.trouble = f"still running after {limit_s:.0f} s; ended"
        finally:
            if qemu.poll() is None:
                qemu.kill()
    run.seconds = time.monotonic() - begin
    run.console = console.read_text(errors="replace") if console.exists() else ""
    done = parse_frames(results.read_text(errors="replace") if results.exists() else "", run)
    if not done and not run.trouble:
        run.trouble = "the guest went down before its jobs were done"
    missing = [name for name, _ in jobs if name not in run.jobs]
    if missing and run.trouble:
        run.trouble += f" (no result from {', '.join(missing)})"
    initrd.unlink()
    return run
