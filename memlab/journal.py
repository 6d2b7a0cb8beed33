"""The journal: one SQLite file that is the truth, reached through apsw.

apsw bundles a current SQLite; the standard library's is often older than 3.51.3, whose WAL-reset bug can damage
a file that several connections write and checkpoint. Every write is one transaction that changes the tables of
what is the case and appends to the log; a commit that returned is on disk (durability ``"full"``) or survives
the death of the process (``"normal"``). Nobody opens the file but SQLite: reading it as bytes in a process that
has it open drops SQLite's locks.
"""

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import apsw

from memlab.changes import Change
from memlab.errors import (
    CorruptStore,
    InvalidArgument,
    MemlabError,
    ReadOnlyStore,
    StorageError,
    StoreError,
)
from memlab.journal_files import is_there, lay_out, make_file, translated
from memlab.journal_migrate import migrate
from memlab.journal_rows import from_log, log_values
from memlab.journal_schema import APPLICATION_ID, TABLES
from memlab.journal_tables import (
    ADVICE,
    Totals,
    alter,
    count_up,
    counter_faults,
    insert,
    newest,
    read,
    reading,
    remove,
    totals_text,
)

DURABILITY = {"full": "FULL", "normal": "NORMAL"}
ASKED = 500  # ids in one question
LOG = "seq,change,time,actor,verb,kind,key,relation,other,before,after,checksum"
LOGGED = f"INSERT INTO log ({LOG},totals) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)"


