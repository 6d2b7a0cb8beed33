"""Forgetting: taking every trace of a memory from the file.

The journal runs with ``secure_delete``, so what is deleted is overwritten in the file, and emptying the write-ahead
log afterwards takes it from there.
"""

from collections.abc import Iterable

from memlab.journal import Journal
from memlab.values import dumps


def purge(journal: Journal, memory_id: str, texts: Iterable[str], keys: Iterable[bytes]) -> None:
    """Take every trace of a memory from log, telemetry and vectors; call it inside a transaction.

    Parameters
    ----------
    journal : Journal
        The store's.
    memory_id : str
        The memory.
    texts : iterable of str
        What it ever said: recalls that quote it go too.
    keys : iterable of bytes
        The keys of its vectors.
    """
    journal.connection.execute("DELETE FROM log WHERE key=? OR other=?", (memory_id, memory_id))
    journal.connection.execute("DELETE FROM access WHERE memory_id=?", (memory_id,))
    quoted = [dumps(memory_id), *texts]
    for text in quoted:
        journal.connection.execute("DELETE FROM recalls WHERE instr(hits, ?) OR instr(query, ?)", (text, text))
        journal.connection.execute("DELETE FROM calls WHERE instr(hits, ?) OR instr(arguments, ?)", (text, text))
    journal.connection.executemany("DELETE FROM vectors WHERE key=?", ((key,) for key in keys))
