# SPDX-License-Identifier: Apache-2.0
"""Tests of what runs the guests, without a guest: python3 -m unittest discover -s tests/vm -p 'test_*.py'"""

from __future__ import annotations

import base64
import fnmatch
import io
import json
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest
from types import SimpleNamespace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import checks
import document
import expected
import guest
import image
import kernels
import run

TOP = Path(__file__).resolve().parents[2]

DEB822 = """Types: deb
# a comment in the middle
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb deb-src
URIs: http://mirror.example/debian-security/
Suites: bookworm-security
Components: main
Trusted: yes

Types: deb
Enabled: no
URIs: http://disabled.example/debian
Suites: bookworm
Components: main
"""


def frame(name: str, files: dict[str, bytes], status: int = 0) -> str:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for path, data in files.items():
            entry = tarfile.TarInfo(f"./{path}")
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return f"@@job {name} {status} 1500\n{base64.encodebytes(packed.getvalue()).decode()}@@end {name}\n"


def kernel_with(config: str, folder: Path) -> kernels.Kernel:
    (folder / "boot").mkdir(parents=True)
    (folder / "boot/config-1").write_text(config)
    return kernels.Kernel(kernels.SERIES[1], "1", "package", "1-1", "suite", folder)


class Sources(unittest.TestCase):
    def test_machine_sources_give_the_archive_and_its_key_in_both_formats(self):
        for name, text in (
            ("debian.sources", DEB822),
            ("old.list", "# deb http://x y z\ndeb [arch=amd64 signed-by=/k.gpg] http://mirror.example/debian bookworm main\n"),
        ):
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                etc = Path(folder)
                (etc / "sources.list.d").mkdir()
                (etc / "sources.list.d" / name).write_text(text)
                main, _ = kernels.machine_archives(etc, "bookworm")
                self.assertEqual(main.uri, "http://mirror.example/debian")
                self.assertTrue(main.signed_by.endswith(".gpg"))

    def test_the_option_to_trust_an_archive_without_signature_is_left_behind(self):
        with tempfile.TemporaryDirectory() as folder:
            etc = Path(folder)
            (etc / "sources.list.d").mkdir()
            (etc / "sources.list.d/debian.sources").write_text(DEB822)
            _, security = kernels.machine_archives(etc, "bookworm")
            apt = kernels.Apt(etc / "cache", "bookworm-security", security)
            self.assertNotIn("trusted", (apt.root / "sources.list").read_text().lower())
            self.assertNotIn("Allow", (apt.root / "apt.conf").read_text())

    def test_a_disabled_entry_is_no_source(self):
        self.assertNotIn("disabled.example", str(kernels.parse_sources(DEB822, deb822=True)))


class Frames(unittest.TestCase):
    def test_complete_frames_come_home(self):
        run = guest.GuestRun("default")
        done = guest.parse_frames("@@boot 6.1 2500\n" + frame("probe", {"a": b"x", "d/b": b"y"}) + "@@off\n", run)
        self.assertTrue(done)
        self.assertEqual(run.boot_seconds, 2.5)
        self.assertEqual(run.jobs["probe"].files, {"a": b"x", "d/b": b"y"})

    def test_a_frame_cut_short_does_not_hide_those_before_it(self):
        run = guest.GuestRun("default")
        done = guest.parse_frames(frame("probe", {"a": b"x"}) + frame("doctor", {"b": b"y" * 5000})[:60], run)
        self.assertFalse(done)
        self.assertEqual(list(run.jobs), ["probe"])

    def test_a_damaged_frame_is_trouble(self):
        run = guest.GuestRun("default")
        guest.parse_frames("@@job probe 0 1\nAAAA\n@@end probe\n", run)
        self.assertIn("damaged", run.trouble)


class Archive(unittest.TestCase):
    def test_cpio_reads_back_what_was_written(self):
        archive = image.Cpio()
        archive.file("a/b/file", b"odd")
        archive.link("a/link", "b/file")
        listed = subprocess.run(["busybox", "cpio", "-t"], input=archive.bytes(), capture_output=True)
        self.assertEqual(listed.stdout.decode().split(), ["a", "a/b", "a/b/file", "a/link"])


