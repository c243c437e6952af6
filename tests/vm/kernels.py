# SPDX-License-Identifier: Apache-2.0
"""Which kernels the guests run, and how they get here.

A kernel that users run is a package of some Debian suite, and the machine under test runs only one of them. So each
suite gets a private apt root: its own lists, cache and package state, with the mirror and the key of the machine's own
sources. Apt checks signatures and hashes as always, and the machine's own package state never hears of it. Suites drop
old versions, so the newest package of a series is taken and its exact version recorded.
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

LISTS_LIFE_S = 24 * 3600  # package lists younger than this are not fetched again


@dataclass(frozen=True)
class Series:
    """One row of the table of kernels. The suites are asked in turn, and the newest package of them all wins."""

    name: str  # as given on the command line
    pattern: str  # of the version inside the package's name
    suites: tuple[str, ...]
    required: bool  # a required kernel that cannot run is a failure; another one is reported and counted


SERIES = (
    Series("5.10", r"5\.10\.", ("bullseye", "bullseye-security"), required=False),
    Series("6.1", r"6\.1\.", ("bookworm", "bookworm-security"), required=True),
    Series("6.12", r"6\.12\.", ("bookworm-backports",), required=True),
    Series("sid", r"", ("sid",), required=False),
)


@dataclass(frozen=True)
class Kernel:
    series: Series
    release: str  # uname -r
    package: str
    version: str  # of the package
    suite: str
    root: Path  # the unpacked package

    def file(self, name: str) -> Path:
        """vmlinuz, config or System.map: newer packages keep them beside the modules."""
        old = self.root / "boot" / f"{name}-{self.release}"
        return old if old.exists() else self.root / "usr/lib/modules" / self.release / name

    @property
    def modules(self) -> Path:
        old = self.root / "lib/modules" / self.release
        return old if old.exists() else self.root / "usr/lib/modules" / self.release

    @functools.cached_property
    def config(self) -> dict[str, str]:
        """How it was built: CONFIG_X -> y, m, n or its value; an option that this kernel does not know is absent."""
        text = self.file("config").read_text()
        off = dict.fromkeys(re.findall(r"^# CONFIG_(\w+) is not set$", text, re.M), "n")
        return off | dict(re.findall(r"^CONFIG_(\w+)=(.*)$", text, re.M))

    def has(self, option: str) -> bool:
        return self.config.get(option, "n") != "n"


class Unavailable(Exception):
    """The kernel cannot be had here and now; the message says why."""


@dataclass(frozen=True)
class Archive:
    uri: str
    signed_by: str


def parse_sources(text: str, deb822: bool) -> list[tuple[str, list[str], str]]:
    """(uri, suites, keyring) of each enabled entry for binary packages. Other options are left behind on purpose: a
    machine that trusts an archive without a signature does not make the guests trust it."""
    entries = []
    if not deb822:
        for line in text.splitlines():
            match = re.match(r"deb\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)", line.strip())
            if match:
                options = dict(o.split("=", 1) for o in (match[1] or "").split() if "=" in o)
                entries.append((match[2], [match[3]], options.get("signed-by", "")))
        return entries
    for stanza in re.split(r"\n\s*\n", text):
        lines = [l for l in stanza.splitlines() if l.strip() and not l.startswith("#")]
        fields = {k.strip().lower(): v.strip() for k, v in (l.split(":", 1) for l in lines if re.match(r"[\w-]+:", l))}
        if "deb" not in fields.get("types", "").split() or fields.get("enabled", "yes").lower() in ("no", "false"):
            continue
        key = fields.get("signed-by", "")
        for uri in fields.get("uris", "").split():
            entries.append((uri, fields.get("suites", "").split(), key if key.startswith("/") else ""))
    return entries


def machine_archives(etc: Path = Path("/etc/apt"), codename: str = "") -> tuple[Archive | None, Archive | None]:
    """The machine's own Debian archive, and its security archive: those that serve the machine's own release."""
    if not codename:
        match = re.search(r"^VERSION_CODENAME=(\S+)", Path("/etc/os-release").read_text(), re.M)
        codename = match[1] if match else ""
    main = security = None
    files = [etc / "sources.list", *sorted((etc / "sources.list.d").glob("*"))]
    for file in files:
        if not file.is_file() or file.suffix not in (".list", ".sources"):
            continue
        for uri, suites, key in parse_sources(file.read_text(errors="replace"), file.suffix == ".sources"):
            if codename in suites and re.search(r"/debian/?$", uri):
                main = main or Archive(uri, key)
            if f"{codename}-security" in suites:
                security = security or Archive(uri, key)
    return main, security


class Apt:
    """A private apt root for one suite below `cache`."""

    def __init__(self, cache: Path, suite: str, archive: Archive):
        self.suite = suite
        self.root = cache / "apt" / suite
        for folder in ("lists/partial", "cache/archives/partial", "state"):
            (self.root / folder).mkdir(parents=True, exist_ok=True)
        (self.root / "status").touch()
        key = f" [signed-by={archive.signed_by}]" if archive.signed_by else ""
        (self.root / "sources.list").write_text(f"deb{key} {archive.uri} {suite} main\n")
        # The clean-up hooks of container images act on the machine's own cache: not ours to run.
        (self.root / "apt.conf").write_text(
            "#clear APT::Update::Post-Invoke;\n#clear APT::Update::Post-Invoke-Success;\n#clear APT::Update::Pre-Invoke;\n"
            'Acquire::Languages "none";\nAcquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";\n'
            'APT::Sandbox::User "root";\nAPT::Architecture "amd64";\n#clear APT::Architectures;\n'
            f'Dir::Etc::sourcelist "{self.root}/sources.list";\nDir::Etc::sourceparts "/dev/null";\n'
            f'Dir::Etc::preferencesparts "/dev/null";\nDir::State "{self.root}/state";\n'
            f'Dir::State::lists "{self.root}/lists";\nDir::State::status "{self.root}/status";\n'
            f'Dir::Cache "{self.root}/cache";\n'
        )

    def run(self, tool: str, *arguments: str, cwd: Path | None = None) -> str:
        done = subprocess.run(
            [tool, "-q", "-c", str(self.root / "apt.conf"), *arguments],
            capture_output=True, text=True, cwd=cwd, timeout=300, env={**os.environ, "LC_ALL": "C"},
        )
        if done.returncode != 0:
            lines = [l for l in done.stderr.splitlines() if l.startswith("E:")] or [done.stderr.strip()]
            raise Unavailable(f"{tool} {arguments[0]} for {self.suite}: {lines[-1]}")
        return done.stdout

    def update(self) -> None:
        stamp = self.root / "updated"
        if stamp.exists() and time.time() - stamp.stat().st_mtime < LISTS_LIFE_S:
            return
        # Without this apt reports a suite that is gone as a warning and keeps the old lists.
        self.run("apt-get", "update", "--error-on=any")
        stamp.touch()

    def newest(self, pattern: str) -> tuple[str, str] | None:
        """(package, version) of the newest kernel of that series for virtual machines, None if there is none."""
        listed = self.run("apt-cache", "search", "--names-only", rf"^linux-image-[0-9.]+.*-cloud-amd64$")
        names = [l.split(" ", 1)[0] for l in listed.splitlines()]
        names = [n for n in names if re.match(rf"linux-image-{pattern}[0-9][^-]*(-\d+)?-cloud-amd64$", n)]
        if not names:
            return None
        shown = self.run("apt-cache", "show", *names)
        found = re.findall(r"^Package: (\S+)\n(?:.*\n)*?Version: (\S+)$", shown, re.M)
        return max(found, key=functools.cmp_to_key(lambda a, b: compare_versions(a[1], b[1])))

    def fetch(self, package: str, version: str, into: Path) -> Path:
        """Downloads the package and those of the same source that hold its image and modules (newer suites split it),
        and unpacks what a guest needs."""
        if (into / "complete").exists():
            return into
        shown = self.run("apt-cache", "show", f"{package}={version}")
        depends = re.search(r"^Depends: (.*)$", shown, re.M)
        parts = re.findall(r"(linux-(?:base|binary|modules)-\d\S*) \(= ([^)]+)\)", depends[1] if depends else "")
        download = self.root / "download"
        download.mkdir(exist_ok=True)
        for name, its_version in [(package, version), *parts]:
            self.run("apt-get", "download", f"{name}={its_version}", cwd=download)
        into.mkdir(parents=True, exist_ok=True)
        for deb in sorted(download.glob("*.deb")):
            subprocess.run(["dpkg-deb", "-x", str(deb), str(into)], check=True)
            deb.unlink()
        (into / "complete").touch()
        return into


def compare_versions(a: str, b: str) -> int:
    if a == b:
        return 0
    return 1 if subprocess.run(["dpkg", "--compare-versions", a, "gt", b]).returncode == 0 else -1


def obtain(series: Series, cache: Path) -> Kernel:
    """The newest kernel of that series, downloaded and unpacked. Where the archive cannot be reached, the one that was
    fetched before. Raises Unavailable."""
    main, security = machine_archives()
    if main is None:
        raise Unavailable("the machine's own apt sources name no Debian archive")
    best: tuple[Apt, str, str] | None = None
    problems = []
    for suite in series.suites:
        archive = security if suite.endswith("-security") else main
        if archive is None:
            continue
        try:
            apt = Apt(cache, suite, archive)
            apt.update()
            newest = apt.newest(series.pattern)
        except (Unavailable, subprocess.TimeoutExpired, OSError) as problem:
            problems.append(str(problem))
            continue
        if newest and (best is None or compare_versions(newest[1], best[2]) > 0):
            best = (apt, *newest)
    if best is None:
        raise Unavailable("; ".join(problems) or f"no kernel of that series in {', '.join(series.suites)}")
    apt, package, version = best
    release = package.removeprefix("linux-image-")
    root = apt.fetch(package, version, cache / "kernels" / f"{release}_{version.replace(':', '_')}")
    kernel = Kernel(series, release, package, version, apt.suite, root)
    for name in ("vmlinuz", "config"):
        if not kernel.file(name).exists():
            raise Unavailable(f"{package} {version} holds no {name}")
    return kernel


def chosen(names: list[str]) -> list[Series]:
    """The rows that the command line asks for: by name, all of them when it names none."""
    known = {s.name: s for s in SERIES}
    for name in names:
        if name not in known:
            raise SystemExit(f"vm: no kernel series {name}: known are {', '.join(known)}")
    return [known[n] for n in names] if names else list(SERIES)
