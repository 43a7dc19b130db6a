"""A memory cgroup of a server: what it may take, page cache and shared memory included."""
import contextlib
import os
import pathlib

ROOTS = {1: pathlib.Path("/sys/fs/cgroup/memory"), 2: pathlib.Path("/sys/fs/cgroup")}
FILES = {1: ("memory.limit_in_bytes", "memory.max_usage_in_bytes"), 2: ("memory.max", "memory.peak")}


class NoGroup(Exception):
    """Why there is no cgroup here."""


def version_of(roots=None):
    """1 or 2: which memory controller this machine has. Throws NoGroup."""
    roots = roots or ROOTS
    if (roots[1] / "memory.limit_in_bytes").exists():
        return 1
    controllers = roots[2] / "cgroup.controllers"
    if controllers.exists() and "memory" in controllers.read_text().split():
        return 2
    raise NoGroup(f"{roots[2]} has no memory controller")


class MemoryGroup:
    """A group with a limit of bytes. start() starts a server within it; close() removes the group, when
    its processes have ended."""

    def __init__(self, name, limit, roots=None):
        self.version = version_of(roots)
        self.root = (roots or ROOTS)[self.version]
        self.folder = self.root / name
        limit_file, self.peak_file = FILES[self.version]
        try:
            if self.version == 2:
                (self.root / "cgroup.subtree_control").write_text("+memory")
            self.folder.mkdir()
            (self.folder / limit_file).write_text(str(limit))
        except OSError as error:
            with contextlib.suppress(OSError):
                self.folder.rmdir()
            raise NoGroup(f"{self.folder} cannot be made: {error.strerror}") from error

    def start(self, start):
        """Calls start() while this process is in the group, so that what it starts stays there."""
        before = self._mine()
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))
        try:
            start()
        finally:
            (before / "cgroup.procs").write_text(str(os.getpid()))

    def _mine(self):
        """The folder of this process's group."""
        for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers == ("memory" if self.version == 1 else ""):
                return self.root / path.lstrip("/")
        return self.root

    def peak(self):
        """The most bytes so far; 0 where the kernel does not count them."""
        file = self.folder / self.peak_file
        return int(file.read_text()) if file.exists() else 0

    def close(self):
        with contextlib.suppress(OSError):
            self.folder.rmdir()
