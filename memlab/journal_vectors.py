"""The vector cache: embeddings by encoder fingerprint and by the sha256 of the text they were made of.

It is a cache: a broken or missing row costs time, never a memory. So that a broken one can't be taken for a whole
one, each row carries a checksum.
"""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from memlab.journal import ASKED, Journal

Kept = tuple[bytes, str | None, bytes]


class VectorCache:
    """The vectors of one journal.

    Parameters
    ----------
    journal : Journal
        Where they are kept.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def read(self, fingerprint: str) -> Iterator[Kept]:
        """Read an encoder's vectors, but for broken rows.

        Parameters
        ----------
        fingerprint : str
            The encoder's.

        Yields
        ------
        tuple
            Key, JSON of the character spans (None for one window), float32 bytes.
        """
        sql = "SELECT key, spans, vectors, checksum FROM vectors WHERE fingerprint=?"
        yield from _sound(self._journal.stream(sql, (fingerprint,)))

    def find(self, fingerprint: str, keys: Sequence[bytes]) -> Iterator[Kept]:
        """Read the vectors of some texts, but for broken rows.

        Parameters
        ----------
        fingerprint : str
            The encoder's.
        keys : sequence of bytes
            Their keys; some may not be there.

        Yields
        ------
        tuple
            As :meth:`read` does, in no order.
        """
        for at in range(0, len(keys), ASKED):
            some = keys[at : at + ASKED]
            sql = (
                "SELECT key, spans, vectors, checksum FROM vectors "
                f"WHERE key IN ({','.join('?' * len(some))}) AND fingerprint=?"
            )
            yield from _sound(self._journal.rows(sql, (*some, fingerprint)))

    def put(self, fingerprint: str, items: Iterable[Kept]) -> None:
        """Keep vectors, in the place of broken ones; call it inside a transaction.

        Parameters
        ----------
        fingerprint : str
            The encoder's.
        items : iterable of tuple
            As :meth:`read` yields.
        """
        sql = (
            "INSERT INTO vectors (fingerprint, key, spans, vectors, checksum) VALUES (?,?,?,?,?) "
            "ON CONFLICT (key, fingerprint) DO UPDATE "
            "SET spans=excluded.spans, vectors=excluded.vectors, checksum=excluded.checksum "
            "WHERE spans IS NOT excluded.spans OR vectors<>excluded.vectors OR checksum<>excluded.checksum"
        )
        self._journal.execute_many(sql, ((fingerprint, *item, _checksum(*item[1:])) for item in items))

    def copy(self, fingerprint: str, keys: Sequence[bytes], other: Journal) -> None:
        """Copy vectors into another journal; call it inside a transaction of that one.

        Parameters
        ----------
        fingerprint : str
            The encoder's.
        keys : sequence of bytes
            Of the texts.
        other : Journal
            The other one.
        """
        VectorCache(other).put(fingerprint, self.find(fingerprint, keys))

    def broken(self) -> list[int]:
        """Find broken rows.

        Returns
        -------
        list of int
            Their numbers in the table.
        """
        rows = self._journal.stream("SELECT number, spans, vectors, checksum FROM vectors")
        return [number for number, spans, blob, checksum in rows if not _whole(spans, blob, checksum)]

    def drop(self, numbers: Iterable[int]) -> None:
        """Drop rows; call it inside a transaction.

        Parameters
        ----------
        numbers : iterable of int
            Their numbers in the table.
        """
        self._journal.execute_many("DELETE FROM vectors WHERE number=?", ((number,) for number in numbers))

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
        stale = [number for number, owner, key in rows if owner != fingerprint or key not in keys]
        self.drop(stale)
        return len(stale)


def _checksum(spans: str | None, blob: bytes) -> int:
    return zlib.crc32(blob, zlib.crc32((spans or "").encode()))


def _whole(spans: Any, blob: Any, checksum: Any) -> bool:
    """Say whether a row is as it was written: of the right types, and of its checksum."""
    return isinstance(spans, str | None) and isinstance(blob, bytes) and _checksum(spans, blob) == checksum


def _sound(rows: Iterable[tuple[Any, ...]]) -> Iterator[Kept]:
    for key, *row in rows:
        if _whole(*row):
            yield key, row[0], row[1]