class Configurations(unittest.TestCase):
    def test_what_a_kernel_cannot_be_is_said(self):
        with tempfile.TemporaryDirectory() as folder:
            old = kernel_with("CONFIG_MEMCG=y\n# CONFIG_X86_5LEVEL is not set\n", Path(folder) / "old")
            new = kernel_with("# CONFIG_MEMCG_V1 is not set\n", Path(folder) / "new")
            self.assertEqual(guest.lacking(old, "paging4+cgroup1"), "")
            self.assertIn("X86_5LEVEL", guest.lacking(old, "paging5"))
            self.assertEqual(guest.lacking(new, "paging5"), "")
            self.assertIn("MEMCG_V1", guest.lacking(new, "cgroup1"))


class Judgement(unittest.TestCase):
    def judge_dmesg(self, text: str) -> list[str]:
        run = guest.GuestRun("default", jobs={"dmesg": guest.JobResult("dmesg", 0, 0, {"dmesg": text.encode()})})
        nothing = guest.JobResult("evidence", 0, 0)
        return [c.verdict for c in checks.judge_dmesg(None, run, nothing)]

    def test_a_warning_of_the_kernel_fails(self):
        quiet = "[ 0.1] line\n" * 60
        self.assertEqual(self.judge_dmesg(quiet), ["passed", "passed"])
        for line in ("WARNING: CPU: 0 PID: 1 at mm/x.c", "BUG: unable to handle", "Call Trace:"):
            self.assertEqual(self.judge_dmesg(quiet + f"[ 9.1] {line}\n")[0], "failed", line)

    def test_an_empty_dmesg_is_no_clean_one(self):
        self.assertIn("failed", self.judge_dmesg(""))

    def test_a_skipped_test_stays_skipped_and_keeps_its_reason(self):
        report = {"testsuites": [{"name": "S", "testsuite": [
            {"name": "a", "status": "RUN", "result": "SKIPPED"},
            {"name": "b", "status": "RUN", "result": "COMPLETED", "failures": [{"failure": "f.cpp:2\nExpected"}]},
            {"name": "c", "status": "RUN", "result": "COMPLETED"},
            {"name": "d", "status": "NOTRUN", "result": "SUPPRESSED"},
        ]}]}
        said = "[ RUN      ] S.a\nx.cpp:1: Skipped\nno kprobes\n\n[  SKIPPED ] S.a (0 ms)\n"
        files = {"tests.json": json.dumps(report).encode(), "stdout": said.encode()}
        job = guest.JobResult("kernel-tests", 1, 0, files)
        rows = checks.gtest_rows(job)
        self.assertEqual([r[:2] for r in rows], [("S.a", "skipped"), ("S.b", "failed"), ("S.c", "passed")])
        self.assertEqual(rows[0][2], "no kprobes")

    def test_a_hook_that_was_skipped_without_being_expected_absent_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            kernel = kernel_with("", Path(folder) / "k")  # of series 6.1
            rows = [("Each/FaultHook.counts/fault_kprobe", "skipped", "why"), ("Each/FaultHook.counts/fault_fexit", "passed", "")]
            judged = {c.name.split()[1]: c.verdict for c in checks.judge_hook_matrix(kernel, rows)}
            self.assertEqual(judged, {"fault_kprobe": "failed", "fault_fexit": "passed"})

    def test_a_guest_that_hangs_is_a_failure_with_its_console(self):
        run = guest.GuestRun("default", trouble="still running after 60 s; ended", console="one\nlast words\n")
        judged = checks.judge(None, run, ["probe"], guest.JobResult("evidence", 0, 0))
        self.assertEqual([c.verdict for c in judged], ["failed"])
        self.assertIn("last words", judged[0].detail)


class Tables(unittest.TestCase):
    def test_each_series_has_an_expected_hook(self):
        self.assertEqual(set(expected.AUTOMATIC_HOOK), {s.name for s in kernels.SERIES})

    def test_refusals_and_verifier_table_do_not_contradict_each_other(self):
        table = json.loads(expected.VERIFIER_TABLE.read_text())
        for program, counts in table.items():
            for series in kernels.SERIES:
                refused = bool(expected.refusal(series.name, program))
                self.assertNotEqual(series.name in counts, refused, f"{program} on {series.name}")

    def test_each_job_has_a_script_and_a_judge(self):
        scripts = {p.stem for p in (TOP / "tests/vm/jobs").glob("*.sh")}
        self.assertEqual(scripts, set(checks.JUDGES))


def lets_through(gtest_filter: str, name: str) -> bool:
    """As GoogleTest reads a filter: patterns to take, and behind a minus patterns to leave."""
    take, _, leave = gtest_filter.partition("-")
    found = lambda patterns: any(fnmatch.fnmatchcase(name, p) for p in patterns.split(":") if p)
    return (not take or found(take)) and not found(leave)


