"""The place of a store's file: which file has its name, and whether its folder is on another machine.

Nothing here opens the file: closing it would drop the locks that SQLite holds on it.
"""

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows, where a file that is open can't be removed or replaced
    fcntl = None  # type: ignore[assignment]

# Types of file systems whose memory other machines don't share, so that a write-ahead log can't work there.
NETWORK = frozenset(
    [
        "9p",
        "acfs",
        "afs",
        "afpfs",
        "beegfs",
        "ceph",
        "cifs",
        "coda",
        "davfs",
        "fuse.cephfs",
        "fuse.glusterfs",
        "fuse.gcsfuse",
        "fuse.rclone",
        "fuse.s3fs",
        "fuse.sshfs",
        "glusterfs",
        "gpfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs3",
        "nfs4",
        "ocfs2",
        "orangefs",
        "smb2",
        "smb3",
        "smbfs",
        "vboxsf",
        "webdav",
    ]
)
MOUNTS = "/proc/self/mounts"
BESIDE = ("-wal", "-shm")  # what SQLite keeps beside an open file
_OCTAL = re.compile(r"\\([0-7]{3})")

Identity = tuple[int, ...]


def file_system(path: Path) -> str | None:
    """Name the type of the file system that a path is on.

    Parameters
    ----------
    path : Path
        A file or folder; it needn't exist.

    Returns
    -------
    str or None
        As the system's table of mounts names it, such as ``"ext4"`` or ``"nfs4"``; None where it has no such table.
    """
    try:
        lines = Path(MOUNTS).read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return None
    return mounted_as(lines, os.path.realpath(path))


def mounted_as(lines: list[str], path: str) -> str | None:
    """Find the mount of a path in a table of mounts.

    Parameters
    ----------
    lines : list of str
        ``device point type options …`` each, blanks in them as ``\\040``.
    path : str
        An absolute path without links.

    Returns
    -------
    str or None
        The type of the mount with the longest name above the path; of two, the later one hides the other.
    """
    best, found = -1, None
    for line in lines:
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = _OCTAL.sub(lambda match: chr(int(match[1], 8)), fields[1]).rstrip("/")
        if (path == point or path.startswith(point + "/")) and len(point) >= best:
            best, found = len(point), fields[2]
    return found


def identity(path: str | Path) -> Identity | None:
    """Tell which file has a name now.

    Parameters
    ----------
    path : str or Path
        The name.

    Returns
    -------
    tuple of int or None
        Device and inode, which no other file has while this one is open; None where there is none.
    """
    try:
        found = os.stat(path)  # noqa: PTH116 - every reading does this, and a Path would cost more than the call
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino


def version(path: str | Path) -> Identity | None:
    """Tell which file has a name now, and in which state, where no lock shows that it is written.

    Parameters
    ----------
    path : str or Path
        The name.

    Returns
    -------
    tuple of int or None
        Device, inode, time of the last write, size, and whether a write-ahead log is beside it.
    """
    try:
        found = os.stat(path)  # noqa: PTH116 - as above
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size, has_log(path)


def has_log(path: str | Path) -> bool:
    """Say whether a write-ahead log that holds something is beside a file.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    bool
        True for a log, or the journal of a write that was cut off.
    """
    for end in ("-wal", "-journal"):
        with contextlib.suppress(OSError):
            if os.stat(f"{path}{end}").st_size:  # noqa: PTH116 - the name is the file's and the end
                return True
    return False


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Keep other processes from making a store in a folder within a block, where the system can.

    Parameters
    ----------
    folder : Path
        The folder.
    """
    if fcntl is None:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # a file system without locks: as good as it gets
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def set_aside(path: Path) -> None:
    """Clear a name that no file has of what an earlier file left beside it; call it alone in the folder.

    SQLite would take the log of a file that was removed for that of the new one. It may hold the last writes of
    a file that was only moved, so it is kept under another name, the newest only.

    Parameters
    ----------
    path : Path
        The name.
    """
    if identity(path) is not None:
        return
    for end in ("-wal", "-journal"):
        log = path.with_name(path.name + end)
        with contextlib.suppress(FileNotFoundError):
            if log.stat().st_size:
                log.replace(f"{log}.left")
            else:
                log.unlink()
    path.with_name(path.name + "-shm").unlink(missing_ok=True)


__all__ = [
    "BESIDE", "NETWORK", "Identity", "alone_in", "file_system", "has_log", "identity", "mounted_as", "set_aside",
    "version",
]  # fmt: skip