class Journal:
    """One open store file, or one in memory.

    Parameters
    ----------
    path : str or Path, optional
        The file; made if it isn't there. None keeps everything in memory.
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
    lock : threading.RLock
        Held while the connection is used: SQLite's connections serve one thread at a time.
    connection : apsw.Connection
        The open file; for the journal's own room only.
    """

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        read_only: bool = False,
        durability: str = "full",
        timeout: float = 30.0,
        vfs: str | None = None,
    ) -> None:
        if durability not in DURABILITY:
            raise InvalidArgument(f"durability is {durability!r}; it is 'full' or 'normal'")
        if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 <= timeout <= 2_000_000:
            raise InvalidArgument(f"timeout is {timeout!r}; give seconds, from 0 up")
        self.lock = threading.RLock()
        self.path = None if path is None else Path(path).absolute()
        self.name = str(self.path or "the store in memory")
        self.read_only = read_only
        self.timeout = timeout
        if self.path is not None and not is_there(self.path):
            if read_only:
                raise StorageError(f"{self.path} doesn't exist, so it can't be opened read-only; check the path")
            make_file(self.path, lay_out)  # False: another process made it in the meantime
        with translated(self.name):
            self.connection = self._connect(vfs)
            try:
                self._prepare(DURABILITY[durability])
            except BaseException:
                self.connection.close()
                raise

    def _connect(self, vfs: str | None) -> apsw.Connection:
        if self.path is None:
            db = apsw.Connection(":memory:")
            lay_out(db)
            return db
        flags = apsw.SQLITE_OPEN_READONLY if self.read_only else apsw.SQLITE_OPEN_READWRITE
        db = apsw.Connection(str(self.path), flags=flags, vfs=vfs)
        db.set_busy_timeout(round(self.timeout * 1000))
        return db

    def _prepare(self, synchronous: str) -> None:
        db = self.connection
        if db.pragma("application_id") != APPLICATION_ID:
            raise CorruptStore(f"{self.name} is an SQLite file, but not a memlab store; check the path")
        if not self.read_only:
            db.pragma("synchronous", synchronous)
            # Four times SQLite's own 1,000 pages: the pages that every write touches are copied into the file less
            # often, each time with an fsync.
            db.pragma("wal_autocheckpoint", 4000)
            db.pragma("secure_delete", "on")  # what is forgotten must not linger in free pages
        migrate(db, self.name, self.read_only)

    @property
    def file_id(self) -> str:
        """The UUID given to the file when it was made; a replaced file has another."""
        return str(self.rows("SELECT value FROM meta WHERE key='file_id'")[0][0])

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run one query and fetch all of its rows.

        Parameters
        ----------
        sql : str
            One statement.
        values : sequence, default ()
            For its question marks.

        Returns
        -------
        list of tuple
            The rows.
        """
        with self.lock, translated(self.name):
            return self.connection.execute(sql, values).fetchall()

    def stream(self, sql: str, values: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """Run one query and give its rows one after another, so that they needn't all be in memory.

        Parameters
        ----------
        sql : str
            One statement.
        values : sequence, default ()
            For its question marks.

        Yields
        ------
        tuple
            The rows; the caller holds the lock until the last.
        """
        with translated(self.name):
            yield from self.connection.execute(sql, values)

    def head(self) -> int:
        """Return the number of the newest row of the log, 0 for an empty one; takes microseconds."""
        return int(self.rows("SELECT coalesce(max(seq), 0) FROM log")[0][0])

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Hold the write lock over a block: all of its writes are kept, or none."""
        if self.read_only:
            raise ReadOnlyStore(f"{self.name} is open for reading only; write to a store opened without read_only=True")
        with self.lock, translated(self.name, foreign=True):
            if self.connection.in_transaction:
                raise StoreError(
                    "a write was begun inside another, such as by an encoder that writes; write afterwards"
                )
            try:
                self.rows("BEGIN IMMEDIATE")
                yield
                self.rows("COMMIT")
            finally:
                # SQLite itself rolls back on a full disk; asking twice would be an error of its own.
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read within a block from one state of the file, whatever other processes write meanwhile."""
        with self.lock, translated(self.name, foreign=True):
            if self.connection.in_transaction:
                yield
                return
            try:
                self.rows("BEGIN")
                yield
            finally:
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")

    def append(self, changes: Sequence[Change], time: int, actor: str) -> list[Change]:
        """Apply changes to the tables and write them to the log; call it inside a transaction.

        Parameters
        ----------
        changes : sequence of Change
            In order.
        time : int
            Microseconds since 1970. Where the clock went back, the log's newest time is taken, so that the
            log's order is that of its times.
        actor : str
            Who writes.

        Returns
        -------
        list of Change
            The same, numbered.
        """
        if not changes:
            return []
        issued, latest, known = newest(self.connection, self.name)
        totals = known or count_up(self.connection)
        first, time = issued + 1, max(time, latest or time)
        numbered = [
            replace(change, seq=seq, change=first, time=time, actor=actor) for seq, change in enumerate(changes, first)
        ]
        with translated(self.name):
            for (kind, made, removed), group in groupby(
                numbered, key=lambda c: (c.kind, c.before is None, c.after is None)
            ):
                if made and removed:
                    continue  # only a word in the log, such as that something was forgotten
                self._apply(kind, made, removed, group, totals)
            *others, last = numbered
            if others:
                self.connection.executemany(LOGGED, map(log_values, others))
            self.connection.execute(LOGGED, log_values(last, totals_text(totals)))
        return numbered

    def _apply(self, kind: str, made: bool, removed: bool, changes: Iterable[Change], totals: Totals) -> None:
        if made:
            insert(self.connection, kind, (c.after for c in changes if c.after), totals)
        else:
            (remove if removed else alter)(self.connection, kind, changes, totals)

    def insert(self, kind: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write plain rows into the table of a kind; call it inside a transaction.

        Parameters
        ----------
        kind : str
            As for :meth:`current`.
        rows : iterable of mapping
            Plain rows.
        """
        insert(self.connection, kind, rows, count_up(self.connection))

    def current(self, kind: str) -> Iterator[dict[str, Any]]:
        """Read all rows of a kind, in the order in which they were made.

        Parameters
        ----------
        kind : {"memory", "association", "space", "relation", "encoder"}
            Which table.

        Yields
        ------
        dict
            Plain rows.

        Raises
        ------
        CorruptStore
            If a row isn't as it was written, or any are missing; once all others were given.
        """
        with translated(self.name), self.snapshot():
            yield from read(self.connection, self.stream(reading(kind)), kind, self.name)

    def changes(self, where: str = "1", values: Sequence[Any] = (), newest_first: bool = False) -> list[Change]:
        """Read the log.

        Parameters
        ----------
        where : str, default "1"
            A condition on the log's columns.
        values : sequence, default ()
            For its question marks.
        newest_first : bool, default False
            The order.

        Returns
        -------
        list of Change
            The rows that fit.
        """
        order = "DESC" if newest_first else "ASC"
        sql = f"SELECT {LOG} FROM log WHERE {where} ORDER BY seq {order}"
        found = [from_log(row, self.name) for row in self.rows(sql, values)]
        places = [change.seq for change in found]
        if places != sorted(set(places), reverse=newest_first):
            raise CorruptStore(f"{self.name} is damaged: its log is out of order; {ADVICE}")
        return found

    def knows(self, memory_ids: Iterable[str]) -> set[str]:
        """Say which ids name a memory now or did so before.

        Parameters
        ----------
        memory_ids : iterable of str
            Ids to look for.

        Returns
        -------
        set of str
            Those that were seen.
        """
        wanted = list(memory_ids)
        seen: set[str] = set()
        for at in range(0, len(wanted), ASKED):
            some = wanted[at : at + ASKED]
            sql = (
                f"WITH asked (id) AS (VALUES {','.join(['(?)'] * len(some))}) SELECT id FROM asked "
                "WHERE EXISTS (SELECT 1 FROM log WHERE key=id AND kind='memory')"
            )
            seen.update(row[0] for row in self.rows(sql, some))
        return seen

    def truncate_wal(self) -> bool:
        """Move the write-ahead log into the file and empty it.

        Returns
        -------
        bool
            False where another process's reading keeps it from being emptied now.
        """
        if self.path is None:
            return True
        with self.lock, translated(self.name):
            busy = self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()[0][0]
        return not busy

    def execute_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for many rows; call it inside a transaction.

        Parameters
        ----------
        sql : str
            One statement.
        rows : iterable of sequence
            Values for its question marks.
        """
        with translated(self.name):
            self.connection.executemany(sql, rows)

    @contextmanager
    def patience(self, seconds: float) -> Iterator[None]:
        """Wait for other processes no longer than this within a block."""
        self.connection.set_busy_timeout(round(seconds * 1000))
        try:
            yield
        finally:
            self.connection.set_busy_timeout(round(self.timeout * 1000))

    def faults(self) -> list[str]:
        """Check the whole file: its pages by SQLite, the rows of its tables and its log by their checksums.

        Returns
        -------
        list of str
            What is wrong; empty for a sound file.
        """
        try:
            found = [str(row[0]) for row in self.rows("PRAGMA integrity_check")]
            with translated(self.name):
                counted = counter_faults(self.connection)
        except MemlabError as error:
            return [str(error)]
        faults = counted if found == ["ok"] else found + counted
        for part in (*map(self.current, TABLES), self._log()):
            try:
                for _ in part:
                    pass
            except MemlabError as error:
                faults.append(str(error))
        return faults

    def _log(self) -> Iterator[Change]:
        for row in self.stream(f"SELECT {LOG} FROM log"):
            yield from_log(row, self.name)

    def close(self) -> None:
        """Close the file; closing twice is fine."""
        with self.lock, translated(self.name):
            self.connection.close()