def kernel_tests() -> list[str]:
    """Their names as the sources have them, with a parameter of no hook's name where they have one."""
    text = "".join(p.read_text() for p in sorted((TOP / "tests/kernel").glob("*.cpp")))
    prefixes = {suite: prefix for prefix, suite in re.findall(r"INSTANTIATE_TEST_SUITE_P\((\w+), (\w+),", text)}
    prefixes |= dict.fromkeys(re.findall(r"^HOTSET_GUARD_TESTS\((\w+)\)", text, re.M), "By")
    names = []
    for kind, suite, name in re.findall(r"^(TEST|TEST_F|TEST_P)\((\w+), (\w+)\)", text, re.M):
        names.append(f"{prefixes[suite]}/{suite}.{name}/parameter" if kind == "TEST_P" else f"{suite}.{name}")
    return names


class Boots(unittest.TestCase):
    def test_no_kernel_test_is_left_out_by_all_boots(self):
        names = kernel_tests()
        self.assertGreater(len(names), 100)
        for name in names:
            homes = [b.configuration for b in run.BOOTS
                     if "kernel-tests" in b.jobs and not b.only and lets_through(b.gtest_filter(), name)]
            self.assertTrue(homes, f"{name} runs in no boot")

    def test_what_has_a_home_runs_in_the_first_boot_no_more(self):
        first = run.BOOTS[0].gtest_filter()
        for name in kernel_tests():
            has_home = any(fnmatch.fnmatchcase(name, p) for b in run.BOOTS[1:] for p in b.home)
            self.assertNotEqual(lets_through(first, name), has_home, name)

    def test_a_configuration_asked_for_runs_all_tests_and_a_job_asked_for_its_own(self):
        options = {"config": None, "job": None, "gtest_filter": None}
        kernel = SimpleNamespace(series=kernels.SERIES[0])
        asked = run.plan(kernel, SimpleNamespace(**{**options, "config": run.BOOTS[0].configuration}))
        self.assertEqual([b.gtest_filter() for b in asked], ["*"])
        jobs = run.plan(kernel, SimpleNamespace(**{**options, "job": ["kernel-tests"]}))
        self.assertEqual([b.gtest_filter() for b in jobs],
                         [b.gtest_filter() for b in run.BOOTS if "kernel-tests" in b.jobs])

    def test_each_pattern_names_a_test(self):
        hooks = re.findall(r'"(fault_\w+)"', (TOP / "src/kernel/hooks.cpp").read_text())
        names = [n.replace("/parameter", f"/{h}") for n in kernel_tests() for h in ("parameter", *hooks)]
        for pattern in (p for b in run.BOOTS for p in b.tests()):
            self.assertTrue(fnmatch.filter(names, pattern), pattern)

    def test_each_configuration_is_one_of_the_table_and_no_row_is_twice(self):
        for row in run.BOOTS:
            guest.configure(row.configuration)
        self.assertEqual(len({b.configuration for b in run.BOOTS}), len(run.BOOTS))

    def test_each_configuration_of_the_table_is_booted(self):
        booted = {part for b in run.BOOTS for part in b.configuration.split("+")}
        self.assertEqual(booted, set(guest.CONFIGURATIONS))


class Document(unittest.TestCase):
    def test_it_covers_every_series_with_its_exact_version(self):
        text = (TOP / "docs/kernels.md").read_text()
        for series in kernels.SERIES:
            self.assertRegex(text, rf"(?m)^\| {re.escape(series.name)} \| (`\d|not run)")
        self.assertRegex(text, r"on \d{4}-\d{2}-\d{2} and written by")

    def test_it_lists_the_programs_of_the_verifier_table(self):
        text = (TOP / "docs/kernels.md").read_text()
        for program in json.loads(expected.VERIFIER_TABLE.read_text()):
            self.assertIn(f"| `{program}` |", text, "./run vm --update-verifier --docs")

    def test_a_series_that_did_not_run_is_said_not_to_have_run(self):
        text = document.render({"date": "2026-01-01", "kernels": [
            {"series": "5.10", "status": "not run", "reason": "the suite is gone", "boots": []}]})
        self.assertIn("| 5.10 | not run | the suite is gone |", text)


if __name__ == "__main__":
    unittest.main()
