"""The memory table: rows by slot, and the live pandas frame.

A memory gets the next *slot* when it comes and keeps it while the process lives; the other parts index their
arrays by it. A deleted memory's slot stays empty and is never used again.

The rows are the truth. New ones are written into the columns when a column is next read, all at once: filling
many together costs a fraction of one by one, and most memories are added long before a column is looked at.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from memlab.errors import UnknownMemory
from memlab.records import FIELDS, Memory
from memlab.table_codes import Coded
from memlab.table_columns import NOT_A_TIME, Buffer, Numbers, Objects, Texts, Times, instants, shared
from memlab.times import to_micros

_TEXTS = ("memory_id", "content", "space", "type", "role", "session_id", "content_type", "source")
_TIMES = ("happened_at", "created_at", "updated_at", "valid_from", "valid_until")
_OBJECTS = ("tags", "metadata", "aliases")
_PATHS = 32  # how many coded columns are kept: names of metadata keys come from outside and may be endless
MISSING: Any = object()  # what a filter sees where a memory lacks the field or key


class Table:
    """All memories of a store."""

    def __init__(self) -> None:
        self.rows: list[Memory | None] = []
        self.slots: dict[str, int] = {}
        self.aliases: dict[str, str] = {}
        self.version = 0
        self._filled = 0  # slots below it are in the columns
        self._alive = Buffer("bool")
        self._stamp = Buffer("int64")
        self._event = Buffer("int64")
        self._before, self._after = Buffer("int64"), Buffer("int64")
        self._columns: dict[str, Any] = {name: Texts(self.rows, name) for name in _TEXTS}
        self._columns |= {name: Times() for name in _TIMES}
        self._columns |= {name: Objects() for name in _OBJECTS}
        self._columns |= {name: Numbers("float64") for name in ("importance", "confidence")}
        self._columns |= {name: Numbers("bool") for name in ("archived", "protected")}
        self._columns["sequence"] = Numbers("int64", missing=True)
        self._coded: dict[tuple[str, ...], tuple[Coded, int]] = {}
        self._sessions: dict[tuple[str, str], dict[int, list[int]]] = {}

    def __len__(self) -> int:
        return len(self.slots)

    def __iter__(self) -> Iterator[Memory]:
        return (row for row in list(self.rows) if row is not None)

    @property
    def size(self) -> int:
        """How many slots there are, empty ones included."""
        return len(self.rows)

    def slot(self, memory_id: str) -> int:
        """Find a memory's slot.

        Parameters
        ----------
        memory_id : str
            Its id, or the id of a memory that was merged into it.

        Returns
        -------
        int
            The slot.

        Raises
        ------
        UnknownMemory
            If there is none.
        """
        slot = self.slots.get(memory_id)
        if slot is None:
            slot = self.slots.get(self.aliases.get(memory_id, ""))
        if slot is None:
            raise UnknownMemory(
                f"no memory has the id {memory_id!r}; see store.memories, or store.history for deleted ones"
            )
        return slot

    def get(self, memory_id: str) -> Memory:
        """Find a memory.

        Parameters
        ----------
        memory_id : str
            Its id, or an alias.

        Returns
        -------
        Memory
            The memory.

        Raises
        ------
        UnknownMemory
            If there is none.
        """
        return self.at(self.slot(memory_id))

    def at(self, slot: int) -> Memory:
        """Give the memory of a slot that isn't empty.

        Parameters
        ----------
        slot : int
            The slot.

        Returns
        -------
        Memory
            The memory.
        """
        row = self.rows[slot]
        if row is None:
            raise UnknownMemory(f"slot {slot} is empty")
        return row

    def put(self, memory: Memory) -> int:
        """Add a memory, or put it in the place of the one with its id.

        Parameters
        ----------
        memory : Memory
            The memory.

        Returns
        -------
        int
            Its slot.
        """
        slot = self.slots.get(memory.memory_id, len(self.rows))
        if slot == len(self.rows):
            self.rows.append(memory)
            self.slots[memory.memory_id] = slot
        else:
            self._leave(slot)
            self.rows[slot] = memory
        for alias in memory.aliases:
            self.aliases[alias] = memory.memory_id
        self.version += 1
        if slot < self._filled:
            self._write(slot, [memory])
        return slot

    def _fill(self) -> None:
        """Write the rows that came since the last time into the columns."""
        if self._filled < len(self.rows):
            self._write(self._filled, self.rows[self._filled :])
            self._filled = len(self.rows)

    def _write(self, begin: int, rows: Sequence[Memory | None]) -> None:
        """Write neighbouring rows into the columns; doing so twice is harmless."""
        for name, column in self._columns.items():
            column.write(begin, [None if row is None else getattr(row, name) for row in rows])
        self._event.write(begin, [0 if row is None else to_micros(row.event_time) for row in rows])
        self._alive.write(begin, [row is not None for row in rows])
        self._stamp.write(begin, [self.version] * len(rows))
        self._before.write(begin, [-1] * len(rows))
        self._after.write(begin, [-1] * len(rows))
        for slot, row in enumerate(rows, begin):
            if row is not None and row.session_id is not None and row.sequence is not None:
                self._join(slot, (row.space, row.session_id), row.sequence)

    def remove(self, memory_id: str) -> int:
        """Take a memory out.

        Parameters
        ----------
        memory_id : str
            Its id.

        Returns
        -------
        int
            The slot, now empty for ever.

        Raises
        ------
        UnknownMemory
            If there is none of this id; an alias doesn't do.
        """
        if memory_id not in self.slots:
            raise UnknownMemory(f"no memory has the id {memory_id!r}, so it can't be removed")
        slot = self.slots.pop(memory_id)
        self._leave(slot)
        self.rows[slot] = None
        self.version += 1
        if slot < self._filled:
            self._write(slot, [None])
        return slot

    def _join(self, slot: int, session: tuple[str, str], sequence: int) -> None:
        turns = self._sessions.setdefault(session, {})
        here = turns.setdefault(sequence, [])
        if slot not in here:
            here.append(slot)
        self._link(turns, sequence)

    def _leave(self, slot: int) -> None:
        memory = self.at(slot)
        for alias in memory.aliases:
            if self.aliases.get(alias) == memory.memory_id:
                del self.aliases[alias]
        if slot < self._filled and memory.session_id is not None and memory.sequence is not None:
            turns = self._sessions[memory.space, memory.session_id]
            turns[memory.sequence].remove(slot)
            self._link(turns, memory.sequence)
            if not turns[memory.sequence]:
                del turns[memory.sequence]
            if not turns:
                del self._sessions[memory.space, memory.session_id]

    def _link(self, turns: dict[int, list[int]], sequence: int) -> None:
        """Set the neighbours of one place in a session, and those of the places beside it."""
        # The newest is the highest slot, whatever was edited since, so that a rebuilt table says the same.
        before, here, after = (max(turns.get(sequence + step, ()), default=-1) for step in (-1, 0, 1))
        for slot in turns[sequence]:
            self._before.put(slot, before if slot == here else -1)
            self._after.put(slot, after if slot == here else -1)
        if before >= 0:
            self._after.put(before, here)
        if after >= 0:
            self._before.put(after, here)

    @property
    def adjacent(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """By slot, the slots of the turns right before and right after it in its session, -1 for none.

        Turns are neighbours where their ``sequence`` differs by one; of turns that share a session and a
        sequence only the newest has neighbours.
        """
        self._fill()
        return self._before.first(self.size), self._after.first(self.size)

    @property
    def alive(self) -> npt.NDArray[np.bool_]:
        """Which slots hold a memory: a read-only view."""
        self._fill()
        return self._alive.first(self.size)

    @property
    def event_times(self) -> npt.NDArray[np.int64]:
        """Event times in microseconds by slot: a read-only view."""
        self._fill()
        return self._event.first(self.size)

    def column(self, name: str) -> npt.NDArray[Any]:
        """Give a number, flag or time field by slot.

        Parameters
        ----------
        name : str
            Such as ``"importance"`` or ``"valid_until"`` (microseconds).

        Returns
        -------
        ndarray
            A read-only view; -1 where there is no ``sequence``,
            :data:`~memlab.table_columns.NOT_A_TIME` where there is no time.
        """
        self._fill()
        values: npt.NDArray[Any] = self._columns[name].view(self.size)
        return values

    def coded(self, path: tuple[str, ...]) -> tuple[npt.NDArray[np.int32], list[Any]]:
        """Give a field, or a place in the metadata, as codes and what they stand for.

        Parameters
        ----------
        path : tuple of str
            A field's name, or ``("metadata", key, ...)``.

        Returns
        -------
        codes : ndarray of int32
            By slot; a read-only view, good until the next call.
        values : list
            By code; :data:`MISSING` where the memory lacks it.
        """
        self._fill()
        coded, seen = self._coded.get(path) or (Coded(self._values(path), MISSING), 0)
        self._coded.pop(path, None)
        coded.refresh(np.flatnonzero(self._stamp.first(self.size) > seen).tolist())
        self._coded[path] = (coded, self.version)
        if len(self._coded) > _PATHS:
            del self._coded[next(iter(self._coded))]  # the one not asked for the longest
        return coded.codes(self.size), coded.values

    def _values(self, path: tuple[str, ...]) -> Any:
        def value(slot: int) -> Any:
            row = self.rows[slot]
            if row is None:
                return MISSING
            found = getattr(row, path[0])
            for key in path[1:]:
                if not isinstance(found, Mapping) or key not in found:
                    return MISSING
                found = found[key]
            return MISSING if found is None else found

        return value

    def frame(self, access: Mapping[str, tuple[int, int]]) -> pd.DataFrame:
        """Give all memories as a frame of the reader's own.

        Parameters
        ----------
        access : mapping
            Memory id to how often it was recalled, and when last in microseconds.

        Returns
        -------
        DataFrame
            One row a memory in the order they came; changing it changes nothing else.
        """
        self._fill()
        slots = None if len(self) == self.size else np.flatnonzero(self.alive)
        columns = {name: column.series(self.size, slots) for name, column in self._columns.items()}
        counts, last = np.zeros(len(self), dtype="int64"), np.full(len(self), NOT_A_TIME)
        if access:
            found = [(self.slots[key], *seen) for key, seen in access.items() if key in self.slots]
            places = np.array([slot for slot, _, _ in found], dtype=np.intp)
            places = places if slots is None else np.searchsorted(slots, places)
            counts[places] = [count for _, count, _ in found]
            last[places] = [at for _, _, at in found]
        columns |= {"access_count": counts, "accessed_at": instants(last)}
        return shared(pd.DataFrame({name: columns[name] for name in FIELDS}, copy=False))
