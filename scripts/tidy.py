#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tidy.py BUILD_DIR: runs clang-tidy on every file of the compilation database that is ours, and on no file twice.

clang-tidy takes seconds a file, so a file that was found clean is not analysed again until something it depends on
changes: the file, the headers of ours that it includes, directly or not, its compile command, the checks, the version of
clang-tidy. The stamp of a clean file is named by the hash of all these.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TIDY = "clang-tidy-19"
OURS = ("src", "tests", "bench")
INCLUDE = re.compile(rb'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def libstdcxx_of_gcc():
    """clang picks the newest GCC it finds; the build uses this one."""
    library = subprocess.run(["g++", "-print-libgcc-file-name"], check=True, capture_output=True, text=True).stdout
    return os.path.dirname(library.strip())


def include_folders(command):
    return [pathlib.Path(folder) for folder in re.findall(r"-(?:I|isystem) ?(\S+)", command)]


def content_of(source, folders, seen):
    """The bytes of a file and of all it includes in quotes, in a fixed order."""
    real = source.resolve()
    if real in seen or not real.is_file():
        return b""
    seen.add(real)
    text = real.read_bytes()
    content = text
    for name in INCLUDE.findall(text):
        for folder in [source.parent, *folders]:
            candidate = folder / name.decode()
            if candidate.is_file():
                content += content_of(candidate, folders, seen)
                break
    return content


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    stamps = build / "clean"
    stamps.mkdir(exist_ok=True)
    tidy = [TIDY, "-p", str(build), "--quiet", "--extra-arg=-Wno-unknown-warning-option",
            f"--extra-arg=--gcc-install-dir={libstdcxx_of_gcc()}"]
    version = subprocess.run([TIDY, "--version"], check=True, capture_output=True).stdout
    checks = b"".join(file.read_bytes() for file in [ROOT / ".clang-tidy", *sorted(ROOT.glob("*/.clang-tidy")), *sorted(ROOT.glob("src/*/.clang-tidy"))])
    common = version + checks + " ".join(tidy).encode()

    due = []
    current = set()
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = pathlib.Path(entry["file"])
        if not source.is_relative_to(ROOT) or source.relative_to(ROOT).parts[0] not in OURS:
            continue
        content = content_of(source, include_folders(entry["command"]), set())
        key = hashlib.sha256(common + entry["command"].encode() + content).hexdigest()
        current.add(key)
        if not (stamps / key).exists():
            due.append((source, stamps / key))

    for stamp in stamps.iterdir():
        if stamp.name not in current:
            stamp.unlink()

    def analyse(job):
        source, stamp = job
        run = subprocess.run([*tidy, str(source)], capture_output=True, text=True)
        if run.returncode == 0:
            stamp.touch()
        return source, run

    print(f"tidy: {len(current)} files, {len(due)} to analyse", flush=True)
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for source, run in pool.map(analyse, due):
            if run.returncode != 0:
                bad += 1
                print(f"{source.relative_to(ROOT)}:\n{run.stdout}{run.stderr}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
