"""The vectors of texts, as the store keeps them in its file and reads them all at once into dense indexes."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from memlab.index import DenseIndex, Span
from memlab.journal_vectors import Kept
from memlab.table import Table
from memlab.values import dumps, loads

Vectors = npt.NDArray[np.float32]
TOGETHER = 512  # vectors copied in one step; SQLite's copies of them are let go after each


@dataclass(frozen=True, slots=True)
class Embedding:
    """The vectors of one text.

    Parameters
    ----------
    vectors : ndarray of float32, shape (windows, dimension)
        Unit rows, or zero.
    spans : tuple of (int, int)
        The characters of each window.
    """

    vectors: Vectors
    spans: tuple[Span, ...]

    @classmethod
    def read(cls, spans: str | None, blob: bytes, dimension: int, length: int) -> "Embedding | None":
        """Read an embedding from the cache, None where it isn't one.

        Parameters
        ----------
        spans : str or None
            JSON of the spans, None for one window.
        blob : bytes
            Little-endian float32, as it was written: the cache keeps checksums.
        dimension : int
            Numbers in a vector.
        length : int
            Of the text, in characters.

        Returns
        -------
        Embedding or None
            A cache may lose what it holds, never the text: vectors of a wrong shape are made anew.
        """
        parts = tuple((int(a), int(b)) for a, b in loads(spans)) if spans else ((0, length),)
        if len(blob) != 4 * dimension * len(parts):
            return None
        return cls(np.frombuffer(blob, dtype="<f4").reshape(len(parts), dimension), parts)

    def row(self, text: str) -> Kept:
        """Give the embedding as a row of the cache.

        Parameters
        ----------
        text : str
            Its text.

        Returns
        -------
        tuple
            Key, spans, bytes.
        """
        spans = dumps([list(span) for span in self.spans]) if len(self.spans) > 1 else None
        return text_key(text), spans, self.vectors.astype("<f4", copy=False).tobytes()


def text_key(text: str) -> bytes:
    """Name a text in the vector cache.

    Parameters
    ----------
    text : str
        A memory's text as the encoder reads it.

    Returns
    -------
    bytes
        Its sha256.
    """
    return hashlib.sha256(text.encode()).digest()


@dataclass(slots=True)
class _Filling:
    """The matrix of one space while it is read: memories of one window, in the order of the file."""

    matrix: Vectors
    slots: list[int] = field(default_factory=list)
    blobs: list[bytes] = field(default_factory=list)

    def take(self, slot: int, blob: bytes) -> None:
        self.slots.append(slot)
        self.blobs.append(blob)
        if len(self.blobs) == TOGETHER:
            self.settle()

    def settle(self) -> None:
        end = len(self.slots)
        read = np.frombuffer(b"".join(self.blobs), dtype="<f4")
        self.matrix[end - len(self.blobs) : end] = read.reshape(len(self.blobs), self.matrix.shape[1])
        self.blobs = []


def read_indexes(table: Table, kept: Iterable[Kept], dimension: int) -> tuple[dict[str, DenseIndex], set[str]]:
    """Make the dense indexes of all memories from the vectors that a cache holds.

    Parameters
    ----------
    table : Table
        The memories.
    kept : iterable of tuple
        The cache's rows; read once, none held for long.
    dimension : int
        Numbers in a vector.

    Returns
    -------
    indexes : dict of str to DenseIndex
        By space.
    missing : set of str
        Ids of the memories whose text has no vectors there.
    """
    wanted: dict[bytes, list[int]] = {}
    room: dict[str, int] = {}
    for slot, memory in enumerate(table.rows):
        if memory is not None:
            wanted.setdefault(text_key(memory.text), []).append(slot)
            room[memory.space] = room.get(memory.space, 0) + 1
    # Memory that isn't written to yet takes no room, so a matrix for all of a space costs nothing before.
    fills = {space: _Filling(np.empty((count, dimension), dtype=np.float32)) for space, count in room.items()}
    windowed: list[tuple[str, int, Embedding]] = []
    for key, spans, blob in kept:
        for slot in wanted.get(key, ()):
            memory = table.at(slot)
            if spans is None and len(blob) == 4 * dimension:
                fills[memory.space].take(slot, blob)
            elif (embedding := Embedding.read(spans, blob, dimension, len(memory.text))) is not None:
                windowed.append((memory.space, slot, embedding))
    del wanted
    indexes = {}
    for space, fill in fills.items():
        fill.settle()
        indexes[space] = DenseIndex.of(fill.slots, fill.matrix)
    for space, slot, embedding in sorted(windowed, key=lambda item: item[1]):
        indexes[space].add([slot], [embedding.vectors], [embedding.spans])
    return indexes, {
        memory.memory_id
        for slot, memory in enumerate(table.rows)
        if memory is not None and slot not in indexes[memory.space]
    }
