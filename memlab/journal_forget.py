"""Forgetting: taking every trace of a memory from the file.

The journal runs with ``secure_delete``, so what is deleted is overwritten in the file. But when SQLite moves rows
from page to page it leaves copies of them in unused space, and these aren't. So after forgetting the file is
written anew from what is left, and the write-ahead log is emptied.
"""

from collections.abc import Iterable

from memlab.errors import StorageError, StoreBusy
from memlab.journal import Journal
from memlab.journal_tables import keep, newest
from memlab.values import dumps


def quotes(memory_id: str, texts: Iterable[str]) -> list[str]:
    """Give what telemetry holds where it speaks of a memory: its id and its texts, plain and as inside JSON.

    Parameters
    ----------
    memory_id : str
        The memory.
    texts : iterable of str
        What it ever said.

    Returns
    -------
    list of str
        What to look for.
    """
    found = [dumps(memory_id)]
    for text in texts:
        found += [text, dumps(text)[1:-1]]
    return list(dict.fromkeys(found))


def purge(journal: Journal, memory_id: str, texts: Iterable[str], keys: Iterable[bytes]) -> None:
    """Take every trace of a memory from log, telemetry and vectors; call it inside a transaction.

    Parameters
    ----------
    journal : Journal
        The store's.
    memory_id : str
        The memory.
    texts : iterable of str
        What it ever said: recalls and calls that quote it go too.
    keys : iterable of bytes
        The keys of its vectors.
    """
    connection = journal.connection
    *_, totals = newest(connection, journal.name)
    connection.execute("DELETE FROM log WHERE key=? OR other=?", (memory_id, memory_id))
    # The totals stand in the log's newest row, whichever that is now.
    if totals:
        keep(connection, totals)
    connection.execute("DELETE FROM access WHERE memory_id=?", (memory_id,))
    for text in quotes(memory_id, texts):
        connection.execute("DELETE FROM recalls WHERE instr(hits, ?1) OR instr(query, ?1)", (text,))
        connection.execute(
            "DELETE FROM calls WHERE instr(hits, ?1) OR instr(arguments, ?1) OR instr(coalesce(error, ''), ?1)", (text,)
        )
    connection.executemany("DELETE FROM vectors WHERE key=?", ((key,) for key in keys))


def scrub(journal: Journal) -> None:
    """Write the file anew, so that no unused space holds a copy of what was purged.

    Parameters
    ----------
    journal : Journal
        The store's; in no transaction.

    Raises
    ------
    StoreBusy, StorageError
        If another process keeps the file, or the disk is full; what was purged is gone for every reader, but
        may still stand in the bytes of the file.
    """
    if journal.path is None:
        return
    left = "what was forgotten is gone for every reader, but its text may still stand in unused space of the file"
    try:
        journal.rows("VACUUM")
        emptied = journal.truncate_wal()
    except StoreBusy as error:
        raise StoreBusy(f"{left}, since another process is writing ({error}); call store.forget again") from error
    except StorageError as error:
        raise StorageError(f"{left}, since it can't be written anew ({error}); then call store.forget again") from error
    if not emptied:
        raise StoreBusy(
            f"{left} or in the write-ahead log, which another process is reading; call store.forget again when it ended"
        )
