"""Columns of the memory table: buffers that grow, and frames that never share writable memory with them.

A pandas frame built on numpy views of the store's buffers can write into the store, so numbers are copied out;
texts stand in sealed Arrow chunks, which nothing can change, and are shared.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from memlab.records import Memory
from memlab.times import to_micros

NOT_A_TIME = int(np.iinfo(np.int64).min)
# Which slots to copy out, None for all; and memory to copy to. A frame's numbers stand in one piece of memory, cut
# into rooms: the system hands out one large piece seven times faster than a dozen middling ones.
Slots = npt.NDArray[np.intp] | None
Rooms = Iterator[npt.NDArray[Any]]
CHUNK = 1024  # slots in a sealed chunk of texts: an edit rebuilds one chunk, an addition only the last


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
    """Numbers by slot, in a numpy array that doubles when it is full.

    Parameters
    ----------
    dtype : str
        The numbers' type.
    """

    def __init__(self, dtype: str) -> None:
        self._array: npt.NDArray[Any] = np.zeros(64, dtype=dtype)

    def put(self, slot: int, value: Any) -> None:
        """Write one value.

        Parameters
        ----------
        slot : int
            At most one past the last written.
        value : object
            The value.
        """
        if slot >= len(self._array):
            grown = np.zeros(2 * len(self._array), dtype=self._array.dtype)
            grown[: len(self._array)] = self._array
            self._array = grown
        self._array[slot] = value

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

    def put(self, slot: int, value: Any) -> None:
        """Write one value.

        Parameters
        ----------
        slot : int
            Where.
        value : object
            The value, or None.
        """
        self._values.put(slot, -1 if value is None else value)
        if self._absent is not None:
            self._absent.put(slot, value is None)

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

    def series(self, n: int, slots: Slots, rooms: Rooms) -> Any:
        """Copy the column out as pandas holds it.

        Parameters
        ----------
        n : int
            How many slots there are.
        slots : ndarray of int, optional
            Which ones; None for all.
        rooms : iterator of ndarray
            Where whole numbers may be copied to.

        Returns
        -------
        pandas array
            With memory of its own.
        """
        values = _pick(self._values.first(n), slots, rooms)
        if self._absent is None:
            return values
        return pd.arrays.IntegerArray(values, _pick(self._absent.first(n), slots, rooms))


class Times:
    """A column of times, as whole microseconds."""

    def __init__(self) -> None:
        self._values = Buffer("int64")

    def put(self, slot: int, value: datetime | None) -> None:
        """Write one value.

        Parameters
        ----------
        slot : int
            Where.
        value : datetime or None
            An aware time.
        """
        self._values.put(slot, NOT_A_TIME if value is None else to_micros(value))

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

    def series(self, n: int, slots: Slots, rooms: Rooms) -> Any:
        """Copy the column out as ``datetime64[us, UTC]``.

        Parameters
        ----------
        n : int
            How many slots there are.
        slots : ndarray of int, optional
            Which ones; None for all.
        rooms : iterator of ndarray
            Where whole numbers may be copied to.

        Returns
        -------
        pandas array
            With memory of its own.
        """
        return instants(_pick(self._values.first(n), slots, rooms))


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
        self._chunks: dict[int, Any] = {}

    def put(self, slot: int, value: str | None) -> None:
        """Note that a slot's text is new, or gone.

        Parameters
        ----------
        slot : int
            Where.
        value : str or None
            Not kept here: the rows hold it.
        """
        self._chunks.pop(slot // CHUNK, None)

    def series(self, n: int, slots: Slots, rooms: Rooms) -> Any:
        """Give the column as pandas' ``str`` type; missing texts are NaN.

        Parameters
        ----------
        n : int
            How many slots there are.
        slots : ndarray of int, optional
            Not read: chunks leave empty slots out.
        rooms : iterator of ndarray
            Not taken.

        Returns
        -------
        pandas array
            On Arrow memory that nothing can change.
        """
        import pyarrow as pa

        count = -(-n // CHUNK)
        for at in range(count):
            if at not in self._chunks:
                rows = self._rows[at * CHUNK : (at + 1) * CHUNK]
                texts = [getattr(row, self._name) for row in rows if row is not None]
                self._chunks[at] = pa.array(texts, type=pa.large_string())
        whole = pa.chunked_array([self._chunks[at] for at in range(count)], type=pa.large_string())
        return pd.array(whole, dtype=pd.StringDtype("pyarrow", na_value=np.nan))


class Objects:
    """A column of unchangeable Python values, such as tags and metadata."""

    def __init__(self) -> None:
        self._values = Buffer("object")

    def put(self, slot: int, value: Any) -> None:
        """Write one value.

        Parameters
        ----------
        slot : int
            Where.
        value : object
            Frozen: it is shared with whoever holds a frame.
        """
        self._values.put(slot, value)

    def series(self, n: int, slots: Slots, rooms: Rooms) -> Any:
        """Copy the column out.

        Parameters
        ----------
        n : int
            How many slots there are.
        slots : ndarray of int, optional
            Which ones; None for all.
        rooms : iterator of ndarray
            Where whole numbers may be copied to.

        Returns
        -------
        ndarray of object
            With memory of its own.
        """
        return _pick(self._values.first(n), slots, rooms)


def _pick(values: npt.NDArray[Any], slots: Slots, rooms: Rooms) -> npt.NDArray[Any]:
    """Copy values out, those of eight bytes into the next room."""
    if values.dtype.kind not in "if":
        return values.copy() if slots is None else values[slots]
    room = next(rooms).view(values.dtype)
    if slots is None:
        np.copyto(room, values)
    else:
        np.take(values, slots, out=room, mode="clip")  # the other modes copy twice
    return room


class Coded:
    """A column for filters: each slot's code, and what the codes stand for.

    A condition is then asked once of each distinct value, whatever its type, and looked up for all slots. A value
    that no slot has any more is let go, so that nothing of a deleted memory stays here.

    Parameters
    ----------
    value : callable
        Slot to value; values must be JSON or unchangeable Python.
    absent : object
        What stands for no value.
    """

    def __init__(self, value: Callable[[int], Any], absent: Any) -> None:
        self._value, self._absent = value, absent
        self._codes = Buffer("int32")
        self._known = 0
        self._index: dict[Any, int] = {}
        self._keys: list[Any] = []
        self._counts: list[int] = []
        self._free: list[int] = []
        self.values: list[Any] = []

    def refresh(self, slots: Sequence[int]) -> None:
        """Read some slots again.

        Parameters
        ----------
        slots : sequence of int
            Those that were written since the last refresh, in order.
        """
        for slot in slots:
            value = self._value(slot)
            # repr tells True from 1 and 1 from 1.0, which Python's own equality doesn't.
            key = (type(value), value) if isinstance(value, str | int | float) else repr(value)
            code = self._index.get(key)
            if code is None:
                code = self._index[key] = self._new(key, value)
            self._counts[code] += 1
            if slot < self._known:
                self._release(int(self._codes.first(slot + 1)[slot]))
            self._codes.put(slot, code)
            self._known = max(self._known, slot + 1)

    def _new(self, key: Any, value: Any) -> int:
        if self._free:
            code = self._free.pop()
            self._keys[code], self.values[code] = key, value
            return code
        self._keys.append(key)
        self.values.append(value)
        self._counts.append(0)
        return len(self.values) - 1

    def _release(self, code: int) -> None:
        self._counts[code] -= 1
        if self._counts[code] == 0:
            del self._index[self._keys[code]]
            self._keys[code], self.values[code] = None, self._absent
            self._free.append(code)

    def codes(self, n: int) -> npt.NDArray[np.int32]:
        """Give the codes.

        Parameters
        ----------
        n : int
            How many slots there are.

        Returns
        -------
        ndarray of int32, shape (n,)
            A read-only view.
        """
        return self._codes.first(n)
