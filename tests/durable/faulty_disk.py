"""A disk that fails on demand: an SQLite file system over the real one, with one fault at one operation."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import apsw

NAME = "memlab-faulty-disk"


@dataclass
class Fault:
    """What goes wrong, and when.

    Parameters
    ----------
    at : int
        The operation that fails first, counted from 0; None for never.
    error : type
        What is raised.
    lasts : int
        How many operations fail.
    keep : int, optional
        Bytes that a failing write writes nevertheless.
    count : int
        Operations so far.
    seen : list of str
        Their names.
    """

    at: int | None = None
    error: type[Exception] = apsw.IOError
    lasts: int = 1
    keep: int = 0
    count: int = 0
    seen: list[str] = field(default_factory=list)

    def hits(self, what: str) -> bool:
        """Count an operation, and say whether it fails."""
        if self.at is None:
            return False
        here, self.count = self.count, self.count + 1
        self.seen.append(what)
        return self.at <= here < self.at + self.lasts


class FaultyDisk(apsw.VFS):
    """The file system."""

    def __init__(self, default: bool = False) -> None:
        self.real = apsw.vfs_names()[0]
        super().__init__(NAME, self.real, makedefault=default)
        self.fault = Fault()

    def xOpen(self, name: "apsw.URIFilename | str | None", flags: list[int]) -> "FaultyFile":
        """Open a file."""
        return FaultyFile(self, name, flags)


class FaultyFile(apsw.VFSFile):
    """One file of it."""

    def __init__(self, disk: FaultyDisk, name: "apsw.URIFilename | str | None", flags: list[int]) -> None:
        super().__init__(disk.real, name, flags)
        self._disk = disk

    def xWrite(self, data: bytes, offset: int) -> None:
        """Write, wholly or up to the fault."""
        fault = self._disk.fault
        if fault.hits("write"):
            if fault.keep:
                super().xWrite(bytes(data)[: fault.keep], offset)
            raise fault.error("a fault of the disk")
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        """Bring to the disk."""
        if self._disk.fault.hits("sync"):
            raise self._disk.fault.error("a fault of the disk")
        super().xSync(flags)

    def xTruncate(self, size: int) -> None:
        """Shorten."""
        if self._disk.fault.hits("truncate"):
            raise self._disk.fault.error("a fault of the disk")
        super().xTruncate(size)


@contextmanager
def faulty_disk(default: bool = False) -> Iterator[FaultyDisk]:
    """A registered one, for the length of a block; as the default, every connection is opened on it."""
    disk = FaultyDisk(default)
    try:
        yield disk
    finally:
        disk.unregister()
