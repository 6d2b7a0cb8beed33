"""Candidates: which memories a recall may return, settled before anything is ranked.

Spaces, filters, validity and the current-state rule all cut here, in every channel alike, so that k hits are k of
those that fit.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
import numpy.typing as npt

from memlab.filters import Filter, mask
from memlab.recall.channels import Parts, Slots
from memlab.recall.current import Links, links_of, standing
from memlab.table import MISSING, Table
from memlab.table_columns import NOT_A_TIME
from memlab.times import to_micros
from memlab.values import EMPTY


@dataclass(frozen=True, slots=True)
class Pool:
    """The memories that are scored.

    Parameters
    ----------
    slots : ndarray of int, shape (n,)
        Candidates first, then memories of the past that only lend their score to what replaced them.
    count : int
        How many of them are candidates.
    place : ndarray of int, shape (slots + 1,)
        By slot: its place among the candidates, -1 for none. The last entry, which an index of -1 reads, is -1.
    replaced : mapping of int to list of int, default {}
        Place of a memory of the past to the places of the candidates that stand for it now.
    links : mapping, default {}
        What supersedes what, as :func:`memlab.recall.current.links_of` gives it.
    """

    slots: Slots
    count: int
    place: Slots
    replaced: Mapping[int, list[int]] = field(default_factory=dict)
    links: Links = EMPTY


def fitting(table: Table, spaces: tuple[str, ...], wanted: Filter) -> npt.NDArray[np.bool_]:
    """Mark the memories that spaces and filters let through.

    Parameters
    ----------
    table : Table
        The memories.
    spaces : tuple of str
        Names of spaces.
    wanted : Filter
        Everything else that bounds the reading.

    Returns
    -------
    ndarray of bool
        By slot; always False for empty slots.
    """
    codes, names = table.coded(("space",))
    fits: npt.NDArray[np.bool_] = table.alive
    if names:
        fits = fits & np.array([name in spaces for name in names], dtype=bool)[codes]
    if wanted.where is not None:
        fits = fits & mask(wanted.where, table.coded, MISSING)
    if wanted.tags or wanted.exclude_tags:
        codes, values = table.coded(("tags",))
        fits = fits & np.array([wanted.tagged(() if v is MISSING else v) for v in values], dtype=bool)[codes]
    if wanted.since is not None:
        fits = fits & (table.event_times >= to_micros(wanted.since))
    if wanted.until is not None:
        fits = fits & (table.event_times < to_micros(wanted.until))
    return fits


def active(table: Table, at: datetime) -> npt.NDArray[np.bool_]:
    """Mark the memories that hold at a time: not archived, and within their validity.

    Parameters
    ----------
    table : Table
        The memories.
    at : datetime
        The time.

    Returns
    -------
    ndarray of bool
        By slot.
    """
    when = to_micros(at)
    begin, end = table.column("valid_from"), table.column("valid_until")
    # A missing beginning is the smallest number there is, so it needs no case of its own.
    valid: npt.NDArray[np.bool_] = (begin <= when) & ((end > when) | (end == NOT_A_TIME)) & ~table.column("archived")
    return valid


def gather(parts: Parts, spaces: tuple[str, ...], wanted: Filter, state: str, at: datetime) -> Pool:
    """Settle the candidates.

    Parameters
    ----------
    parts : Parts
        The store's.
    spaces : tuple of str
        Names of spaces.
    wanted : Filter
        Filters.
    state : {"current", "history"}
        Whether memories of the past are left out, their score going to what replaced them.
    at : datetime
        The time that "current" means.

    Returns
    -------
    Pool
        The memories to score.
    """
    table = parts.table
    fits = fitting(table, spaces, wanted)
    if state == "history":
        slots = np.flatnonzero(fits)
        return Pool(slots, len(slots), _place(slots, table.size))
    holds = active(table, at)
    links = _links(parts, spaces)
    ends = {table.slots[old]: found for old, found in _past(parts, links, holds)}
    past = np.zeros(table.size, dtype=bool)
    past[list(ends)] = True
    candidates, lenders = np.flatnonzero(fits & holds & ~past), np.flatnonzero(fits & past)
    place = _place(candidates, table.size)
    replaced = {
        at: [int(place[slot]) for slot in map(table.slots.__getitem__, ends[lender]) if place[slot] >= 0]
        for at, lender in enumerate(lenders.tolist(), start=len(candidates))
    }
    return Pool(np.concatenate([candidates, lenders]), len(candidates), place, replaced, links)


def _place(slots: Slots, size: int) -> Slots:
    place = np.full(size + 1, -1, dtype=np.intp)
    place[slots] = np.arange(len(slots))
    return place


def _links(parts: Parts, spaces: tuple[str, ...]) -> Links:
    if not parts.graph.superseding:
        return {}
    slots, times = parts.table.slots, parts.table.event_times
    inside = fitting(parts.table, spaces, Filter())
    said = (association for association in parts.graph.superseding if inside[slots[association.source]])
    return links_of(said, lambda memory_id: times[slots[memory_id]])


def _past(parts: Parts, links: Links, holds: npt.NDArray[np.bool_]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Give the memories of the past with what stands for each, whatever the filters say of either."""
    slots = parts.table.slots
    found = standing(links, lambda memory_id: bool(holds[slots[memory_id]]))
    return ((old, ends) for old, ends in found.items() if ends and old not in ends)
