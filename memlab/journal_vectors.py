"""The vector cache: embeddings by encoder fingerprint and by the sha256 of the text they were made of.

It is a cache: a broken or missing row costs time, never a memory.
"""

from collections.abc import Iterable, Iterator

from memlab.journal import Journal


class VectorCache:
    """The vectors of one journal.

    Parameters
    ----------
    journal : Journal
        Where they are kept.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def read(self, fingerprint: str) -> Iterator[tuple[bytes, str | None, bytes]]:
        """Read an encoder's vectors.

        Parameters
        ----------
        fingerprint : str
            The encoder's.

        Yields
        ------
        tuple
            Key, JSON of the character spans (None for one window), float32 bytes.
        """
        sql = "SELECT key, spans, vectors FROM vectors WHERE fingerprint=?"
        yield from self._journal.rows(sql, (fingerprint,))

    def put(self, fingerprint: str, items: Iterable[tuple[bytes, str | None, bytes]]) -> None:
        """Keep vectors; call it inside a transaction. A key that is there stays as it is.

        Parameters
        ----------
        fingerprint : str
            The encoder's.
        items : iterable of tuple
            As :meth:`read` yields.
        """
        sql = "INSERT OR REPLACE INTO vectors (fingerprint, key, spans, vectors) VALUES (?,?,?,?)"
        self._journal.execute_many(sql, ((fingerprint, *item) for item in items))

    def prune(self, fingerprint: str, keys: set[bytes]) -> int:
        """Drop all vectors but those of one encoder and some keys; call it inside a transaction.

        Parameters
        ----------
        fingerprint : str
            The encoder whose vectors stay.
        keys : set of bytes
            The keys that stay.

        Returns
        -------
        int
            How many were dropped.
        """
        rows = self._journal.rows("SELECT number, fingerprint, key FROM vectors")
        stale = [(n,) for n, owner, key in rows if owner != fingerprint or key not in keys]
        self._journal.execute_many("DELETE FROM vectors WHERE number=?", stale)
        return len(stale)
