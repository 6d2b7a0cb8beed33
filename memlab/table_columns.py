"""Columns of the memory table: buffers that grow, and frames that never share writable memory with them.

A pandas frame built on numpy views of the store's buffers could write into the store, or change when the store
does. So what a frame shows is *lent*: the buffer is sealed, which no view of it can undo, later rows are written
past what was lent, and an edit of what was lent goes to a copy. pandas is told that the memory is shared, so that
it copies a column before it writes to it. Texts stand in Arrow chunks, which nothing can change.
"""

import operator
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from memlab.records import Memory
from memlab.times import to_micros

NOT_A_TIME = int(np.iinfo(np.int64).min)
# Which slots to copy out; None lends all.
Slots = npt.NDArray[np.intp] | None
CHUNK = 1024  # slots in a chunk of texts: an edit rebuilds one chunk
PIECE = 64  # slots in a piece of the last chunk, which isn't full yet: an addition rebuilds the last piece
# A block that never dies: pandas takes the memory of all blocks that share references with it for shared.
_STANDING = pd.DataFrame({"": [0]})._mgr.blocks[0]


def shared(frame: pd.DataFrame) -> pd.DataFrame:
    """Have pandas copy a frame's columns before it writes to them, as it does for memory that another frame has.

    Parameters
    ----------
    frame : DataFrame
        On lent memory.

    Returns
    -------
    DataFrame
        The same object.

    Notes
    -----
    pandas keeps, for each piece of memory, weak references to the blocks that look at it, and writes in place where
    there is but one. Nothing public adds to them; the tests of every way to write say whether it still works.
    """
    for block in frame._mgr.blocks:
        block.refs.add_reference(_STANDING)
    return frame


def instants(micros: npt.NDArray[np.int64]) -> Any:
    """Give microseconds since 1970 as ``datetime64[us, UTC]``, on the same memory.

    Parameters
    ----------
    micros : ndarray of int64
        Whole microseconds, :data:`NOT_A_TIME` for a missing one.

    Returns
    -------
    pandas array
        The times.
    """
    # tz_localize would copy them.
    return pd.array(micros, dtype=pd.DatetimeTZDtype("us", "UTC"), copy=False)


