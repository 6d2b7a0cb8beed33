"""The pool: the memories that one recall scores, and what is kept of it from recall to recall.

Which memories are scored depends on the store, the filters and the time, not on the query. It is worked out once
and kept until a memory or an association changes, or the time passes one at which a memory begins or ceases to be
valid.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from memlab.graph import Graph
from memlab.recall.current import Links
from memlab.table import Table
from memlab.values import EMPTY

Slots = npt.NDArray[np.intp]
KEPT = 8  # things at a time: each takes some bytes for every memory of the store


@dataclass(frozen=True)  # without slots: `place` is made at the first need
class Pool:
    """The memories that are scored.

    Parameters
    ----------
    slots : ndarray of int, shape (n,)
        Candidates first, then memories of the past that only lend their score to what replaced them; each part
        rises.
    count : int
        How many of them are candidates.
    size : int
        How many slots the table has.
    replaced : mapping of int to list of int, default {}
        Place of a memory of the past to the places of the candidates that stand for it now.
    links : mapping, default {}
        What supersedes what, as :func:`memlab.recall.current.links_of` gives it.
    """

    slots: Slots
    count: int
    size: int
    replaced: Mapping[int, list[int]] = field(default_factory=dict)
    links: Links = EMPTY

    def only(self, places: Slots) -> "Pool":
        """Leave all candidates out but some.

        Parameters
        ----------
        places : ndarray of int
            Their places, rising. Nothing lends in this pool.

        Returns
        -------
        Pool
            In the order given.
        """
        return Pool(self.slots[places], len(places), self.size, {}, self.links)

    @cached_property
    def place(self) -> Slots:
        """By slot: its place among the candidates, -1 for none; the last, which index -1 reads, is -1."""
        place = np.full(self.size + 1, -1, dtype=np.intp)
        place[self.slots[: self.count]] = np.arange(self.count)
        return place

    @cached_property
    def line(self) -> Slots:
        """By slot: its place among all that are scored, -1 for none."""
        if self.count == len(self.slots):
            return self.place
        line = self.place.copy()
        line[self.slots[self.count :]] = np.arange(self.count, len(self.slots))
        return line


@dataclass(frozen=True, slots=True)
class Standing:
    """What stands at a time, whatever is asked.

    Parameters
    ----------
    scored : ndarray of bool
        By slot: whether it is current, or a memory of the past that lends.
    ends : mapping of int to tuple of str
        Slot of a memory of the past to the ids that stand for it.
    links : mapping
        What supersedes what.
    begin, end : int
        From when (inclusive) until when (exclusive) this holds, in microseconds.
    """

    scored: npt.NDArray[np.bool_]
    ends: Mapping[int, tuple[str, ...]]
    links: Links
    begin: int
    end: int


class Held:
    """What recalls of one table and one graph keep for the next one, good while both stay as they are."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, tuple[int, int, Any]] = {}
        self._versions = (-1, -1)

    def get(self, table: Table, graph: Graph, key: Hashable, at: int) -> Any:
        """Find what was kept.

        Parameters
        ----------
        table, graph : Table, Graph
            As they are now; the same two at every call.
        key : hashable
            What it is.
        at : int
            The time that is asked about, in microseconds.

        Returns
        -------
        object or None
            None where it has to be worked out.
        """
        versions = (table.version, graph.version)
        if versions != self._versions:
            self._kept, self._versions = {}, versions
        begin, end, found = self._kept.get(key, (0, 0, None))
        return found if begin <= at < end else None

    def keep(self, key: Hashable, begin: int, end: int, found: Any) -> None:
        """Keep what :meth:`get` didn't find.

        Parameters
        ----------
        key : hashable
            What it is.
        begin, end : int
            From when (inclusive) until when (exclusive) it holds, in microseconds.
        found : object
            To be handed out, never to be changed.
        """
        self._kept.pop(key, None)
        self._kept[key] = (begin, end, found)
        if len(self._kept) > KEPT:
            del self._kept[next(iter(self._kept))]
