#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""./run vm [SERIES…]: runs the program and its kernel tests on guest kernels and compares with what is expected there.

Each series of the table in kernels.py is fetched, booted once for each row of the table of boots below, and judged. The
whole outcome goes to build/vm/results.json, from which --docs writes docs/kernels.md. On two processors
6.1 takes a minute and a half, together with 6.12 three minutes, and the newest kernel a little more than 6.1.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import dataclasses
import datetime
import itertools
import json
import os
import resource
import sys
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import checks  # noqa: E402
import document  # noqa: E402
import expected  # noqa: E402
from guest import CONFIGURATIONS, GuestRun, JobResult, boot, lacking  # noqa: E402
from image import base_archive, ext4_image  # noqa: E402
from kernels import SERIES, Kernel, Series, Unavailable, chosen, obtain  # noqa: E402

TOP = HERE.parent.parent
BUILD = TOP / "build"
CACHE = BUILD / "vm"

# Seconds a job may take in a guest: several times what it takes on an idle machine.
JOBS = {"probe": 60, "evidence": 60, "verifier": 60, "doctor": 60, "published": 120, "kernel-tests": 600, "dmesg": 20,
        "policy-cost": 120}
MODULES = ["zram", "loop", "overlay"]  # for tests that need swap or a file system of their own


@dataclass(frozen=True)
class Boot:
    """One row of the table of boots: a configuration, the jobs in it, and the kernel tests that look at it."""

    configuration: str
    jobs: tuple[str, ...]
    home: tuple[str, ...] = ()  # tests that run in this boot instead of the first
    also: tuple[str, ...] = ()  # tests of another boot that this configuration may make fail
    only: tuple[str, ...] = ()  # series; none: all
    all_tests: bool = False  # whatever other boots are home to

    def gtest_filter(self) -> str:
        """The kernel tests of this boot, as GoogleTest has it."""
        if self.all_tests:
            return "*"
        if self.configuration == BOOTS[0].configuration:
            return "-" + ":".join(pattern for other in BOOTS[1:] for pattern in other.home)
        return ":".join(self.tests())

    def tests(self) -> tuple[str, ...]:
        return self.home + self.also


# Each kernel boots once for each row. A test runs where its outcome may depend on the configuration, and at least once:
# the first boot has all that no other is home to (and ./run vm --config NAME all of them in any one). Longest first, as
# that makes the shortest whole.
BOOTS = (
    Boot("default", ("probe", "evidence", "verifier", "doctor", "published", "kernel-tests", "dmesg")),
    # The file policy, by either hook and by programs that interrupt each other, as those of windows and faults do here.
    Boot("preempt-full+lsm-bpf+thp-never", ("probe", "doctor", "kernel-tests", "dmesg"),
         home=("*Guard*", "WindowNested.*"),
         also=("Each/FaultHook.*/fault_fexit", "Each/FaultHook.*/fault_kprobe", "Each/FaultHook.*/fault_tp_btf",
               "Each/FaultHook.*/fault_perf_event", "FaultHooks.*", "FaultCounts.*", "Clock/Window.*", "*huge*",
               "MeterTest.exact*", "GroupMeterTest.pages_that*")),
    # Accessed bits, by the deepest page tables there are.
    Boot("paging5+cgroup2+lsm-bpf", ("probe", "doctor", "kernel-tests", "dmesg"),
         home=("CensusTest.*", "MeterTest.*", "GroupMeterTest.*", "Reference*", "FindProcess*", "*Workload*",
               "Array.*"),
         also=("*GuardCache.*",)),  # what ends a verdict is found out in another way where nothing interrupts a program
    # What is there for each CPU, what walks page tables, what finds its cgroup.
    Boot("cpus+paging4+cgroup1+thp-always+lsm-off", ("probe", "doctor", "kernel-tests", "dmesg"),
         also=("CgroupMeterTest.*", "GroupMeterTest.pages_that*", "CensusTest.*", "MeterTest.exact*", "*huge*",
               "Windows.*", "Clock/Window.bumps*", "Each/FaultHook.*/fault_fexit",
               "Each/FaultHook.*/fault_perf_event", "FaultHooks.*", "FaultCounts.*", "FaultCollector.counts*",
               "FaultWindow.*", "GuardWithoutLsm.*")),
    # What the file policy costs, in instructions; one kernel is enough, for it is ratios that are judged.
    Boot("lsm-bpf+icount", ("probe", "policy-cost"), only=("6.12",)),
)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="./run vm", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Runs the tests on guest kernels in QEMU.",
        epilog="guest configurations (join several with +):\n"
        + "\n".join(f"  {c.name:13} {c.says}" for c in CONFIGURATIONS.values()),
    )
    parser.add_argument("series", nargs="*", help=f"kernels: {', '.join(s.name for s in SERIES)}; none: all of them")
    parser.add_argument("--config", help="boot this configuration only, whatever the table of boots says")
    parser.add_argument("--job", action="append", choices=JOBS, help="run this job only (can be repeated)")
    parser.add_argument("--gtest-filter", help="kernel tests to run")
    parser.add_argument("--update-verifier", action="store_true", help="write the instruction counts seen to the table")
    parser.add_argument("--docs", action="store_true", help="write docs/kernels.md from this run")
    parser.add_argument("--parallel", type=int, default=len(os.sched_getaffinity(0)) + 1, metavar="N",
                        help="guests at a time; each uses one processor of the host, and sometimes none (default: one "
                        "more than there are)")
    parser.add_argument("--record", type=Path, metavar="FILE", help="append verdict, name and reason of each check")
    return parser.parse_args()


