# SPDX-License-Identifier: Apache-2.0
"""The guest's whole file system: one initramfs.

No disk, no drivers, no distribution: busybox, the programs under test with the libraries they name, the jobs, and a few
kernel modules. The programs lie where they were built, because tests know each other's paths. The archive is written
here, entry by entry (the kernel's own format, "newc"), so that it needs neither root nor cpio, and is left
uncompressed: unpacking is what an emulated processor is slow at.
"""

from __future__ import annotations

import lzma
import re
import stat
import subprocess
from pathlib import Path

from kernels import Kernel

BUSYBOX = Path("/bin/busybox")


class Cpio:
    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.seen: set[str] = set()

    def _add(self, path: str, mode: int, data: bytes) -> None:
        path = path.lstrip("/")
        if path in self.seen:
            return
        parent = str(Path(path).parent)
        if parent != "." and path != "TRAILER!!!":
            self.directory(parent)
        self.seen.add(path)
        name = path.encode() + b"\0"
        fields = (len(self.seen), mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name), 0)
        head = b"070701" + b"".join(b"%08X" % f for f in fields) + name
        self.parts += [head, b"\0" * (-len(head) % 4), data, b"\0" * (-len(data) % 4)]

    def directory(self, path: str) -> None:
        self._add(path, stat.S_IFDIR | 0o755, b"")

    def file(self, path: str, data: bytes, mode: int = 0o755) -> None:
        self._add(path, stat.S_IFREG | mode, data)

    def link(self, path: str, to: str) -> None:
        self._add(path, stat.S_IFLNK | 0o777, to.encode())

    def bytes(self) -> bytes:
        self._add("TRAILER!!!", 0, b"")
        return b"".join(self.parts)


def libraries(program: Path) -> list[Path]:
    """What the dynamic loader maps for the program, the loader included; none for a static one."""
    listed = subprocess.run(["ldd", str(program)], capture_output=True, text=True).stdout
    missing = re.findall(r"^\s*(\S+) => not found", listed, re.M)
    if missing:
        raise SystemExit(f"vm: {program} needs {', '.join(missing)}, which this machine does not have")
    return [Path(p) for p in re.findall(r"(/\S+) \(0x", listed)]


def stripped(program: Path, scratch: Path) -> bytes:
    """Without debug information, which would only fill the guest's memory."""
    out = scratch / f"{program.name}.stripped"
    if not out.exists() or out.stat().st_mtime < program.stat().st_mtime:
        done = subprocess.run(["strip", "-o", str(out), str(program)], capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"vm: strip {program}: {done.stderr.strip()}")
    return out.read_bytes()


def module_chain(kernel: Kernel, names: list[str]) -> list[Path]:
    """The module files to insert, in order, each after those it depends on. What is built in or absent is left out."""
    files = {re.sub(r"\.ko.*$", "", f.name).replace("-", "_"): f for f in kernel.modules.rglob("*.ko*")}
    order: list[Path] = []

    def visit(name: str) -> None:
        file = files.get(name.replace("-", "_"))
        if file is None or file in order:
            return
        depends = re.search(rb"\0depends=([^\0]*)\0", b"\0" + module_bytes(file))
        for other in (depends[1].decode().split(",") if depends and depends[1] else []):
            visit(other)
        order.append(file)

    for name in names:
        visit(name)
    return order


def module_bytes(file: Path) -> bytes:
    return lzma.decompress(file.read_bytes()) if file.suffix == ".xz" else file.read_bytes()


def ext4_image(file: Path) -> Path:
    """A small file system which, other than the guest's own, gives inode numbers out again (see init.sh)."""
    file.unlink(missing_ok=True)
    done = subprocess.run(["/sbin/mke2fs", "-q", "-t", "ext4", "-m", "0", str(file), "8M"], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"vm: mke2fs {file}: {done.stderr.strip()}")
    return file


def base_archive(programs: list[Path], extra: list[tuple[Path, str]], scratch: Path, here: Path) -> bytes:
    """What all guests share. `extra` are data files and their places in the guest."""
    archive = Cpio()
    for folder in ("proc", "sys", "dev", "tmp", "run", "out", "etc", "root"):
        archive.directory(folder)
    archive.file("bin/busybox", BUSYBOX.read_bytes())
    archive.link("bin/sh", "busybox")
    archive.file("init", (here / "init.sh").read_bytes())
    archive.file("etc/passwd", b"root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/tmp:/bin/sh\n", 0o644)
    archive.file("etc/group", b"root:x:0:\nnogroup:x:65534:\n", 0o644)
    for script in sorted((here / "jobs").glob("*.sh")):
        archive.file(f"jobs/{script.name}", script.read_bytes())
    for program in programs:
        archive.file(str(program), stripped(program, scratch))
        archive.link(f"bin/{program.name}", str(program))
        for library in libraries(program):
            archive.file(str(library), library.read_bytes())
    for source, place in extra:
        archive.file(place, source.read_bytes(), 0o644)
    return archive.bytes()


def boot_archive(kernel: Kernel, modules: list[str], jobs: list[tuple[str, int]], environment: dict[str, str]) -> bytes:
    """What one boot adds: modules to insert, jobs with their time limits in seconds, variables that jobs see."""
    archive = Cpio()
    chain = module_chain(kernel, modules)
    for file in chain:
        archive.file(f"modules/{file.name.removesuffix('.xz')}", module_bytes(file), 0o644)
    archive.file("etc/modules", "".join(f"{f.name.removesuffix('.xz')}\n" for f in chain).encode(), 0o644)
    archive.file("etc/jobs", "".join(f"{name} {limit}\n" for name, limit in jobs).encode(), 0o644)
    archive.file("etc/environment", "".join(f"export {k}='{v}'\n" for k, v in environment.items()).encode(), 0o644)
    return archive.bytes()
