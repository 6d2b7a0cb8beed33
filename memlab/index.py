"""The dense index: unit vectors of one space, searched exactly.

The store owns one float32 matrix; a memory has a row for each window of its text and is scored by its best one.
Deleting moves the last row into the gap, so the matrix never holds a dead row. For unit vectors the inner
product is the cosine, clipped to [-1, 1] against rounding.

:meth:`DenseIndex.scores` is exact: a cosine has the same digits whatever else is scored beside it. A batch is
first scored roughly by :meth:`DenseIndex.scan`, as one matrix product, which is several times faster, and whose
last digits depend on the size of the batch and the place of the row: it says how far off it can be.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from memlab.errors import EncoderMismatch, EncoderOutput, InvalidArgument
from memlab.scan import Scan

if TYPE_CHECKING:
    import faiss

Vectors = npt.NDArray[np.float32]
Slots = npt.NDArray[np.intp]
Span = tuple[int, int]
# Below this share of wanted rows, reading them one by one costs less than scoring all.
GATHER = 0.3
# For fewer numbers FAISS has other kernels for all rows than for some, whose last digits differ.
NARROW = 16
# What a slot has in the place of a row's number.
ABSENT, SILENT, MANY = -1, -2, -3
# Multiplications in one product of matrices: up to a million OpenBLAS copies neither of them, a sixth faster.
PRODUCT = 1_000_000
KNOWN = 4  # arrays of slots whose rows are kept
LEAST = 16  # rows in such a product; many queries at once make it larger
BLOCKS = 50  # such products at a time, so that the result is turned round while it is in the cache


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
        self._size = 0
        self._row = np.full(64, ABSENT, dtype=np.int64)  # by slot: its row
        self._many: dict[int, list[int]] = {}  # of memories with more than one window: their rows
        self._spans: dict[int, list[Span]] = {}  # and the characters that each holds
        self._known: dict[int, tuple[Slots, Slots | None, Slots | None]] = {}  # by the id of an array of slots

    @classmethod
    def of(cls, slots: Sequence[int], matrix: Vectors) -> "DenseIndex":
        """Make an index of many memories at once, each with one window.

        Parameters
        ----------
        slots : sequence of int
            Where they stand, all distinct.
        matrix : ndarray of float32, shape (at least len(slots), dimension)
            Their unit rows, in the same order; it becomes the index's own, what follows them is room to grow.

        Returns
        -------
        DenseIndex
            As :meth:`add` would make it of the same in the order of their slots.

        Raises
        ------
        EncoderOutput
            If a number isn't finite.
        """
        owners = np.array(slots, dtype=np.int64)
        if (np.diff(owners) < 0).any():
            order = np.argsort(owners, kind="stable")
            owners, matrix[: len(owners)] = owners[order], matrix[order]
        index = cls(matrix.shape[1])
        index._reserve(0, int(owners[-1]) + 1 if len(owners) else 0)
        sums = np.einsum("ij->i", matrix[: len(owners)])
        if not np.isfinite(sums).all():
            raise EncoderOutput("vectors hold NaN or infinity; the encoder is broken, nothing was added")
        silent = np.flatnonzero(sums == 0)
        silent = silent[~matrix[silent].any(axis=1)]
        kept = np.delete(np.arange(len(owners)), silent)
        if len(silent):
            matrix[: len(kept)] = matrix[kept]
        index._row[owners] = SILENT
        index._row[owners[kept]] = np.arange(len(kept))
        index._matrix, index._owner = matrix, np.zeros(len(matrix), dtype=np.int64)
        index._owner[: len(kept)] = owners[kept]
        index._count, index._size = len(kept), len(owners)
        return index

    def __len__(self) -> int:
        return self._size

    def __contains__(self, slot: int) -> bool:
        return 0 <= slot < len(self._row) and self._row[slot] != ABSENT

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
        EncoderOutput
            If a number isn't finite.
        InvalidArgument
            If a slot is taken or given twice, or the three aren't equally long.

        Notes
        -----
        All is checked before the first vector is written: after an error the index is as it was.
        """
        if not len(slots) == len(vectors) == len(spans) == len(set(slots)) or any(slot in self for slot in slots):
            raise InvalidArgument("slots must be new and distinct, with one matrix and one list of spans each")
        for matrix, parts in zip(vectors, spans, strict=True):
            if matrix.ndim != 2 or matrix.shape[1] != self.dimension:
                raise EncoderMismatch(f"vectors have the shape {matrix.shape}; expected (windows, {self.dimension})")
            if len(matrix) != len(parts):
                raise InvalidArgument(f"{len(matrix)} vectors for {len(parts)} windows; expected one each")
            if not np.isfinite(matrix).all():
                raise EncoderOutput("vectors hold NaN or infinity; the encoder is broken, nothing was added")
        speaks = [np.any(matrix != 0, axis=1) for matrix in vectors]
        self._known.clear()
        self._reserve(self._count + sum(int(rows.sum()) for rows in speaks), max(slots, default=0) + 1)
        for slot, matrix, kept, parts in zip(slots, vectors, speaks, spans, strict=True):
            begin, end = self._count, self._count + int(kept.sum())
            self._matrix[begin:end] = matrix[kept]
            self._owner[begin:end] = slot
            self._row[slot] = MANY if len(matrix) > 1 else begin if end > begin else SILENT
            if len(matrix) > 1:
                self._many[slot] = list(range(begin, end))
                self._spans[slot] = [part for part, keep in zip(parts, kept, strict=True) if keep]
            self._count, self._size = end, self._size + 1

    def remove(self, slot: int) -> None:
        """Take a memory's vectors out; a slot that isn't there is left alone.

        Parameters
        ----------
        slot : int
            The memory's slot.
        """
        if slot not in self:
            return
        self._known.clear()
        rows = self._rows_of(slot)
        self._row[slot] = ABSENT
        self._many.pop(slot, None)
        self._spans.pop(slot, None)
        self._size -= 1
        for row in sorted(rows, reverse=True):
            last = self._count - 1
            if row != last:
                moved = int(self._owner[last])
                self._matrix[row] = self._matrix[last]
                self._owner[row] = moved
                if moved in self._many:
                    self._many[moved] = [row if at == last else at for at in self._many[moved]]
                else:
                    self._row[moved] = row
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
        return self._matrix[self._rows_of(slot)]

    def scores(self, queries: Vectors, slots: Slots) -> Vectors:
        """Score memories by their best window.

        Parameters
        ----------
        queries : ndarray of float32, shape (q, dimension)
            Unit rows; a zero row scores nothing.
        slots : ndarray of int, shape (n,)
            The memories to score.

        Returns
        -------
        ndarray of float32, shape (q, n)
            Cosines in [-1, 1]; NaN where there is no evidence. Equal vectors score alike wherever they stand,
            whatever else is asked or scored.

        Raises
        ------
        EncoderMismatch
            If the queries have another shape.
        EncoderOutput
            If a number isn't finite.
        """
        self._check(queries)
        out = np.full((len(queries), len(slots)), np.nan, dtype=np.float32)
        rows, places = self._rows_at(slots)
        for line, query in zip(out, queries, strict=True):
            if not query.any():
                continue
            if places is None:
                line[:] = self._products(query, rows)
            else:
                np.fmax.at(line, places, self._products(query, rows))
        return out

    def scan(self, queries: Vectors, slots: Slots) -> Scan:
        """Score memories roughly, for many queries at once.

        Parameters
        ----------
        queries : ndarray of float32, shape (q, dimension)
            Unit rows.
        slots : ndarray of int, shape (n,)
            The memories to score.

        Returns
        -------
        Scan
            Cosines of those that have a vector, and how far they can be from those of :meth:`scores`: not at all
            for one query.

        Raises
        ------
        EncoderMismatch, EncoderOutput
            As :meth:`scores`.
        """
        self._check(queries)
        rows, places = self._rows_at(slots)
        if len(queries) == 1:
            return Scan.of(self._products(queries[0], rows)[None], places, 0.0)
        count = self._count if rows is None else len(rows)
        found = np.empty((len(queries), count), dtype=np.float32)
        turned = np.ascontiguousarray(queries.T)
        step = max(LEAST, PRODUCT // max(1, turned.size))
        block = np.empty((step * BLOCKS, len(queries)), dtype=np.float32)
        for begin in range(0, count, len(block)):
            end = min(begin + len(block), count)
            part = self._matrix[begin:end] if rows is None else self._matrix[rows[begin:end]]
            whole = len(part) // step * step
            piled = part[:whole].reshape(-1, step, self.dimension)
            np.matmul(piled, turned, out=block[:whole].reshape(-1, step, len(queries)))
            np.matmul(part[whole:], turned, out=block[whole : len(part)])
            found[:, begin:end] = block[: end - begin].T
        # Sums of d products in two orders differ by about d eps of the sum of their sizes at the most, which for unit
        # vectors is 1; four times that, since rows are only nearly of length one.
        return Scan.of(found, places, 4 * self.dimension * float(np.finfo(np.float32).eps))

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

    def _check(self, queries: Vectors) -> None:
        if queries.ndim != 2 or queries.shape[1] != self.dimension:
            raise EncoderMismatch(f"queries have the shape {queries.shape}; expected (n, {self.dimension})")
        if not np.isfinite(queries).all():
            raise EncoderOutput("a query's vector holds NaN or infinity; the encoder is broken")

    def _rows_of(self, slot: int) -> list[int]:
        row = int(self._row[slot]) if slot in self else ABSENT
        return self._many[slot] if row == MANY else [row] if row >= 0 else []

    def _rows_at(self, slots: Slots) -> tuple[Slots | None, Slots | None]:
        """Give the rows of memories, None for all rows in order, and the place of the memory of each.

        There are no places where each memory has just one row. For slots that nobody can write to the answer is
        kept, since recalls ask for the same ones again and again.
        """
        known = self._known.get(id(slots))
        if known is None:
            rows, places = self._rows_looked_up(slots)
            if slots.flags.writeable:
                return rows, places
            everything = len(rows) == self._count and np.array_equal(rows, np.arange(self._count))
            # With the slots, which keeps their id from being given to another array.
            known = self._known[id(slots)] = slots, None if everything else rows, places
            if len(self._known) > KNOWN:
                del self._known[next(iter(self._known))]
        return known[1:]

    def _rows_looked_up(self, slots: Slots) -> tuple[Slots, Slots | None]:
        inside = slots < len(self._row)
        rows = self._row[slots] if inside.all() else np.where(inside, self._row[np.where(inside, slots, 0)], ABSENT)
        if not len(rows) or rows.min() >= 0:
            return rows, None
        places = np.flatnonzero(rows >= 0)
        some = [(place, row) for place in np.flatnonzero(rows == MANY) for row in self._many[int(slots[place])]]
        if not some:
            return rows[places], places
        more, others = np.array(some, dtype=np.intp).T
        order = np.argsort(np.concatenate([places, more]), kind="stable")
        return np.concatenate([rows[places], others])[order], np.concatenate([places, more])[order]

    def _products(self, query: Vectors, rows: Slots | None) -> Vectors:
        """Multiply rows by a query, one after another, so that a row's digits don't depend on the others."""
        import faiss

        query, count = np.ascontiguousarray(query, dtype=np.float32), self._count
        if rows is None and self.dimension <= NARROW:
            rows = np.arange(count)
        everything = rows is None or (len(rows) >= GATHER * count and self.dimension > NARROW)
        found = np.empty(count if everything or rows is None else len(rows), dtype=np.float32)
        out, left, right = (faiss.swig_ptr(array) for array in (found, query, self._matrix))
        if everything:
            faiss.fvec_inner_products_ny(out, left, right, self.dimension, count)  # type: ignore[attr-defined]
            found = found if rows is None else found.take(rows)
        elif rows is not None and len(rows):
            wanted = faiss.swig_ptr(np.ascontiguousarray(rows, dtype=np.int64))
            faiss.fvec_inner_products_by_idx(  # type: ignore[attr-defined]
                out, left, right, wanted, self.dimension, 1, len(rows)
            )
        return np.clip(found, -1, 1, out=found)

    def _reserve(self, rows: int, slots: int) -> None:
        """Make room for so many rows and slots."""
        if rows > len(self._matrix):
            size = max(rows, 2 * len(self._matrix))
            matrix = np.zeros((size, self.dimension), dtype=np.float32)
            matrix[: self._count] = self._matrix[: self._count]
            owner = np.zeros(size, dtype=np.int64)
            owner[: self._count] = self._owner[: self._count]
            self._matrix, self._owner = matrix, owner
        if slots > len(self._row):
            row = np.full(max(slots, 2 * len(self._row)), ABSENT, dtype=np.int64)
            row[: len(self._row)] = self._row
            self._row = row