def plan(kernel: Kernel, options: argparse.Namespace) -> list[Boot]:
    """The boots of that kernel, as the command line has it."""
    boots = [b for b in BOOTS if not b.only or kernel.series.name in b.only]
    if options.config:
        counts = "icount" in options.config.split("+")  # what policy-cost needs, and nothing else should wait for
        jobs = tuple(j for j in JOBS if counts == (j == "policy-cost"))
        boots = [Boot(options.config, jobs, all_tests=True)]
    if options.job:
        wanted = [(b, tuple(j for j in b.jobs if j in options.job)) for b in boots]
        boots = [dataclasses.replace(b, jobs=("probe", *(j for j in jobs if j != "probe"))) for b, jobs in wanted if jobs]
    return boots


def fitting(row: Boot, kernel: Kernel) -> tuple[Boot, list[tuple[str, str]]]:
    """The row without the configurations that this kernel cannot have, and those with the reason."""
    parts = row.configuration.split("+")
    left_out = [(p, lacking(kernel, p)) for p in parts if lacking(kernel, p)]
    possible = [p for p in parts if not lacking(kernel, p)] or ["default"]
    return dataclasses.replace(row, configuration="+".join(possible)), left_out


def programs() -> list[Path]:
    wanted = [BUILD / n for n in ("hotset", "hotset_kernel_tests", "hotset_bpf_load", "hotset_bench_policy")]
    for program in wanted:
        if not program.exists():
            raise SystemExit(f"vm: {program} is not built; run ./run setup and cmake --build build")
    return wanted


def make_base() -> bytes:
    scratch = CACHE / "scratch"
    scratch.mkdir(parents=True, exist_ok=True)
    settings = scratch / "settings"
    settings.write_text("".join(f"--set {k}={v}\n" for k, v in expected.VERIFIER_SETTINGS.items()))
    objects = sorted((BUILD / "bpf").glob("*.bpf.o"))
    disk = ext4_image(scratch / "ext4.img")
    return base_archive(programs(), [(disk, "ext4.img"), (settings, "bpf/settings"), *((o, f"bpf/{o.name}") for o in objects)], scratch, HERE)


@dataclass
class Booted:
    row: Boot  # as this kernel could have it
    left_out: list[tuple[str, str]]
    run: GuestRun


def run_boot(kernel: Kernel, planned: Boot, base: bytes, options: argparse.Namespace) -> Booted:
    row, left_out = fitting(planned, kernel)
    folder = CACHE / "runs" / kernel.release / row.configuration
    jobs = [(j, JOBS[j]) for j in row.jobs]
    tests = options.gtest_filter or planned.gtest_filter()
    run = boot(kernel, row.configuration, base, jobs, folder, 60 + sum(s for _, s in jobs), MODULES,
               {"HOTSET_GTEST_FILTER": tests})
    checks.save_job_files(run, folder)
    return Booted(row, left_out, run)


def judge_kernel(kernel: Kernel, booted: list[Booted], options: argparse.Namespace) -> dict:
    """What results.json says about it. Evidence of one boot holds for all, but for that of how each was set up."""
    evidence: dict[str, bytes] = {}
    for b in booted:
        evidence |= b.run.jobs["evidence"].files if "evidence" in b.run.jobs else {}
    boots = []
    for b in booted:
        if options.update_verifier and "verifier" in b.run.jobs and b.run.jobs["verifier"].status == 0:
            update_verifier(kernel, b.run)
        own = b.run.jobs["probe"].files if "probe" in b.run.jobs else {}
        judged = checks.judge(kernel, b.run, list(b.row.jobs), JobResult("evidence", 0, 0, evidence | own))
        judged += [checks.Check(f"configuration {part}", "skipped", why) for part, why in b.left_out]
        boots.append({
            "configuration": b.row.configuration,
            "seconds": round(b.run.seconds, 1),
            "boot_seconds": b.run.boot_seconds,
            "job_seconds": {j.name: j.seconds for j in b.run.jobs.values()},
            "features": document.features(b.run),
            "checks": [dataclasses.asdict(c) for c in judged],
        })
        say(kernel, boots[-1])
        for row in boots[-1]["features"].get("policy_cost", []):
            print(json.dumps(row), flush=True)  # for scripts/bench_document.py
    return {
        "series": kernel.series.name, "status": "ran", "release": kernel.release, "package": kernel.package,
        "version": kernel.version, "suite": kernel.suite, "boots": boots,
    }


