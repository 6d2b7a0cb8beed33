"""Bringing a store's file from an older layout to this one, and refusing what isn't a layout of memlab's."""

from functools import cache

import apsw

from memlab.errors import CorruptStore, NewerStore, ReadOnlyStore, StorageError
from memlab.journal_files import lay_out
from memlab.journal_schema import MIGRATIONS, SCHEMA_VERSION
from memlab.journal_tables import sum_up

Columns = frozenset[tuple[str, str]]
_COLUMNS = (
    "SELECT t.name, c.name FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c "
    "WHERE t.type='table' AND t.name NOT LIKE 'sqlite%'"
)


@cache
def _layout() -> Columns:
    """The tables of this layout, with their columns."""
    db = apsw.Connection(":memory:")
    lay_out(db)
    found = frozenset(db.execute(_COLUMNS))
    db.close()
    return found


def migrate(db: apsw.Connection, name: str, read_only: bool) -> None:
    """Bring a file to this layout, in one transaction, so that a step cut short leaves it as it was.

    Parameters
    ----------
    db : apsw.Connection
        The open file.
    name : str
        The file, for messages.
    read_only : bool
        Refuse an older layout instead.

    Raises
    ------
    NewerStore
        If a newer memlab made it.
    ReadOnlyStore
        If it is older, and opened for reading only.
    CorruptStore
        If it lacks a table or a column.
    """
    version = _version(db, name)
    if version < SCHEMA_VERSION:
        if read_only:
            raise ReadOnlyStore(
                f"{name} has layout {version}, made by an older memlab; copy the file, then open it once without "
                f"read_only=True to bring it to {SCHEMA_VERSION}"
            )
        db.execute("BEGIN IMMEDIATE")
        try:
            # Another process may have been first.
            for step in range(_version(db, name), SCHEMA_VERSION):
                _step(db, name, step)
            sum_up(db)
            db.execute("COMMIT")
        finally:
            if db.in_transaction:
                db.execute("ROLLBACK")
    lost = sorted(_layout() - set(db.execute(_COLUMNS)))
    if lost:
        tables = {table for table, _ in _layout()} - {table for table, _ in set(db.execute(_COLUMNS))}
        what = f"the table {', '.join(sorted(tables))}" if tables else f"the column {lost[0][1]} of {lost[0][0]}"
        raise CorruptStore(f"{name} lacks {what}, so it is damaged; nothing was changed. Open a backup instead")


def _version(db: apsw.Connection, name: str) -> int:
    version = int(db.pragma("user_version"))
    if version > SCHEMA_VERSION:
        raise NewerStore(
            f"{name} has layout {version}, made by a newer memlab; this one reads up to {SCHEMA_VERSION}. "
            "Upgrade memlab to open it"
        )
    return version


def _step(db: apsw.Connection, name: str, version: int) -> None:
    """Go from one layout to the next, within a transaction."""
    if version not in MIGRATIONS:
        raise CorruptStore(f"{name} has layout {version}, which memlab never had; nothing was changed. Open a backup")
    try:
        db.execute(MIGRATIONS[version])
        db.execute(f"PRAGMA user_version={version + 1}")
    except apsw.SQLError as error:
        raise StorageError(
            f"{name} can't be brought from layout {version} to {version + 1} ({error}); nothing was changed, and the "
            "memlab that made it still opens it. Keep a copy of the file"
        ) from error
