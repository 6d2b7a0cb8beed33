"""The dense index: unit vectors of one space, searched exactly.

The store owns one float32 matrix; a memory has a row for each window of its text and is scored by its best one.
Deleting moves the last row into the gap, so the matrix never holds a dead row. For unit vectors the inner
product is the cosine, clipped to [-1, 1] against rounding.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from memlab.errors import EncoderError, EncoderMismatch, InvalidArgument

if TYPE_CHECKING:
    import faiss

Vectors = npt.NDArray[np.float32]
Span = tuple[int, int]
# Below this share of selected memories, gathering their rows costs less than scoring all.
GATHER = 0.1
# Numbers in one block of batched scores: bounds memory at 64 MB.
BLOCK = 16_000_000


class DenseIndex:
    """Vectors by slot.

    Parameters
    ----------
    dimension : int
        Numbers in a vector.
    """

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._matrix: Vectors = np.zeros((64, dimension), dtype=np.float32)
        self._owner = np.zeros(64, dtype=np.int64)
        self._count = 0
        self._rows: dict[int, list[int]] = {}
        self._spans: dict[int, list[Span]] = {}  # of memories with more than one window

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, slot: int) -> bool:
        return slot in self._rows

    @property
    def rows(self) -> int:
        """How many vectors there are, windows counted one by one."""
        return self._count

    @property
    def matrix(self) -> Vectors:
        """The vectors, as a read-only view of shape (rows, dimension)."""
        view = self._matrix[: self._count]
        view.flags.writeable = False
        return view

    @property
    def owners(self) -> npt.NDArray[np.int64]:
        """The slot of each row, as a read-only view."""
        view = self._owner[: self._count]
        view.flags.writeable = False
        return view

    def add(self, slots: Sequence[int], vectors: Sequence[Vectors], spans: Sequence[Sequence[Span]]) -> None:
        """Add memories.

        Parameters
        ----------
        slots : sequence of int
            Where they stand; none of them may be in the index.
        vectors : sequence of ndarray, shape (windows, dimension)
            Unit rows. A zero row says nothing and is left out.
        spans : sequence of sequences of (int, int)
            The characters that each window holds.

        Raises
        ------
        EncoderMismatch
            If a matrix has another dimension.
        EncoderError
            If a number isn't finite.
        InvalidArgument
            If a slot is taken or given twice, or the three aren't equally long.

        Notes
        -----
        All is checked before the first vector is written: after an error the index is as it was.
        """
        if not len(slots) == len(vectors) == len(spans) == len(set(slots)) or not self._rows.keys().isdisjoint(slots):
            raise InvalidArgument("slots must be new and distinct, with one matrix and one list of spans each")
        for matrix, parts in zip(vectors, spans, strict=True):
            if matrix.ndim != 2 or matrix.shape[1] != self.dimension:
                raise EncoderMismatch(f"vectors have the shape {matrix.shape}; expected (windows, {self.dimension})")
            if len(matrix) != len(parts):
                raise InvalidArgument(f"{len(matrix)} vectors for {len(parts)} windows; expected one each")
            if not np.isfinite(matrix).all():
                raise EncoderError("vectors hold NaN or infinity; the encoder is broken, nothing was added")
        speaks = [np.any(matrix != 0, axis=1) for matrix in vectors]
        self._reserve(self._count + sum(int(rows.sum()) for rows in speaks))
        for slot, whole, kept, parts in zip(slots, vectors, speaks, spans, strict=True):
            matrix = whole[kept]
            if len(whole) > 1:
                self._spans[slot] = [part for part, keep in zip(parts, kept, strict=True) if keep]
            self._rows[slot] = list(range(self._count, self._count + len(matrix)))
            self._matrix[self._count : self._count + len(matrix)] = matrix
            self._owner[self._count : self._count + len(matrix)] = slot
            self._count += len(matrix)

    def remove(self, slot: int) -> None:
        """Take a memory's vectors out; a slot that isn't there is left alone.

        Parameters
        ----------
        slot : int
            The memory's slot.
        """
        self._spans.pop(slot, None)
        for row in sorted(self._rows.pop(slot, ()), reverse=True):
            last = self._count - 1
            if row != last:
                moved = int(self._owner[last])
                self._matrix[row] = self._matrix[last]
                self._owner[row] = moved
                rows = self._rows[moved]
                rows[rows.index(last)] = row
            self._count = last

    def vectors(self, slot: int) -> Vectors:
        """Copy a memory's vectors out, in the order of its windows.

        Parameters
        ----------
        slot : int
            The memory's slot.

        Returns
        -------
        ndarray of float32, shape (windows, dimension)
            No rows where it has none.
        """
        return self._matrix[self._rows.get(slot, [])]

    def scores(self, queries: Vectors, size: int, slots: npt.NDArray[np.intp] | None = None) -> Vectors:
        """Score memories by their best window.

        Parameters
        ----------
        queries : ndarray of float32, shape (q, dimension)
            Unit rows; a zero row scores nothing.
        size : int
            How many slots there are.
        slots : ndarray of int, optional
            The distinct memories to score, None for all; what other slots get isn't specified.

        Returns
        -------
        ndarray of float32, shape (q, size)
            Cosines in [-1, 1]; NaN where there is no evidence.

        Raises
        ------
        EncoderMismatch
            If the queries have another shape.
        EncoderError
            If a number isn't finite.
        """
        if queries.ndim != 2 or queries.shape[1] != self.dimension:
            raise EncoderMismatch(f"queries have the shape {queries.shape}; expected (n, {self.dimension})")
        if not np.isfinite(queries).all():
            raise EncoderError("a query's vector holds NaN or infinity; the encoder is broken")
        out = np.full((len(queries), size), np.nan, dtype=np.float32)
        rows: Any = slice(0, self._count)
        if slots is not None and len(slots) < GATHER * len(self):
            rows = np.array([r for slot in slots.tolist() for r in self._rows.get(slot, ())], dtype=np.intp)
        matrix, owner = self._matrix[rows], self._owner[rows]
        step = max(1, BLOCK // max(1, len(matrix)))
        for at in range(0, len(queries), step):
            block = queries[at : at + step]
            # Not BLAS, whose last digits change with the size of the batch and the place of the row: here equal
            # vectors score alike wherever they stand, and one query is faster.
            found = np.clip([np.einsum("ij,j->i", matrix, query) for query in block], -1, 1)
            found[~np.any(block != 0, axis=1)] = np.nan
            for line, values in zip(out[at : at + step], found, strict=True):
                if not self._spans:  # one row a memory
                    line[owner] = values
                else:
                    np.fmax.at(line, owner, values)
        return out

    def best_window(self, query: Vectors, slot: int) -> Span | None:
        """Say which window of a memory fits a query best.

        Parameters
        ----------
        query : ndarray of float32, shape (dimension,)
            A unit vector.
        slot : int
            A memory that is in the index.

        Returns
        -------
        (int, int) or None
            The characters it holds, None where the memory is one window; the first of equals.
        """
        spans = self._spans.get(slot)
        return spans[int(np.argmax(self.vectors(slot) @ query))] if spans else None

    def to_faiss(self) -> "faiss.IndexFlatIP":
        """Hand out the vectors as a FAISS index of their own.

        Returns
        -------
        faiss.IndexFlatIP
            Exact inner product over a copy of the rows, in the order of :attr:`owners`.
        """
        import faiss

        index = faiss.IndexFlatIP(self.dimension)
        index.add(np.ascontiguousarray(self.matrix))
        return index

    def _reserve(self, rows: int) -> None:
        if rows > len(self._matrix):
            size = max(rows, 2 * len(self._matrix))
            matrix = np.zeros((size, self.dimension), dtype=np.float32)
            matrix[: self._count] = self._matrix[: self._count]
            owner = np.zeros(size, dtype=np.int64)
            owner[: self._count] = self._owner[: self._count]
            self._matrix, self._owner = matrix, owner
