# SPDX-License-Identifier: Apache-2.0
"""Judges what the jobs brought home.

Each judge takes the kernel, one boot and the evidence, and yields checks: a claim, whether it held, and what was seen. A check that
could not be made says why and is counted as skipped, never as passed.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import expected
from guest import GuestRun, JobResult, configure
from kernels import Kernel


@dataclass(frozen=True)
class Check:
    name: str
    verdict: str  # passed, failed, skipped
    detail: str = ""


def held(name: str, ok: bool, detail: str = "") -> Check:
    return Check(name, "passed" if ok else "failed", "" if ok else detail)


def chosen_word(text: str) -> str:
    """The one in brackets, as the kernel marks it: "always [madvise] never", "none (voluntary) full"."""
    match = re.search(r"[\[(](\w+)[\])]", text)
    return match[1] if match else ""


def judge_configuration(_: Kernel, run: GuestRun, __: JobResult) -> Iterator[Check]:
    """The guest is what its configuration says; else every test in it would prove something else."""
    probe = run.jobs["probe"]
    seen = {
        "cpus": probe.text("cpu_possible").strip() == "0-7" and probe.text("cpu_online").strip() == "0-1",
        "paging4": "la57" not in probe.text("la57"),
        "paging5": "la57" in probe.text("la57"),
        "thp-always": chosen_word(probe.text("thp")) == "always",
        "thp-never": chosen_word(probe.text("thp")) == "never",
        "cgroup2": "memory" in probe.text("cgroup2_controllers").split(),
        "cgroup1": " cgroup rw,relatime,memory " in probe.text("cgroup_mounts"),
        "preempt-full": chosen_word(probe.text("preempt")) == "full",
        "icount": probe.text("cpu_online").strip() == "0",  # and the bench looks at its clock
        "lsm-bpf": "bpf" in probe.text("lsm").split(","),
        "lsm-off": "bpf" not in probe.text("lsm").split(","),
        "default": probe.text("cpu_online").strip() == "0-1" and "memory" in probe.text("cgroup2_controllers").split(),
    }
    for row in configure(run.configuration):
        yield held(f"configuration {row.name}: {row.says}", seen[row.name], "the guest is not configured so")
    mounts = probe.text("ext4_mounts")
    yield held("an ext4 file system is mounted, for tests of one", " /mnt/ext4 ext4 " in mounts, f"its mounts: {mounts!r}")


def judge_verifier(kernel: Kernel, run: GuestRun, _: JobResult) -> Iterator[Check]:
    """Every program loads, but for those whose refusal is expected there; none asks more of the verifier than the
    table allows."""
    table = json.loads(expected.VERIFIER_TABLE.read_text()) if expected.VERIFIER_TABLE.exists() else {}
    rows = [json.loads(line) for line in run.jobs["verifier"].text("verifier.jsonl").splitlines()]
    for row in rows:
        program = f"{row['object'].removesuffix('.bpf.o')}/{row['program']}"
        refusal = expected.refusal(kernel.series.name, program)
        name = f"verifier {program}"
        if refusal:
            yield held(f"{name} is refused: {refusal}", not row["loaded"], "it loads: take it out of the table REFUSED")
            continue
        if not row["loaded"]:
            yield held(f"{name} loads", False, f"the kernel refuses it, errno {row['errno']}")
            continue
        known = table.get(program, {}).get(kernel.series.name)
        if known is None:
            yield held(f"{name} is in the table", False, f"new program: {expected.VERIFIER_UPDATE}")
            continue
        most = int(known * expected.VERIFIER_GROWTH)
        yield held(
            f"{name} takes no more of the verifier than the table says", row["instructions"] <= most,
            f"{row['instructions']} instructions verified, {known} in the table; if that is meant: {expected.VERIFIER_UPDATE}",
        )
    yield held("verifier: programs were loaded", bool(rows), "no BPF object was found")


def judge_doctor(kernel: Kernel, run: GuestRun, evidence: JobResult) -> Iterator[Check]:
    """What hotset doctor found out by trying, against what the kernel's own files say it has."""
    report = json.loads(run.jobs["doctor"].text("doctor.json"))
    found = {c["name"]: c for c in report["checks"]}
    yield held("doctor: the main job can run", report["main_job"] is True, json.dumps(report)[:300])
    for name, has in expected.DOCTOR.items():
        if name not in found:
            yield held(f"doctor {name}", False, "doctor has no such check")
            continue
        should = has(kernel, evidence)
        detail = f"doctor says {found[name]['ok']} ({found[name].get('cause')}), the kernel's own files say {should}"
        yield held(f"doctor {name} is as the kernel has it", found[name]["ok"] == should, detail)
    for check in report["checks"]:
        if not check["ok"]:
            yield held(f"doctor {check['name']} gives a cause", bool(check.get("cause")), "no cause for what is missing")


