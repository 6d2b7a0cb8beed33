"""Candidates: which memories a recall may return, settled before anything is ranked.

Spaces, filters, validity and the current-state rule all cut here, in every channel alike, so that k hits are k of
those that fit.
"""

from dataclasses import dataclass
from datetime import datetime

import numpy as np
import numpy.typing as npt

from memlab.filters import Filter, mask
from memlab.recall.channels import Parts, Slots
from memlab.recall.current import heads, successors
from memlab.records import Memory
from memlab.table import MISSING, Table
from memlab.table_columns import NOT_A_TIME
from memlab.times import to_micros


@dataclass(frozen=True, slots=True)
class Pool:
    """The memories that are scored.

    Parameters
    ----------
    slots : ndarray of int, shape (n,)
        Candidates first, then memories of the past that only lend their score to what replaced them.
    count : int
        How many of them are candidates.
    replaced : mapping of int to list of int
        Place of a memory of the past to the places of the candidates that stand for it now.
    """

    slots: Slots
    count: int
    replaced: dict[int, list[int]]


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
        return Pool(slots, len(slots), {})
    holds = active(table, at)
    following = _following(parts, holds)
    past = np.zeros(table.size, dtype=bool)
    ends: dict[int, list[int]] = {}
    for memory_id in following:
        found = heads(memory_id, following)
        if memory_id not in found:
            slot = table.slot(memory_id)
            past[slot] = True
            ends[slot] = [table.slot(end) for end in found]
    candidates = np.flatnonzero(fits & holds & ~past)
    lenders = np.flatnonzero(fits & past)
    place = {slot: at for at, slot in enumerate(candidates.tolist())} if len(lenders) else {}
    replaced = {
        len(candidates) + at: [place[end] for end in ends[slot] if end in place]
        for at, slot in enumerate(lenders.tolist())
    }
    return Pool(np.concatenate([candidates, lenders]), len(candidates), replaced)


def _following(parts: Parts, holds: npt.NDArray[np.bool_]) -> dict[str, list[str]]:
    table = parts.table

    def counts(memory: Memory) -> bool:
        return bool(holds[table.slot(memory.memory_id)])

    return successors(parts.graph.superseding, table.get, counts)
