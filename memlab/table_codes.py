"""Columns for filters: a code for each slot, and what the codes stand for."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from memlab.table_columns import Buffer


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