def skip_reason(output: str, name: str) -> str:
    """GoogleTest's report leaves the reason out; its output has it, on the last line before the verdict."""
    end = output.find(f"[  SKIPPED ] {name}")
    said = output[output.rfind("[ RUN      ]", 0, end) : end].strip().splitlines()[1:] if end >= 0 else []
    return said[-1] if said else "no reason given"


def gtest_rows(job: JobResult) -> list[tuple[str, str, str]]:
    """(name, verdict, reason) of each test of a GoogleTest report."""
    rows = []
    for suite in json.loads(job.text("tests.json"))["testsuites"]:
        for test in suite["testsuite"]:
            name = f"{suite['name']}.{test['name']}"
            if test.get("failures"):
                rows.append((name, "failed", test["failures"][0]["failure"].strip().replace("\n", " | ")[:600]))
            elif test["result"] == "SKIPPED":
                rows.append((name, "skipped", skip_reason(job.text("stdout"), name)))
            elif test["status"] == "RUN":
                rows.append((name, "passed", ""))
    return rows


def judge_hook_matrix(kernel: Kernel, rows: list[tuple[str, str, str]]) -> Iterator[Check]:
    """A test of a hook that was skipped is one that the kernel cannot have, and no other."""
    ran: dict[str, set[str]] = {}
    for name, verdict, _ in rows:
        if match := re.match(r"Each/FaultHook\.\w+/(\w+)$", name):
            ran.setdefault(match[1], set()).add(verdict)
    for program, verdicts in ran.items():
        absent = expected.absent_hook(kernel.series.name, program)
        claim = f"is absent: {absent}" if absent else "was forced, and counted"
        wanted = {"skipped"} if absent else {"passed"}
        yield held(f"hook {program} {claim}", verdicts == wanted, f"its tests: {', '.join(sorted(verdicts))}")


def automatic_hook(job: JobResult) -> str:
    """What the collector picked, as its test recorded it."""
    suites = json.loads(job.text("tests.json"))["testsuites"]
    return next((t["automatic_hook"] for s in suites for t in s["testsuite"] if "automatic_hook" in t), "")


def judge_kernel_tests(kernel: Kernel, run: GuestRun, _: JobResult) -> Iterator[Check]:
    job = run.jobs["kernel-tests"]
    if "tests.json" not in job.files:
        tail = "\n".join((job.text("stdout") + job.text("stderr")).splitlines()[-15:])
        yield held("kernel-tests end", False, f"no report (status {job.status}); the last it said:\n{tail}")
        return
    rows = gtest_rows(job)
    for name, verdict, reason in rows:
        yield Check(f"kernel {name}", verdict, reason)
    yield held("kernel-tests: tests were run", bool(rows), "the filter left none")
    yield from judge_hook_matrix(kernel, rows)
    if hook := automatic_hook(job):
        wanted = expected.automatic_hook(kernel.series.name, run.configuration)
        yield held(f"the automatic hook is {wanted}", hook == wanted, f"it is {hook}")