class Buffer:
    """Numbers by slot, in a numpy array that grows by half when it is full.

    Parameters
    ----------
    dtype : str
        The numbers' type.
    """

    def __init__(self, dtype: str) -> None:
        self._array: npt.NDArray[Any] = np.zeros(64, dtype=dtype)
        self._lent = 0

    def write(self, begin: int, values: Sequence[Any]) -> None:
        """Write values of neighbouring slots.

        Parameters
        ----------
        begin : int
            The first slot, at most one past the last written.
        values : sequence
            The values.
        """
        end = begin + len(values)
        # Not as a list, which numpy would take for a matrix where the values are tuples.
        new = np.fromiter(values, dtype=self._array.dtype, count=len(values))
        if begin < self._lent:
            if self._holds(begin, new):
                return
            self._move(max(end, len(self._array)))
        elif end > len(self._array):
            self._move(max(end, len(self._array) * 3 // 2))
        self._array.flags.writeable = True
        self._array[begin:end] = new
        self._array.flags.writeable = self._lent == 0

    def _holds(self, begin: int, values: npt.NDArray[Any]) -> bool:
        """Say whether lent values are these already; equal objects may differ, as 1 and True do."""
        old = self._array[begin : begin + len(values)]
        if old.dtype.hasobject:
            return len(old) == len(values) and all(map(operator.is_, old, values))
        return np.array_equal(old, values)

    def _move(self, size: int) -> None:
        """Go on in new memory; what was lent stays as it is."""
        grown = np.zeros(size, dtype=self._array.dtype)
        kept = min(size, len(self._array))
        grown[:kept] = self._array[:kept]
        self._array, self._lent = grown, 0

    def lend(self, n: int) -> npt.NDArray[Any]:
        """Give the first values to keep: nobody can write to them, and they stay as they are.

        Parameters
        ----------
        n : int
            How many.

        Returns
        -------
        ndarray of shape (n,)
            A view of sealed memory.
        """
        self._lent = max(self._lent, n)
        self._array.flags.writeable = self._lent == 0
        return self._array[:n]

    def put(self, slot: int, value: Any) -> None:
        """Write one value.

        Parameters
        ----------
        slot : int
            At most one past the last written.
        value : object
            The value.
        """
        if slot < len(self._array) and not self._lent:
            self._array[slot] = value
        else:
            self.write(slot, [value])

    def first(self, n: int) -> npt.NDArray[Any]:
        """Give a read-only view of the first values.

        Parameters
        ----------
        n : int
            How many.

        Returns
        -------
        ndarray of shape (n,)
            A view that can't be written.
        """
        view = self._array[:n]
        view.flags.writeable = False
        return view


class Numbers:
    """A column of numbers or flags.

    Parameters
    ----------
    dtype : str
        numpy's type; a masked pandas type where values can be missing.
    missing : bool, default False
        Whether None is a value; then the frame's column is pandas' nullable Int64.
    """

    def __init__(self, dtype: str, missing: bool = False) -> None:
        self._values = Buffer(dtype)
        self._absent = Buffer("bool") if missing else None

    def write(self, begin: int, values: Sequence[Any]) -> None:
        """Write values of neighbouring slots.

        Parameters
        ----------
        begin : int
            The first slot.
        values : sequence
            The values, or None.
        """
        self._values.write(begin, [-1 if value is None else value for value in values])
        if self._absent is not None:
            self._absent.write(begin, [value is None for value in values])

    def view(self, n: int) -> npt.NDArray[Any]:
        """Give the values; -1 where one is missing.

        Parameters
        ----------
        n : int
            How many slots there are.

        Returns
        -------
        ndarray of shape (n,)
            A read-only view.
        """
        return self._values.first(n)

    def series(self, n: int, slots: Slots) -> Any:
        """Give the column as pandas holds it.

        Parameters
        ----------
        n : int
            How many slots there are.
        slots : ndarray of int, optional
            Which ones; None for all.

        Returns
        -------
        pandas array
            On lent memory, or of its own where some were picked.
        """
        values = _pick(self._values, n, slots)
        if self._absent is None:
            return values
        return pd.arrays.IntegerArray(values, _pick(self._absent, n, slots))


class Times:
    """A column of times, as whole microseconds."""

    def __init__(self) -> None:
        self._values = Buffer("int64")

    def write(self, begin: int, values: Sequence[datetime | None]) -> None:
        """Write values of neighbouring slots.

        Parameters
        ----------
        begin : int
            The first slot.
        values : sequence of datetime or None
            Aware times.
        """
        self._values.write(begin, [NOT_A_TIME if value is None else to_micros(value) for value in values])

    def view(self, n: int) -> npt.NDArray[np.int64]:
        """Give the times as numbers; :data:`NOT_A_TIME` where there is none.

        Parameters
        ----------
        n : int
            How many slots there are.

        Returns
        -------
        ndarray of int64, shape (n,)
            A read-only view.
        """
        return self._values.first(n)

    def series(self, n: int, slots: Slots) -> Any:
        """Give the column as ``datetime64[us, UTC]``.

        Parameters
        ----------
        n : int
            How many slots there are.
        slots : ndarray of int, optional
            Which ones; None for all.

        Returns
        -------
        pandas array
            On lent memory, or of its own where some were picked.
        """
        return instants(_pick(self._values, n, slots))


class Texts:
    """A column of texts, kept as sealed Arrow arrays that each hold the memories of :data:`CHUNK` slots.

    Parameters
    ----------
    rows : list
        The table's own list of memories by slot, None where a slot is empty.
    name : str
        The field.
    """

    def __init__(self, rows: list[Memory | None], name: str) -> None:
        self._rows, self._name = rows, name
        self._chunks: dict[int, Any] = {}  # by the first slot
        self._pieces: dict[int, Any] = {}  # of the last chunk

    def write(self, begin: int, values: Sequence[str | None]) -> None:
        """Note that the texts of neighbouring slots are new, or gone.

        Parameters
        ----------
        begin : int
            The first slot.
        values : sequence of str or None
            Not kept here: the rows hold them.
        """
        for kept, size in ((self._chunks, CHUNK), (self._pieces, PIECE)):
            for at in range(begin - begin % size, begin + len(values), size):
                kept.pop(at, None)

    def series(self, n: int, slots: Slots) -> Any:
        """Give the column as pandas' ``str`` type; missing texts are NaN.

        Parameters
        ----------
        n : int
            How many slots there are.
        slots : ndarray of int, optional
            Not read: chunks leave empty slots out.

        Returns
        -------
        pandas array
            On Arrow memory that nothing can change.
        """
        import pyarrow as pa

        full = n - n % CHUNK
        if full not in self._pieces:
            self._pieces = {}  # those of a chunk that is full now
        parts = [self._arrow(self._chunks, at, CHUNK) for at in range(0, full, CHUNK)]
        parts += [self._arrow(self._pieces, at, PIECE) for at in range(full, n, PIECE)]
        whole = pa.chunked_array(parts, type=pa.large_string())
        return pd.array(whole, dtype=pd.StringDtype("pyarrow", na_value=np.nan))

    def _arrow(self, kept: dict[int, Any], begin: int, size: int) -> Any:
        """Give the texts of some slots, kept from before where none of them was written."""
        import pyarrow as pa

        if begin not in kept:
            rows = self._rows[begin : begin + size]
            kept[begin] = pa.array([getattr(row, self._name) for row in rows if row is not None], pa.large_string())
        return kept[begin]


class Objects:
    """A column of unchangeable Python values, such as tags and metadata."""

    def __init__(self) -> None:
        self._values = Buffer("object")

    def write(self, begin: int, values: Sequence[Any]) -> None:
        """Write values of neighbouring slots.

        Parameters
        ----------
        begin : int
            The first slot.
        values : sequence
            Frozen: they are shared with whoever holds a frame.
        """
        self._values.write(begin, values)

    def series(self, n: int, slots: Slots) -> Any:
        """Give the column.

        Parameters
        ----------
        n : int
            How many slots there are.
        slots : ndarray of int, optional
            Which ones; None for all.

        Returns
        -------
        ndarray of object
            On lent memory, or of its own where some were picked.
        """
        return _pick(self._values, n, slots)


def _pick(buffer: Buffer, n: int, slots: Slots) -> npt.NDArray[Any]:
    values: npt.NDArray[Any] = buffer.lend(n) if slots is None else buffer.first(n)[slots]
    return values
