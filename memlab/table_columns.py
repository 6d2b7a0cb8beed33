"""Columns of the memory table: buffers that grow, and frames that never share writable memory with them.

A pandas frame built on numpy views of the store's buffers can write into the store, so numbers are copied out;
texts stand in sealed Arrow chunks, which nothing can change, and are shared.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from memlab.times import to_micros

NOT_A_TIME = np.iinfo(np.int64).min
CHUNK = 4096  # texts in a sealed chunk: an edit rebuilds one chunk, an addition only the last


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
        self._values.put(slot, 0 if value is None else value)
        if self._absent is not None:
            self._absent.put(slot, value is None)

    def series(self, n: int, slots: npt.NDArray[np.intp] | None) -> Any:
        """Copy the column out as pandas holds it.

        Parameters
        ----------
        n : int
            How many slots there are.
        slots : ndarray of int, optional
            Which ones; None for all.

        Returns
        -------
        pandas array
            With memory of its own.
        """
        values = _pick(self._values.first(n), slots)
        if self._absent is None:
            return values
        return pd.arrays.IntegerArray(values, _pick(self._absent.first(n), slots))


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

    def micros(self, n: int) -> npt.NDArray[np.int64]:
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

    def series(self, n: int, slots: npt.NDArray[np.intp] | None) -> Any:
        """Copy the column out as ``datetime64[us, UTC]``.

        Parameters
        ----------
        n : int
            How many slots there are.
        slots : ndarray of int, optional
            Which ones; None for all.

        Returns
        -------
        pandas array
            With memory of its own.
        """
        return pd.DatetimeIndex(_pick(self._values.first(n), slots).view("M8[us]")).tz_localize("UTC")


class Texts:
    """A column of texts, kept as sealed Arrow chunks of :data:`CHUNK` and a tail.

    Parameters
    ----------
    value : callable
        Slot to text or None.
    """

    def __init__(self, value: Callable[[int], str | None]) -> None:
        self._value = value
        self._chunks: dict[int, Any] = {}

    def put(self, slot: int, value: str | None) -> None:
        """Note that a slot's text is new.

        Parameters
        ----------
        slot : int
            Where.
        value : str or None
            Not kept here: the rows hold it.
        """
        self._chunks.pop(slot // CHUNK, None)

    def series(self, n: int, slots: npt.NDArray[np.intp] | None) -> Any:
        """Give the column as pandas' ``str`` type; missing texts are NaN.

        Parameters
        ----------
        n : int
            How many slots there are.
        slots : ndarray of int, optional
            Which ones; None for all.

        Returns
        -------
        pandas array
            On Arrow memory that nothing can change.
        """
        import pyarrow as pa

        for at in range((n + CHUNK - 1) // CHUNK):
            size = min(CHUNK, n - at * CHUNK)
            if len(self._chunks.get(at, ())) != size:
                texts = [self._value(slot) for slot in range(at * CHUNK, at * CHUNK + size)]
                self._chunks[at] = pa.array(texts, type=pa.large_string())
        chunks = [self._chunks[at] for at in range((n + CHUNK - 1) // CHUNK)]
        whole = pa.chunked_array(chunks, type=pa.large_string())
        if slots is not None:
            whole = whole.take(pa.array(slots))
        return pd.array(whole, dtype=pd.StringDtype("pyarrow", na_value=np.nan))


class Objects:
    """A column of unchangeable Python values, such as tags and metadata.

    Parameters
    ----------
    None
    """

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

    def series(self, n: int, slots: npt.NDArray[np.intp] | None) -> Any:
        """Copy the column out.

        Parameters
        ----------
        n : int
            How many slots there are.
        slots : ndarray of int, optional
            Which ones; None for all.

        Returns
        -------
        ndarray of object
            With memory of its own.
        """
        return _pick(self._values.first(n), slots)


def _pick(values: npt.NDArray[Any], slots: npt.NDArray[np.intp] | None) -> npt.NDArray[Any]:
    return values.copy() if slots is None else values[slots]


class Coded:
    """A column for filters: each slot's code, and what the codes stand for.

    A condition is then asked once of each distinct value, whatever its type, and looked up for all slots.

    Parameters
    ----------
    value : callable
        Slot to value; values must be JSON or unchangeable Python.
    """

    def __init__(self, value: Callable[[int], Any]) -> None:
        self._value = value
        self._codes = Buffer("int32")
        self._index: dict[Any, int] = {}
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
            code = self._index.setdefault(key, len(self.values))
            if code == len(self.values):
                self.values.append(value)
            self._codes.put(slot, code)

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