def judge_published(_: Kernel, run: GuestRun, __: JobResult) -> Iterator[Check]:
    """The path from fault to estimate carries data, all of it from the published hook. How good the model is says
    nothing here, where the processor is emulated."""
    job, hook = run.jobs["published"], expected.PUBLISHED_HOOK
    records = [json.loads(line) for line in job.text("records.jsonl").splitlines()]
    yield held("published: 5 data sets were recorded", len(records) == 5, f"{len(records)} were")
    for r in records:
        whole = r["hook"] == hook and r["end"] == "complete" and r["samples"] == 24
        yield held(f"published: {r['path']} is whole and counts faults", whole and r["faults"] > 0, json.dumps(r))
        lost = {name: n for name, n in r["losses"].items() if n and name != "below_min_value"}
        yield held(f"published: {r['path']} lost nothing", not lost, json.dumps(lost))
    model = json.loads(job.text("train.json"))["model"]
    trained = model["hook"] == hook and model["train_rows"] > 0 and model["datasets"] == 5
    yield held("published: the model was trained on them", trained, json.dumps(model))
    methods = json.loads(job.text("evaluation.json"))["scores"][0]["methods"]
    baselines = {"model", "rss", "last_label", "training_mean"} <= set(methods)
    yield held("published: the evaluation has model and baselines", baselines, ", ".join(methods))
    estimates = [json.loads(line) for line in job.text("estimates.jsonl").splitlines()]
    yield held("published: 5 estimates came", len(estimates) == 5, f"{len(estimates)} came")
    for e in estimates:
        wss = e["wss"]
        sound = 0 <= wss["low_bytes"] <= wss["bytes"] <= wss["high_bytes"] <= e["rss_bytes"]
        # Five small data sets make a poor model, which may say less than nothing; it must not say so silently.
        sound = sound and (wss["bytes"] > 0 or "prediction_cut" in [f["code"] for f in e["flags"]])
        counted = e["faults"]["hook"] == hook and e["faults"]["count"] > 0 and e["verify"]["bytes"] is not None
        yield held("published: an estimate lies within its bounds, beside a measured one", sound and counted, json.dumps(e))


def judge_policy_cost(_: Kernel, run: GuestRun, __: JobResult) -> Iterator[Check]:
    """The bench made sure that instructions are what it counts."""
    rows = [json.loads(line) for line in run.jobs["policy-cost"].text("rows.jsonl").splitlines()]
    judging = {r["case"]: r for r in rows if r["metric"] == "cpu_judging"}
    yield held("policy-cost: opens at three depths were counted", len(judging) == 3, ", ".join(judging))
    least = expected.POLICY_CACHE_GAIN
    for case, row in judging.items():
        yield held(f"policy-cost: {case}, a hit takes {least} times fewer instructions than a walk",
                   row["peer"] >= least * row["hotset"] > 0, f"{row['hotset']:.0f} and {row['peer']:.0f}")


DMESG_TROUBLE = re.compile(
    r"WARNING:|BUG:|Oops|Call Trace|general protection|Kernel panic|soft lockup|hung_task|blocked for more than|"
    r"self-detected stall|detected stalls|UBSAN|KASAN|segfault at|traps: "
)


def judge_dmesg(_: Kernel, run: GuestRun, __: JobResult) -> Iterator[Check]:
    lines = run.jobs["dmesg"].text("dmesg").splitlines()
    trouble = [l for l in lines if DMESG_TROUBLE.search(l) and not expected.HARMLESS_DMESG.search(l)]
    yield held("dmesg is free of warnings", not trouble, "\n".join(trouble[:10]))
    yield held("dmesg was read", len(lines) > 50, f"only {len(lines)} lines")


def judge_nothing(_: Kernel, __: GuestRun, ___: JobResult) -> Iterator[Check]:
    yield from ()


JUDGES = {
    "probe": judge_configuration,
    "evidence": judge_nothing,
    "verifier": judge_verifier,
    "doctor": judge_doctor,
    "kernel-tests": judge_kernel_tests,
    "published": judge_published,
    "dmesg": judge_dmesg,
    "policy-cost": judge_policy_cost,
}


def judge(kernel: Kernel, run: GuestRun, jobs: list[str], evidence: JobResult) -> list[Check]:
    """All checks of one boot. `evidence`: what is known of this kernel by other means than ours. A guest in trouble is a failure of its own, and what it did bring home still counts."""
    checks = []
    if run.trouble:
        checks.append(held("the guest runs to its end", False, f"{run.trouble}; its console ends:\n{run.console_tail()}"))
    for name in jobs:
        job = run.jobs.get(name)
        if job is None:
            continue
        if job.status != 0 and name != "kernel-tests":
            said = (job.text("stdout")[-1500:] + job.text("stderr")[-1500:]).strip()
            checks.append(held(f"job {name} succeeds", False, f"status {job.status} after {job.seconds:.0f} s\n{said}"))
            continue
        try:
            checks += JUDGES[name](kernel, run, evidence)
        except (KeyError, ValueError, TypeError) as problem:
            checks.append(held(f"job {name} can be judged", False, f"{type(problem).__name__}: {problem}"))
    return checks


def save_job_files(run: GuestRun, folder: Path) -> None:
    """For whoever looks into a failure; what an earlier run left is removed."""
    for job in run.jobs.values():
        shutil.rmtree(folder / job.name, ignore_errors=True)
        for name, data in job.files.items():
            target = folder / job.name / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
