"""Copies of a store's file, made by SQLite itself while others write."""

import os
import uuid
from pathlib import Path

import apsw

from memlab.errors import StorageError
from memlab.journal import Journal, translated


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
    if path.exists():
        raise StorageError(f"{path} exists; a backup never overwrites. Give another name or remove it")
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    with translated(str(path)):
        try:
            copy = apsw.Connection(str(draft))
            with copy.backup("main", journal.connection, "main") as work:
                while not work.done:
                    work.step(1000)
            copy.close()
            os.link(draft, path)
        except FileExistsError:
            raise StorageError(f"{path} exists; a backup never overwrites. Give another name") from None
        finally:
            draft.unlink(missing_ok=True)
