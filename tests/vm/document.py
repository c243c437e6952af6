# SPDX-License-Identifier: Apache-2.0
"""docs/kernels.md, written from what a run saw."""

from __future__ import annotations

import json
from pathlib import Path

from guest import CONFIGURATIONS, GuestRun

INTRODUCTION = """# Kernels

What hotset does on the kernels that Debian ships, as seen in virtual machines on {date} and written by
`./run vm --docs`; nothing here is written by hand. The newest package of each series is taken, from whatever suite has
it.
"""


def features(run: GuestRun) -> dict:
    """What the tables of the document are made from, of one boot."""
    found: dict = {}
    if "doctor" in run.jobs and run.jobs["doctor"].status == 0:
        report = json.loads(run.jobs["doctor"].text("doctor.json"))
        found["doctor"] = {c["name"]: {"ok": c["ok"], "cause": c.get("cause") or ""} for c in report["checks"]}
    if "verifier" in run.jobs and run.jobs["verifier"].status == 0:
        rows = [json.loads(line) for line in run.jobs["verifier"].text("verifier.jsonl").splitlines()]
        found["verifier"] = {
            f"{r['object'].removesuffix('.bpf.o')}/{r['program']}": {
                "instructions": r["instructions"] if r["loaded"] else None, "microseconds": r["microseconds"],
            }
            for r in rows
        }
    if "policy-cost" in run.jobs and run.jobs["policy-cost"].status == 0:
        found["policy_cost"] = [json.loads(line) for line in run.jobs["policy-cost"].text("rows.jsonl").splitlines()]
    return found


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def label(kernel: dict) -> str:
    return ".".join(kernel["release"].split(".")[:2]) if kernel["status"] == "ran" else kernel["series"]


def feature(kernel: dict, kind: str, name: str) -> dict:
    """As the first boot that looked at it saw it: that of the kernel's own settings."""
    return next((b["features"][kind][name] for b in kernel["boots"] if name in b.get("features", {}).get(kind, {})), {})


def names(kernels: list[dict], kind: str) -> list[str]:
    """In the order in which they were reported."""
    return list(dict.fromkeys(n for k in kernels for b in k["boots"] for n in b.get("features", {}).get(kind, {})))


def versions(kernels: list[dict]) -> str:
    rows = []
    for k in kernels:
        if k["status"] == "ran":
            rows.append([k["series"], f"`{k['release']}`", k["version"], k["suite"]])
        else:
            rows.append([k["series"], "not run", k["reason"], ""])
    return table(["series", "kernel", "package version", "suite"], rows)


def doctor(ran: list[dict]) -> str:
    """One row a check; the causes below it, each with the kernels that gave it."""
    rows, causes = [], []
    for name in names(ran, "doctor"):
        group = name.split(".")[0]
        if group in ("privilege", "mount"):
            continue  # properties of the guest, not of the kernel
        seen = [feature(k, "doctor", name) for k in ran]
        rows.append([f"`{name}`", *("yes" if s.get("ok") else "no" if s else "?" for s in seen)])
        for cause in dict.fromkeys(s["cause"] for s in seen if s and not s["ok"]):
            whose = ", ".join(label(k) for k, s in zip(ran, seen) if s and not s["ok"] and s["cause"] == cause)
            causes.append(f"- `{name}` on {whose}: {cause}")
    return table(["check of `hotset doctor`", *map(label, ran)], rows) + "\n" + "\n".join(causes) + "\n"


def verifier(ran: list[dict]) -> str:
    rows = []
    for name in names(ran, "verifier"):
        seen = [feature(k, "verifier", name) for k in ran]
        cells = [f"{s['instructions']:,}" if s.get("instructions") else "refused" if s else "?" for s in seen]
        rows.append([f"`{name}`", *cells])
    return table(["program", *map(label, ran)], rows)


def runs(ran: list[dict]) -> str:
    rows, skips = [], []
    for k in ran:
        for b in k["boots"]:
            verdicts = [c["verdict"] for c in b["checks"]]
            count = [str(verdicts.count(v)) for v in ("passed", "failed", "skipped")]
            rows.append([label(k), b["configuration"].replace("+", ", "), *count])
            skips += [(c["name"], c["detail"], label(k)) for c in b["checks"] if c["verdict"] == "skipped"]
    reasons = dict.fromkeys((name, detail) for name, detail, _ in skips)
    lines = []
    for name, detail in reasons:
        whose = ", ".join(dict.fromkeys(k for n, d, k in skips if (n, d) == (name, detail)))
        lines.append(f"- {name} on {whose}: {detail}")
    listed = "\nSkipped, and why:\n\n" + "\n".join(lines) + "\n" if lines else ""
    return table(["kernel", "guest configuration", "checks passed", "failed", "skipped"], rows) + listed


def render(results: dict) -> str:
    kernels = results["kernels"]
    ran = [k for k in kernels if k["status"] == "ran"]
    parts = [
        INTRODUCTION.format(date=results["date"]),
        versions(kernels),
        "## What each kernel allows\n\nAs `hotset doctor` finds out by trying; where the kernel's own files (its build "
        "configuration, symbols and type\nnames) say the same by other means, they were compared.\n",
        doctor(ran),
        "## What the verifier has to do\n\nInstructions walked when each program is loaded with all its options on. "
        "The limit is 1,000,000. A test compares these\nwith `tests/vm/verifier.json`.\n",
        verifier(ran),
        "## What was run\n\n" + "\n".join(f"- {c.name}: {c.says}" for c in CONFIGURATIONS.values()) + "\n",
        runs(ran),
    ]
    return "\n".join(parts)


def write(results: dict, path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(render(results))
