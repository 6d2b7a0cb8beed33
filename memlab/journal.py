"""The journal: one SQLite file that is the truth, reached through apsw.

apsw bundles a current SQLite; the standard library's is often older than 3.51.3, whose WAL-reset bug can damage
a file that several connections write and checkpoint. Every write is one transaction that changes the tables of
what is the case and appends to the log; a commit that returned is on disk (durability ``"full"``) or survives
the death of the process (``"normal"``). Nobody opens the file but SQLite: reading it as bytes in a process that
has it open drops SQLite's locks.
"""

import os
import uuid
from collections.abc import Iterable, Iterator, Sequence
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
    NewerStore,
    ReadOnlyStore,
    StorageError,
    StoreBusy,
)
from memlab.journal_rows import from_log, log_values, to_sql, where_clause
from memlab.journal_schema import (
    APPLICATION_ID,
    FLAG_COLUMNS,
    JSON_COLUMNS,
    MIGRATIONS,
    SCHEMA,
    SCHEMA_VERSION,
    TABLES,
)
from memlab.values import loads

DURABILITY = {"full": "FULL", "normal": "NORMAL"}


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Turn SQLite's errors into memlab's, naming the file and the way out."""
    try:
        yield
    except (apsw.BusyError, apsw.LockedError) as error:
        raise StoreBusy(
            f"{path} is being written by another process and stayed locked beyond the timeout; "
            "try again, or open it with a longer timeout"
        ) from error
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise CorruptStore(
            f"{path} is damaged or isn't a memlab store ({error}); nothing was changed. "
            "Keep the file, and open a backup or run `memlab check` on a copy"
        ) from error
    except apsw.ReadOnlyError as error:
        raise ReadOnlyStore(f"{path} can't be written: the file or its folder is read-only") from error
    except (apsw.FullError, apsw.IOError, apsw.CantOpenError, apsw.PermissionsError) as error:
        raise StorageError(
            f"{path}: the disk refused ({error}); nothing of this write was kept. "
            "Check free space, permissions and that the folder exists"
        ) from error


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

    Attributes
    ----------
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
    ) -> None:
        if durability not in DURABILITY:
            raise InvalidArgument(f"durability is {durability!r}; it is 'full' or 'normal'")
        if not timeout >= 0:
            raise InvalidArgument(f"timeout is {timeout!r}; give seconds, from 0 up")
        self.path = None if path is None else Path(path).absolute()
        self.name = str(self.path or "the store in memory")
        self.read_only = read_only
        self.timeout = timeout
        if self.path is not None and not self.path.exists():
            self._make(self.path)
        with translated(self.name):
            self.connection = self._connect()
            self._prepare(DURABILITY[durability])

    def _make(self, path: Path) -> None:
        """Make a new file beside its place and move it there whole, so that a half-made one never shows."""
        if self.read_only:
            raise StorageError(f"{path} doesn't exist, so it can't be opened read-only; check the path")
        if not path.parent.is_dir():
            raise StorageError(f"{path.parent} isn't a folder; make it first, or check the path")
        draft = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
        with translated(str(path)):
            try:
                db = apsw.Connection(str(draft))
                db.pragma("journal_mode", "wal")
                _lay_out(db)
                db.close()
                os.link(draft, path)
            except FileExistsError:
                pass  # another process made it in the meantime: open that one
            finally:
                draft.unlink(missing_ok=True)

    def _connect(self) -> apsw.Connection:
        if self.path is None:
            db = apsw.Connection(":memory:")
            _lay_out(db)
            return db
        if self.path.is_dir() or self.path.stat().st_size == 0:
            raise CorruptStore(f"{self.path} is empty or a folder, not a memlab store; check the path")
        flags = apsw.SQLITE_OPEN_READONLY if self.read_only else apsw.SQLITE_OPEN_READWRITE
        db = apsw.Connection(str(self.path), flags=flags)
        db.set_busy_timeout(round(self.timeout * 1000))
        return db

    def _prepare(self, synchronous: str) -> None:
        db = self.connection
        if db.pragma("application_id") != APPLICATION_ID:
            raise CorruptStore(f"{self.name} is an SQLite file, but not a memlab store; check the path")
        version = db.pragma("user_version")
        if version > SCHEMA_VERSION:
            raise NewerStore(
                f"{self.name} has layout {version}, made by a newer memlab; this one reads up to "
                f"{SCHEMA_VERSION}. Upgrade memlab to open it"
            )
        if not self.read_only:
            db.pragma("synchronous", synchronous)
            db.pragma("secure_delete", "on")  # what is forgotten must not linger in free pages
            while version < SCHEMA_VERSION:
                db.execute(f"BEGIN IMMEDIATE;{MIGRATIONS[version]};PRAGMA user_version={version + 1};COMMIT")
                version += 1

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
        with translated(self.name):
            return self.connection.execute(sql, values).fetchall()

    def head(self) -> int:
        """Return the number of the newest row of the log, 0 for an empty one; takes microseconds."""
        return int(self.rows("SELECT coalesce(max(seq), 0) FROM log")[0][0])

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Hold the write lock over a block: all of its writes are kept, or none."""
        if self.read_only:
            raise ReadOnlyStore(f"{self.name} was opened read-only; open it without read_only=True to write")
        with translated(self.name):
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.connection.execute("COMMIT")
            except BaseException:
                # SQLite itself rolls back on a full disk; asking twice would be an error of its own.
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise

    def append(self, changes: Sequence[Change], time: int) -> list[Change]:
        """Apply changes to the tables and write them to the log; call it inside a transaction.

        Parameters
        ----------
        changes : sequence of Change
            In order.
        time : int
            Microseconds since 1970.

        Returns
        -------
        list of Change
            The same, numbered.
        """
        if not changes:
            return []
        # Not head(): what was purged from the end of the log must not lend its numbers to what comes.
        first = 1 + self.rows("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name='log'")[0][0]
        numbered = [replace(change, seq=first + i, change=first, time=time) for i, change in enumerate(changes)]
        self.connection.executemany("INSERT INTO log VALUES (?,?,?,?,?,?,?,?,?,?,?)", (log_values(c) for c in numbered))
        for (kind, made, removed), group in groupby(
            numbered, key=lambda c: (c.kind, c.before is None, c.after is None)
        ):
            if made and removed:
                continue  # only a word in the log, such as that something was forgotten
            self._apply(kind, made, removed, list(group))
        return numbered

    def _apply(self, kind: str, made: bool, removed: bool, changes: list[Change]) -> None:
        table, columns = TABLES[kind]
        if made:
            marks = ",".join("?" * len(columns))
            sql = f"INSERT INTO {table} ({','.join(columns)}) VALUES ({marks})"
            self.connection.executemany(sql, ([to_sql(c.after[n]) for n in columns] for c in changes if c.after))
            return
        for change in changes:
            where, key = where_clause(change, columns[0])
            if removed:
                self.connection.execute(f"DELETE FROM {table} WHERE {where}", key)
            elif change.after:
                sets = ",".join(f"{name}=?" for name in change.after)
                values = [*map(to_sql, change.after.values()), *key]
                self.connection.execute(f"UPDATE {table} SET {sets} WHERE {where}", values)

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
        """
        table, columns = TABLES[kind]
        order = "rowid" if kind != "relation" else "name"
        with translated(self.name):
            for values in self.connection.execute(f"SELECT {','.join(columns)} FROM {table} ORDER BY {order}"):
                yield self._plain(dict(zip(columns, values, strict=True)), table)

    def _plain(self, row: dict[str, Any], table: str) -> dict[str, Any]:
        try:
            for name in JSON_COLUMNS & row.keys():
                row[name] = loads(row[name])
            for name in FLAG_COLUMNS & row.keys():
                row[name] = {0: False, 1: True}[row[name]]
        except (ValueError, TypeError, KeyError) as error:
            first = next(iter(row.values()))
            raise CorruptStore(
                f"{self.name}: the row {first!r} of {table} is damaged ({error}); the others are readable. "
                "Restore it from a backup"
            ) from error
        return row

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
        sql = (
            "SELECT seq,change,time,actor,verb,kind,key,relation,other,before,after FROM log "
            f"WHERE {where} ORDER BY seq {order}"
        )
        return [from_log(row) for row in self.rows(sql, values)]

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
        sql = "SELECT 1 FROM log WHERE key=? AND kind='memory' LIMIT 1"
        return {memory_id for memory_id in memory_ids if self.rows(sql, (memory_id,))}

    def truncate_wal(self) -> bool:
        """Move the write-ahead log into the file and empty it.

        Returns
        -------
        bool
            False where another process's reading keeps it from being emptied now.
        """
        if self.path is None:
            return True
        with translated(self.name):
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
        """Ask SQLite to check the whole file.

        Returns
        -------
        list of str
            What is wrong; empty for a sound file.
        """
        try:
            found = [str(row[0]) for row in self.rows("PRAGMA integrity_check")]
        except MemlabError as error:
            return [str(error)]
        return [] if found == ["ok"] else found

    def close(self) -> None:
        """Close the file; closing twice is fine."""
        with translated(self.name):
            self.connection.close()


def _lay_out(db: apsw.Connection) -> None:
    db.execute(
        f"BEGIN IMMEDIATE; {SCHEMA} PRAGMA application_id={APPLICATION_ID};PRAGMA user_version={SCHEMA_VERSION}; COMMIT"
    )
    db.execute("INSERT INTO meta VALUES ('file_id', ?)", (str(uuid.uuid4()),))
