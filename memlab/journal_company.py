"""The journal in company: other processes, forked children, network folders, and a file that is replaced.

Which file has the store's name is asked by ``stat`` before each reading and within each write. Where it is another
one, the connection is given up and the new file is opened, so that nothing is written to a file that nobody finds
any more. SQLite's connections don't survive a fork: a child gives up those it inherits and opens its own.
"""

import contextlib
import ctypes
import warnings
import weakref
from collections.abc import Iterator
from pathlib import Path

import apsw

from memlab.errors import ReadOnlyStore, StorageError, StoreBusy, StoreError
from memlab.journal import DURABILITY, Journal
from memlab.journal_files import is_there, translated
from memlab.journal_place import BESIDE, NETWORK, Identity, file_system, has_log, identity, version

PATIENCE = 5.0  # seconds that an opening waits for another thread's work on a store of the same file
ATTEMPTS = 5  # to open a file that is being replaced again and again


class FileReplaced(StorageError):
    """The file was replaced or removed within a write; the write may be tried again."""


class SharedJournal(Journal):
    """The journal of a store's file.

    Parameters
    ----------
    path : str or Path
        The file; made if it isn't there.
    read_only : bool, default False
        Refuse to write; the file must exist.
    durability : {"full", "normal"}, default "full"
        Whether a commit survives a power cut, or only the death of the process.
    timeout : float, default 30.0
        Seconds to wait for another process's write.
    vfs : str, optional
        SQLite's virtual file system to reach the file through, by its registered name.

    Attributes
    ----------
    network : str or None
        The type of the file system, where it is one of :data:`~memlab.journal_place.NETWORK`. A write-ahead log
        can't work there, so the file has a rollback journal and one process at a time.
    frozen : bool
        Whether the folder can't be written, so that the file is read as one that nobody changes; each reading
        looks whether somebody did, and then reads it anew.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        read_only: bool = False,
        durability: str = "full",
        timeout: float = 30.0,
        vfs: str | None = None,
    ) -> None:
        self.network: str | None = None
        self.frozen = False
        self._place = str(Path(path).absolute())
        self._vfs = vfs
        self._durability = durability
        self._parted = False  # whether the connection was given up and has to be opened again
        self._unusable = False  # whether it was inherited from a parent in mid-write
        self._seen: Identity | None = None
        self._beside: dict[str, Identity | None] = {}
        _settle_others(self._place)
        super().__init__(path, read_only=read_only, durability=durability, timeout=timeout, vfs=vfs)
        _OPEN.add(self)
        if self.network:
            self._tell()

    def _connect(self, vfs: str | None) -> apsw.Connection:
        """Open the file that has the name now."""
        kind = file_system(Path(self._place))
        self.network = kind if kind in NETWORK else None
        for _ in range(ATTEMPTS):
            before = identity(self._place)
            if before in _TAINTED:
                raise _tainted(self.name)
            db = self._open(vfs)
            self._seen = self._look()
            if before is not None and self._seen is not None and self._seen[:2] == before:
                return db
            db.close()
        raise StorageError(f"{self.name} is replaced or removed again and again; try again when that has ended")

    def _open(self, vfs: str | None) -> apsw.Connection:
        db = super()._connect(vfs)
        self.frozen = False
        try:
            if db.readonly("main") and not self.read_only:
                raise ReadOnlyStore(
                    f"{self.name} is read-only for this user, so it can't be written; open it with read_only=True"
                )
            if self.network:
                db.pragma("locking_mode", "exclusive")
            if self.read_only:
                db.pragma("application_id")
                db.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.IOError) as error:
            db.close()
            if not self.read_only or has_log(self._place):
                raise self._no_room(error) from error
            return self._open_frozen(vfs)
        except apsw.BusyError as error:
            db.close()
            raise self._busy(error) from error
        except BaseException:
            db.close()
            raise
        return db

    def _open_frozen(self, vfs: str | None) -> apsw.Connection:
        """Open a file in a folder where SQLite can't make the memory that it shares with other processes."""
        self.frozen = True
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        return apsw.Connection(f"{Path(self._place).as_uri()}?immutable=1", flags=flags, vfs=vfs)

    def _busy(self, error: apsw.BusyError) -> Exception:
        if not self.network:
            return error
        return StoreBusy(
            f"{self.name} is open in another process, and on a network folder ({self.network}) one at a time can "
            "have it. Close it there, or move the store to a folder of this machine"
        )

    def _no_room(self, error: apsw.Error) -> StorageError:
        if self.read_only:
            return StorageError(
                f"{self.name} has writes in a log beside it, which can't be read where the folder can't be written "
                f"({error}). Open and close it once where it can be, or copy it with its -wal file to a folder of yours"
            )
        return StorageError(
            f"{self.name} can't be opened for writing ({error}): its log stands beside it, so the folder has to be "
            "writable too. Change that, or open it with read_only=True"
        )

    def _prepare(self, synchronous: str) -> None:
        try:
            super()._prepare(synchronous)
            if not self.read_only:
                mode = "truncate" if self.network else "wal"
                if self.connection.pragma("journal_mode") != mode:
                    self.connection.pragma("journal_mode", mode)
                if self.network:
                    # The lock is kept from here on, so that a second process hears of it at once.
                    self.connection.execute("BEGIN EXCLUSIVE; COMMIT")
        except apsw.BusyError as error:
            raise self._busy(error) from error
        except (apsw.CantOpenError, apsw.ReadOnlyError) as error:
            raise self._no_room(error) from error
        self._beside = {end: identity(self._place + end) for end in BESIDE}

    def _tell(self) -> None:
        if self._place not in _TOLD:
            _TOLD.add(self._place)
            warnings.warn(
                f"{self.name} is on a network folder ({self.network}), where processes can't share a store: it is "
                "open for this process alone, with a rollback journal",
                UserWarning,
                stacklevel=4,
            )

    @property
    def sharing(self) -> str:
        """Who else may have the file open, in a few words."""
        if self.network:
            return f"this process alone ({self.network})"
        return "read as a file that nobody writes" if self.frozen else "any process of this machine"

    def _look(self) -> Identity | None:
        try:
            return version(self._place) if self.frozen else identity(self._place)
        except OSError as error:
            raise StorageError(f"{self.name} can't be reached ({error}); check its folder") from error

    def settle(self) -> bool:
        """Make sure that the connection is this process's own, and to the file that has the name now.

        Returns
        -------
        bool
            True where that is another file than before, so that all that was read of it has to be read again.

        Raises
        ------
        StorageError
            If no file has the name.
        CorruptStore
            If another one has it that is no store.
        StoreError
            In a forked child that can't have a connection of its own.
        """
        found = self._look()
        if found == self._seen and not self._parted and not self._unusable:
            return False
        if self._unusable:
            raise _tainted(self.name)
        if self.connection_is_busy:
            raise FileReplaced(f"{self.name} was replaced or removed within a write, which wasn't kept")
        if found is None:
            raise StorageError(
                f"{self.name} isn't there any more: it was moved or removed while it was open. Nothing is written to "
                "it; put it back, or open a backup"
            )
        before = self._seen
        with self.lock, translated(self.name):
            if not self._parted:
                self._part()
            self._open_again()
        return self._seen != before

    @property
    def connection_is_busy(self) -> bool:
        """Whether a transaction is open."""
        return not self._parted and self.connection.in_transaction

    def _open_again(self) -> None:
        if not is_there(Path(self._place)):
            raise StorageError(f"{self.name} isn't there any more; put it back, or open a backup")
        self.connection = self._connect(self._vfs)
        try:
            self._prepare(DURABILITY[self._durability])
        except BaseException:
            self.connection.close()
            self._parted = True
            raise
        self._parted = False

    def _part(self) -> None:
        """Give up the connection to a file that has lost its name, and take its log away from the name.

        SQLite would read the log beside a file as that file's. What is in it goes where it belongs first, for
        the old file may live on under another name.
        """
        db = self.connection
        if any(identity(self._place + end) == kept is not None for end, kept in self._beside.items()):
            if self.read_only:
                if has_log(self._place):
                    raise StorageError(
                        f"{self.name} was replaced while the log of the file before still stands beside it. Close "
                        "the store wherever it is open, and remove the -wal file"
                    )
            elif not self.network:
                self._take_log(db)
        db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        db.close()
        self._parted = True

    def _take_log(self, db: apsw.Connection) -> None:
        busy = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()[0][0]
        if busy:
            raise StoreBusy(f"{self.name} was replaced, and another process still reads the file before; try again")
        db.execute("BEGIN IMMEDIATE")  # of all processes that had the file before, one at a time
        try:
            for end, kept in self._beside.items():
                if kept is not None and identity(self._place + end) == kept:
                    Path(self._place + end).unlink(missing_ok=True)
        finally:
            db.execute("ROLLBACK")

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Hold the write lock over a block: all of its writes are kept, or none."""
        with super().transaction():
            # Whoever waited for the lock may have waited on a file that was replaced meanwhile.
            if self._look() != self._seen:
                raise FileReplaced(
                    f"{self.name} was replaced or removed while it was open; nothing was written to the file before"
                )
            yield

    @contextlib.contextmanager
    def patience(self, seconds: float) -> Iterator[None]:
        """Wait for other processes no longer than this within a block."""
        if self._parted:
            raise FileReplaced(f"{self.name} was replaced or removed while it was open")
        with super().patience(seconds):
            yield

    def forked(self) -> None:
        """Give up the connection that was inherited; call it in a forked child, before it does anything else.

        SQLite's books of who holds which lock are the parent's. Closing without a checkpoint touches nothing
        that the parent shares. In mid-write that can't be done, and the child can't have the file at all.
        """
        try:
            if self.connection.txn_state() == apsw.SQLITE_TXN_WRITE:
                self._spoil()
                return
            self.connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            self.connection.close(True)
            self._parted = True
        except apsw.ConnectionClosedError:
            pass  # the parent had closed it, or given it up
        except apsw.ThreadingViolationError:  # another thread of the parent was using it
            self._spoil()

    def _spoil(self) -> None:
        self._unusable = True
        if self._seen is not None:
            _TAINTED.add(self._seen[:2])
        _keep_forever(self.connection)

    def close(self) -> None:
        """Close the file; closing twice is fine."""
        if self._unusable:
            return
        with self.lock, translated(self.name):
            try:
                if not (self._parted or self.closed or self.read_only) and self._look() != self._seen:
                    self._part()
            finally:
                self.connection.close()

    @property
    def closed(self) -> bool:
        """Whether the connection was closed."""
        try:
            self.connection.txn_state()
        except apsw.ConnectionClosedError:
            return True
        return False


def come_to_rest(journal: Journal) -> None:
    """Undo what another thread was writing in a journal in memory; call it in a forked child, which has a copy.

    Parameters
    ----------
    journal : Journal
        In memory. Where SQLite itself was at work in another thread, each use of it raises StoreError.
    """
    try:
        if journal.connection.in_transaction:
            journal.connection.execute("ROLLBACK")
    except apsw.ConnectionClosedError:
        pass
    except apsw.ThreadingViolationError:
        _keep_forever(journal.connection)


def _keep_forever(connection: apsw.Connection) -> None:
    """Never close a connection, not even when Python ends."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))


def _settle_others(place: str) -> None:
    """Have the other stores of this process give up what had a file's name before, with the log they left there."""
    for other in list(_OPEN):
        if other._place != place or other.frozen:
            continue
        if not other.lock.acquire(timeout=PATIENCE):
            raise StoreBusy(f"{place} is in use by another thread for more than {PATIENCE:g} s; try again")
        try:
            at_rest = not (other._parted or other._unusable or other.closed or other.connection_is_busy)
            if at_rest and other._look() != other._seen:
                other._part()
        finally:
            other.lock.release()


def _tainted(name: str) -> StoreError:
    return StoreError(
        f"{name} was being written when this process was forked, so it can't be used here. Start processes by "
        "'spawn' or 'forkserver', or fork when no other thread uses the store"
    )


_OPEN: "weakref.WeakSet[SharedJournal]" = weakref.WeakSet()
_TOLD: set[str] = set()  # files on network folders that the user was warned of
_TAINTED: set[Identity] = set()  # files that this process can't open any more

__all__ = ["FileReplaced", "SharedJournal", "come_to_rest"]
