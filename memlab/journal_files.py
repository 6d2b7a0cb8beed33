"""The file of a store: how it comes to be, and SQLite's errors in memlab's words."""

import contextlib
import errno
import os
import stat
import uuid
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

import apsw

from memlab.errors import CorruptStore, MemlabError, ReadOnlyStore, StorageError, StoreBusy, StoreClosed, StoreError
from memlab.journal_place import alone_in, set_aside
from memlab.journal_schema import APPLICATION_ID, SCHEMA, SCHEMA_VERSION

_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}

_DAMAGED = (
    "is damaged or isn't a memlab store ({}); nothing was changed. "
    "Keep the file, and open a backup or run `memlab check` on a copy"
)
_REFUSED = (
    "was refused by the disk ({}); nothing of this write was kept. "
    "Check free space, permissions and that the folder exists"
)
# SQLite's errors, memlab's, and what is said after the file's name; {} stands for SQLite's own words.
_WORDS: tuple[tuple[tuple[type[apsw.Error], ...], type[StoreError], str], ...] = (
    (
        (apsw.BusyError, apsw.LockedError),
        StoreBusy,
        "is being written by another process and stayed locked beyond the timeout; "
        "try again, or open it with a longer timeout",
    ),
    (
        # In a sound file no constraint fails, since writes are checked before, and no statement of memlab's does:
        # its tables have the columns that it names.
        (apsw.CorruptError, apsw.NotADBError, apsw.ConstraintError, apsw.SQLError),
        CorruptStore,
        _DAMAGED,
    ),
    ((apsw.ReadOnlyError,), ReadOnlyStore, "can't be written ({}): the file or its folder is read-only"),
    (
        (apsw.FullError, apsw.IOError, apsw.CantOpenError, apsw.PermissionsError, apsw.TooBigError, apsw.NoMemError),
        StorageError,
        _REFUSED,
    ),
    ((apsw.ConnectionClosedError,), StoreClosed, "was closed; open it again"),
    (
        (apsw.ThreadingViolationError,),
        StoreError,
        "was in use by a thread that this forked process doesn't have ({}), so it can't be used here; "
        "fork when no other thread uses the store, or start processes by 'spawn' or 'forkserver'",
    ),
)


class translated:
    """Turn SQLite's errors within a block into memlab's, naming the file and the way out.

    Parameters
    ----------
    name : str
        The file, for the message.
    foreign : bool, default False
        Whether others' code runs in the block too: then only what is surely SQLite's is turned.
    """

    __slots__ = ("_foreign", "_name")

    def __init__(self, name: str, foreign: bool = False) -> None:
        self._name = name
        self._foreign = foreign

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, apsw.Error):
            for classes, ours, words in _WORDS:
                if isinstance(error, classes):
                    raise ours(f"{self._name} {words.format(error)}") from error
        elif error is not None and not self._foreign and not isinstance(error, MemlabError):
            if isinstance(error, OSError):  # of a virtual file system
                raise StorageError(f"{self._name} {_REFUSED.format(error)}") from error
            if isinstance(error, UnicodeDecodeError):
                raise CorruptStore(f"{self._name} {_DAMAGED.format(f'text that is none: {error}')}") from error


def lay_out(db: apsw.Connection) -> None:
    """Write the layout of a store into a new database, with a name of its own.

    Parameters
    ----------
    db : apsw.Connection
        An empty database.
    """
    db.execute(
        f"BEGIN IMMEDIATE; {SCHEMA} PRAGMA application_id={APPLICATION_ID};PRAGMA user_version={SCHEMA_VERSION}; COMMIT"
    )
    db.execute("INSERT INTO meta VALUES ('file_id', ?)", (str(uuid.uuid4()),))


def is_there(path: Path) -> bool:
    """Say whether a store's file exists, refusing what can't be one.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    bool
        False where there is nothing yet.

    Raises
    ------
    StorageError
        If it is a folder, or can't be reached.
    CorruptStore
        If it is an empty file, which is left as it is.
    """
    try:
        found = path.stat()
    except FileNotFoundError:
        return False
    except (OSError, ValueError) as error:
        raise StorageError(f"{path} can't be reached ({error}); check the path") from error
    if stat.S_ISDIR(found.st_mode):
        raise StorageError(f"{path} is a folder; name a file in it, such as {path / 'memories.memlab'}")
    if found.st_size == 0:
        raise CorruptStore(f"{path} is empty, so it isn't a memlab store; remove it to make a new one there")
    return True


def make_file(path: Path, fill: Callable[[apsw.Connection], None]) -> bool:
    """Make a database beside its place and give it its name when it is whole, so that a half-made one never shows.

    Parameters
    ----------
    path : Path
        The new file.
    fill : callable
        Writes into the new database.

    Returns
    -------
    bool
        False where the name is taken; then nothing is changed.

    Raises
    ------
    StorageError
        If the folder isn't there, or the disk refuses.
    """
    if not path.parent.is_dir():
        raise StorageError(f"{path.parent} isn't a folder; make it first, or check the path")
    draft = path.with_name(f".{path.name[:100]}.{uuid.uuid4().hex}")
    try:
        with translated(str(path)):
            db = apsw.Connection(str(draft))
            with contextlib.closing(db):
                # Nobody else knows the draft; alone, SQLite needs no memory shared with others, which a network
                # folder hasn't.
                db.pragma("locking_mode", "exclusive")
                db.pragma("journal_mode", "wal")
                fill(db)
        with alone_in(path.parent):
            set_aside(path)
            return _place(draft, path)
    except MemlabError:
        raise  # some of them are OSErrors too
    except OSError as error:
        raise StorageError(f"{path} can't be made ({error}); check free space, permissions and the path") from error
    finally:
        for left in (draft, *(draft.with_name(draft.name + end) for end in ("-wal", "-shm", "-journal"))):
            left.unlink(missing_ok=True)


def _place(draft: Path, path: Path) -> bool:
    """Give a finished file its name, never in the place of another; False if the name is taken."""
    try:
        os.link(draft, path)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # A file system without hard links: take the name first, so that nothing is overwritten.
        try:
            path.touch(exist_ok=False)
        except FileExistsError:
            return False
        draft.replace(path)
    if hasattr(os, "O_DIRECTORY"):  # else the name itself might not survive a power cut
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    return True
