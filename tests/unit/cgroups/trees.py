"""Small cgroup v2 trees to test against: each group has the nine files that are read, with numbers made from a seed."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Collection
from pathlib import Path

from fuyaod.hostfs import OsFiles

MOUNT = "sys/fs/cgroup"
UID = "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"
ID = "ab" * 32

CONTROLLERS = "cpuset cpu io memory hugetlb pids\n"


def pressure_text(seed: int) -> str:
    """A pressure file with both lines."""
    share = seed % 100
    return (
        f"some avg10={share}.25 avg60={share}.50 avg300=0.75 total={seed * 1000 + 1}\n"
        f"full avg10=0.{share:02d} avg60=0.10 avg300=0.05 total={seed * 500 + 2}\n"
    )


def group_texts(seed: int) -> dict[str, str]:
    """What the nine files say."""
    return {
        "cpu.stat": (
            f"usage_usec {seed * 10}\nuser_usec {seed * 6}\nsystem_usec {seed * 4}\nnr_periods {seed}\n"
            f"nr_throttled {seed // 2}\nthrottled_usec {seed * 3}\nnr_bursts 0\nburst_usec 0\n"
        ),
        "cpu.pressure": pressure_text(seed),
        "memory.current": f"{seed * 4096}\n",
        "memory.stat": (
            f"anon {seed * 100}\nfile {seed * 50}\nkernel 7\nshmem {seed * 2}\ninactive_anon 9\n"
            f"inactive_file {seed * 20}\nactive_file 3\npgfault 11\npgmajfault {seed}\n"
        ),
        "memory.events": f"low 1\nhigh 2\nmax 3\noom 4\noom_kill {seed}\noom_group_kill 0\n",
        "memory.pressure": pressure_text(seed + 1),
        "io.stat": f"8:0 rbytes={seed} wbytes=2 rios=3 wios=4 dbytes=0 dios=0\n259:0 rbytes=1 wbytes=1 rios=1 wios=1\n",
        "io.pressure": pressure_text(seed + 2),
        "pids.current": f"{seed % 50}\n",
    }


FILES = tuple(group_texts(0))


class TestTree:
    """A unified host below `root`. Groups are named by their path below the mount."""

    __test__ = False

    def __init__(self, root: Path) -> None:
        self.root = root
        self.mount = root / MOUNT
        self.mount.mkdir(parents=True)
        (self.mount / "cgroup.controllers").write_text(CONTROLLERS)

    def folder(self, path: str) -> Path:
        """Where a group is."""
        return self.mount / path.lstrip("/")

    def put(self, path: str, seed: int = 1, names: Collection[str] = FILES) -> None:
        """Makes a group with some of the nine files, and bare folders above it; or writes new numbers in place."""
        os.makedirs(f"{self.root}/{MOUNT}{path}", exist_ok=True)
        for name, text in group_texts(seed).items():
            if name in names:
                self.write(path, name, text)

    def write(self, path: str, name: str, text: str | bytes) -> None:
        """Writes one file in place, so that kept descriptors see it."""
        data = text.encode() if isinstance(text, str) else text
        fd = os.open(f"{self.root}/{MOUNT}{path}/{name}", os.O_WRONLY | os.O_CREAT, 0o644)
        os.pwrite(fd, data, 0)
        os.ftruncate(fd, len(data))
        os.close(fd)

    def remove(self, path: str) -> None:
        """Removes a group and all below it."""
        shutil.rmtree(self.folder(path))

    def replace(self, path: str, seed: int = 1) -> None:
        """Another group takes the place of one, surely with another inode."""
        aside, old = self.root / "aside", self.root / "old"
        aside.mkdir()
        for name, text in group_texts(seed).items():
            (aside / name).write_text(text)
        self.folder(path).rename(old)
        aside.rename(self.folder(path))
        shutil.rmtree(old)

    def put_kubepods(
        self, pods: int, containers: int = 2, driver: str = "cgroupfs", names: Collection[str] = FILES
    ) -> list[str]:
        """Kubernetes' tree with some burstable pods. Returns the paths of all groups, parents first."""
        paths = []
        if driver == "cgroupfs":
            tops, pod = ["/kubepods", "/kubepods/burstable"], "/kubepods/burstable/pod{uid}"
            box = "{id}"
        else:
            top = "/kubepods.slice/kubepods-burstable.slice"
            tops, pod = ["/kubepods.slice", top], top + "/kubepods-burstable-pod{uid_}.slice"
            box = "cri-containerd-{id}.scope"
        paths += tops
        for number in range(pods):
            uid = f"{number:08x}{UID[8:]}"
            folder = pod.format(uid=uid, uid_=uid.replace("-", "_"))
            paths.append(folder)
            paths += [f"{folder}/{box.format(id=f'{number:08x}{index:056x}')}" for index in range(containers)]
        for seed, path in enumerate(paths):
            self.put(path, seed + 1, names)
        return paths


class KernelFiles(OsFiles):
    """The operating system with a kernel's manners that plain files do not have.

    A group whose folder is gone answers ENODEV to its kept descriptors. `refuse` maps the end of a path to the errno
    that reading it gives, `unseen` the errno of looking at it; `at_read` is called with the path before each read.
    """

    def __init__(self) -> None:
        self.refuse: dict[str, int] = {}
        self.unseen: dict[str, int] = {}
        self.at_read: Callable[[str], None] = lambda path: None
        self.reads: list[str] = []
        self.listed: list[str] = []
        self._paths: dict[int, str] = {}

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:  # type: ignore[override]
        """open(2)."""
        fd = os.open(path, flags, mode)
        self._paths[fd] = path
        return fd

    def close(self, fd: int) -> None:
        """close(2)."""
        self._paths.pop(fd, None)
        os.close(fd)

    def listdir(self, path: str) -> list[str]:  # type: ignore[override]
        """Names in a directory; `refuse` counts here too."""
        self.listed.append(path)
        self._maybe_refuse(path)
        return os.listdir(path)

    def pread(self, fd: int, length: int, offset: int) -> bytes:
        """pread(2) as kernfs answers it."""
        path = self._paths[fd]
        if offset == 0:
            self.reads.append(path)
            self.at_read(path)
        self._maybe_refuse(path)
        if not os.path.exists(path) or os.stat(path).st_ino != os.fstat(fd).st_ino:
            raise OSError(errno.ENODEV, os.strerror(errno.ENODEV))
        return os.pread(fd, length, offset)

    def stat(self, path: str) -> os.stat_result:  # type: ignore[override]
        """stat(2); `unseen` counts here."""
        for end, number in self.unseen.items():
            if path.endswith(end):
                raise OSError(number, os.strerror(number))
        return os.stat(path)

    @property
    def kept(self) -> int:
        """Descriptors that are open now."""
        return len(self._paths)

    def _maybe_refuse(self, path: str) -> None:
        for end, number in self.refuse.items():
            if path.endswith(end):
                raise OSError(number, os.strerror(number))
