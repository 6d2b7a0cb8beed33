"""Candidates: which memories a recall may return, settled before anything is ranked.

Spaces, filters, validity and the current-state rule all cut here, in every channel alike, so that k hits are k of
those that fit.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime

import numpy as np
import numpy.typing as npt

from memlab.filters import Filter, mask
from memlab.recall.channels import Parts
from memlab.recall.current import Links, links_of, standing
from memlab.recall.pool import Pool, Standing
from memlab.table import MISSING, Table
from memlab.table_columns import NOT_A_TIME
from memlab.times import to_micros

Bools = npt.NDArray[np.bool_]
EVER = np.iinfo(np.int64).max


def fitting(table: Table, spaces: tuple[str, ...], wanted: Filter) -> Bools:
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
    inside: Bools = table.alive
    if names:
        inside = inside & np.array([name in spaces for name in names], dtype=bool)[codes]
    return _filtered(table, inside, wanted)


def _filtered(table: Table, fits: Bools, wanted: Filter) -> Bools:
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


def active(table: Table, at: datetime) -> Bools:
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
    valid: Bools = (begin <= when) & ((end > when) | (end == NOT_A_TIME)) & ~table.column("archived")
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
    if state == "history":
        slots = np.flatnonzero(fitting(table, spaces, wanted))
        return Pool(slots, len(slots), table.size)
    when = to_micros(at)
    # By its text, since equal filters can differ: 1 equals True.
    key = spaces, repr(wanted)
    pool: Pool | None = parts.held.get(table, parts.graph, key, when)
    if pool is None:
        stands = _standing(parts, spaces, at)
        fits = stands.scored if wanted == Filter() else _filtered(table, stands.scored, wanted)
        pool = _pool(table, fits, stands.ends, stands.links)
        parts.held.keep(key, stands.begin, stands.end, pool)
    return pool


def _standing(parts: Parts, spaces: tuple[str, ...], at: datetime) -> Standing:
    """Find or work out what is current, and how long it will be."""
    table, when = parts.table, to_micros(at)
    stands: Standing | None = parts.held.get(table, parts.graph, spaces, when)
    if stands is None:
        inside, holds = fitting(table, spaces, Filter()), active(table, at)
        links = _links(parts, inside)
        ends = {table.slots[old]: found for old, found in _past(parts, links, holds)}
        scored = inside & holds
        scored[list(ends)] = True
        turns = np.concatenate([table.column("valid_from"), table.column("valid_until")])
        begin, end = turns[turns <= when].max(initial=-EVER), turns[turns > when].min(initial=EVER)
        stands = Standing(scored, ends, links, int(begin), int(end))
        parts.held.keep(spaces, stands.begin, stands.end, stands)
    return stands


def _pool(table: Table, fits: Bools, ends: Mapping[int, tuple[str, ...]], links: Links) -> Pool:
    """Part what fits into candidates and the memories of the past that lend to them."""
    if not ends:
        slots = np.flatnonzero(fits)
        slots.flags.writeable = False  # it is kept, and the parts may know it again
        return Pool(slots, len(slots), table.size, {}, links)
    past = np.zeros(table.size, dtype=bool)
    past[list(ends)] = True
    candidates, lenders = np.flatnonzero(fits & ~past), np.flatnonzero(fits & past)
    place = Pool(candidates, len(candidates), table.size).place
    replaced = {
        at: [int(place[slot]) for slot in map(table.slots.__getitem__, ends[lender]) if place[slot] >= 0]
        for at, lender in enumerate(lenders.tolist(), start=len(candidates))
    }
    return Pool(np.concatenate([candidates, lenders]), len(candidates), table.size, replaced, links)


def _links(parts: Parts, inside: Bools) -> Links:
    if not parts.graph.superseding:
        return {}
    slots, times = parts.table.slots, parts.table.event_times
    said = (association for association in parts.graph.superseding if inside[slots[association.source]])
    return links_of(said, lambda memory_id: times[slots[memory_id]])


def _past(parts: Parts, links: Links, holds: Bools) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Give the memories of the past with what stands for each, whatever the filters say of either."""
    slots = parts.table.slots
    found = standing(links, lambda memory_id: bool(holds[slots[memory_id]]))
    return ((old, ends) for old, ends in found.items() if ends and old not in ends)
