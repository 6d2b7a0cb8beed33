"""Copies of a store's file, made by SQLite itself while others write."""

import uuid
from pathlib import Path

import apsw

from memlab.errors import StorageError
from memlab.journal import Journal
from memlab.journal_files import make_file


def backup(journal: Journal, path: Path) -> None:
    """Copy the store to a new file while others write.

    Parameters
    ----------
    journal : Journal
        The store's.
    path : Path
        A file that doesn't exist yet.

    Raises
    ------
    StorageError
        If it exists, or can't be written.
    """

    def fill(db: apsw.Connection) -> None:
        # In one step: copying page by page would begin anew whenever another process writes.
        with db.backup("main", journal.connection, "main") as work:
            work.step(-1)
        db.pragma("journal_mode", "wal")
        db.execute("UPDATE meta SET value=? WHERE key='file_id'", (str(uuid.uuid4()),))

    if path.exists() or not make_file(path, fill):
        raise StorageError(f"{path} exists; a backup never overwrites. Give another name, or remove it first")