def say(kernel: Kernel, outcome: dict) -> None:
    count = {v: sum(c["verdict"] == v for c in outcome["checks"]) for v in ("passed", "failed", "skipped")}
    jobs = ", ".join(f"{n} {s:.0f}" for n, s in outcome["job_seconds"].items() if s >= 0.5)
    print(f"vm {kernel.release} {outcome['configuration']}: {count['passed']} passed, {count['failed']} failed, "
          f"{count['skipped']} skipped in {outcome['seconds']:.0f} s ({jobs})", flush=True)
    for check in outcome["checks"]:
        if check["verdict"] == "failed":
            print(f"  FAILED {check['name']}: {check['detail']}", flush=True)


def update_verifier(kernel: Kernel, run: GuestRun) -> None:
    """Puts this kernel's counts into the table, and takes out programs that are gone."""
    table = json.loads(expected.VERIFIER_TABLE.read_text()) if expected.VERIFIER_TABLE.exists() else {}
    rows = [json.loads(line) for line in run.jobs["verifier"].text("verifier.jsonl").splitlines()]
    programs_seen = {f"{r['object'].removesuffix('.bpf.o')}/{r['program']}": r for r in rows}
    table = {program: counts for program, counts in table.items() if program in programs_seen}
    for program, row in programs_seen.items():
        counts = table.setdefault(program, {})
        counts.pop(kernel.series.name, None)
        if row["loaded"]:
            counts[kernel.series.name] = row["instructions"]
    order = [s.name for s in SERIES]
    table = {p: {s: table[p][s] for s in order if s in table[p]} for p in sorted(table)}
    expected.VERIFIER_TABLE.write_text(json.dumps(table, indent=2) + "\n")


def not_run(series: Series, reason: str) -> dict:
    verdict = "failed" if series.required else "skipped"
    print(f"vm {series.name}: NOT RUN: {reason}" + (" (this kernel is required)" if series.required else ""), flush=True)
    check = checks.Check(f"kernel {series.name} runs", verdict, f"not run: {reason}")
    boots = [{"configuration": "", "seconds": 0, "checks": [dataclasses.asdict(check)]}]
    return {"series": series.name, "status": "not run", "reason": reason, "boots": boots}


def record(kernels: list[dict], file: Path) -> None:
    with file.open("a") as out:
        for kernel in kernels:
            for outcome in kernel["boots"]:
                for check in outcome["checks"]:
                    name = f"vm.{kernel['series']}.{outcome['configuration']}.{check['name']}".replace("\t", " ")
                    reason = " | ".join(check["detail"].split("\n")).replace("\t", " ")
                    out.write(f"{check['verdict']}\t{name}\t{reason}\n")


def fetch(series: Series) -> Kernel | str:
    """The kernel, or why it cannot be had."""
    try:
        kernel = obtain(series, CACHE)
    except (Unavailable, OSError) as problem:
        return str(problem)
    print(f"vm {series.name}: {kernel.package} {kernel.version} from {kernel.suite}", flush=True)
    return kernel


def run_all(wanted: list[Series], options: argparse.Namespace) -> list[dict]:
    """Guests of all kernels side by side, longest first, and each kernel judged when its last one ended."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        fetched = list(pool.map(fetch, wanted))
    kernels = [kernel for kernel in fetched if isinstance(kernel, Kernel)]
    base = make_base()
    with concurrent.futures.ThreadPoolExecutor(options.parallel) as pool:
        guests: dict[str, list[concurrent.futures.Future[Booted]]] = {kernel.release: [] for kernel in kernels}
        for rows in itertools.zip_longest(*(plan(kernel, options) for kernel in kernels)):
            for kernel, row in zip(kernels, rows):
                if row:
                    guests[kernel.release].append(pool.submit(run_boot, kernel, row, base, options))
        return [
            judge_kernel(kernel, [guest.result() for guest in guests[kernel.release]], options)
            if isinstance(kernel, Kernel) else not_run(series, kernel)
            for series, kernel in zip(wanted, fetched)
        ]


def processor_seconds() -> float:
    """That the guests and what fetched their kernels used: what they cost, whatever else the machine does."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> int:
    options = arguments()
    wanted = chosen(options.series)
    begin = time.monotonic()
    kernels = run_all(wanted, options)
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
    results = {"schema": "hotset.vm/1", "date": date, "kernels": kernels}
    (CACHE / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    if options.docs:
        document.write(results, TOP / "docs" / "kernels.md")
    if options.record:
        record(kernels, options.record)
    all_checks = [c for k in kernels for b in k["boots"] for c in b["checks"]]
    count = {v: sum(c["verdict"] == v for c in all_checks) for v in ("passed", "failed", "skipped")}
    missing = [k["series"] for k in kernels if k["status"] != "ran"]
    print(f"{len(kernels) - len(missing)} kernels run, {len(missing)} not run{': ' if missing else ''}{', '.join(missing)}; "
          f"{time.monotonic() - begin:.0f} s, {processor_seconds():.0f} s of processors")
    print(f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped")
    if options.record:
        return 0  # the verdicts are in the file, and whoever reads it judges
    return 1 if count["failed"] or not count["passed"] else 0


if __name__ == "__main__":
    os.umask(0o022)
    sys.exit(main())
