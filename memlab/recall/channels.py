"""The channels: each scores all candidates by one kind of evidence.

A channel gives a float64 array over the candidates, higher is better, NaN where it has no evidence:

* **dense**: the cosine of query and memory, by the memory's best window;
* **lexical**: BM25 (:mod:`memlab.lexical`);
* **temporal**: nearness of the event time to the dates that the query names (:mod:`memlab.recall.temporal`);
* **salience**: ``importance * confidence * (1 + recency) / 2`` with ``recency = 2 ** (-age / 180 days)``, the age
  counted from the event time to ``now``. It says nothing of the query.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from memlab.graph import Graph
from memlab.index import DenseIndex
from memlab.lexical import LexicalIndex
from memlab.phrases import Found
from memlab.recall.pool import Held, Pool, Slots
from memlab.recall.temporal import DAY, closeness
from memlab.scan import Scan
from memlab.table import Table
from memlab.times import to_micros
from memlab.vocabulary import Relation

Scores = npt.NDArray[np.float64]
HALF_LIFE = 180 * DAY


@dataclass(frozen=True, slots=True)
class Parts:
    """What a recall reads: the parts of a store.

    Parameters
    ----------
    table : Table
        The memories.
    graph : Graph
        The associations.
    dense : mapping of str to DenseIndex
        By space; empty without an encoder.
    lexical : mapping of str to LexicalIndex
        By space.
    relations : mapping of str to Relation
        memlab's relations and the store's own.
    held : Held
        What recalls keep for the next one; new where none is given.
    """

    table: Table
    graph: Graph
    dense: Mapping[str, DenseIndex]
    lexical: Mapping[str, LexicalIndex]
    relations: Mapping[str, Relation]
    held: Held = field(default_factory=Held)


def dense(parts: Parts, spaces: tuple[str, ...], vectors: npt.NDArray[np.float32], slots: Slots) -> Scores:
    """Score candidates by cosine, for many queries at once.

    Parameters
    ----------
    parts : Parts
        The store's.
    spaces : tuple of str
        Where the candidates live.
    vectors : ndarray of float32, shape (q, dimension)
        Unit rows, one a query.
    slots : ndarray of int, shape (n,)
        The candidates.

    Returns
    -------
    ndarray of float64, shape (q, n)
        Cosines; NaN for memories and queries without a vector.
    """
    out = np.full((len(vectors), len(slots)), np.nan)
    for space, here, mine in _by_space(parts, spaces, slots):
        if space in parts.dense:
            out[:, here] = parts.dense[space].scores(vectors, mine)
    return out


def _by_space(parts: Parts, spaces: tuple[str, ...], slots: Slots) -> Iterator[tuple[str, Any, Slots]]:
    """Give each space with the places of its memories among the slots, and these slots."""
    if len(spaces) == 1:
        yield spaces[0], slice(None), slots
        return
    codes, names = parts.table.coded(("space",))
    order = np.argsort(codes[slots], kind="stable")
    first = np.flatnonzero(np.diff(codes[slots][order], prepend=-1))
    for here in np.split(order, first[1:]) if len(order) else ():
        yield names[codes[slots[here[0]]]], here, slots[here]


def rough(parts: Parts, space: str, vectors: npt.NDArray[np.float32], slots: Slots) -> Scan | None:
    """Score candidates of one space by cosine, roughly and fast, for many queries at once.

    Parameters
    ----------
    parts : Parts
        The store's.
    space : str
        Where the candidates live.
    vectors : ndarray of float32, shape (q, dimension)
        Unit rows, one a query.
    slots : ndarray of int, shape (n,)
        The candidates.

    Returns
    -------
    Scan or None
        None where no candidate has a vector.
    """
    scan = parts.dense[space].scan(vectors, slots) if space in parts.dense else None
    return scan if scan is not None and scan.values.shape[1] else None


def lexical(parts: Parts, spaces: tuple[str, ...], query: str, pool: Pool) -> tuple[Slots, Scores]:
    """Score by BM25 those that share a word with a query.

    Parameters
    ----------
    parts : Parts
        The store's.
    spaces : tuple of str
        Where the candidates live; each space has statistics of its own.
    query : str
        The query.
    pool : Pool
        The candidates.

    Returns
    -------
    places : ndarray of int, shape (m,)
        Places in the pool, each once.
    scores : ndarray of float64, shape (m,)
        Above 0.
    """
    found = [(np.empty(0, dtype=np.intp), np.empty(0))]
    for space in spaces:
        if space in parts.lexical:
            rows, scores = parts.lexical[space].matches(query)
            places = pool.line[rows]
            found.append((places[places >= 0], scores[places >= 0]))
    places, scores = (np.concatenate(side) for side in zip(*found, strict=True))
    return places, scores


def coverage(parts: Parts, spaces: tuple[str, ...], query: str, slots: Slots) -> Scores:
    """Say how much of the query each candidate speaks of, by idf.

    Parameters
    ----------
    parts : Parts
        The store's.
    spaces : tuple of str
        Where the candidates live.
    query : str
        The query.
    slots : ndarray of int, shape (n,)
        The candidates.

    Returns
    -------
    ndarray of float64, shape (n,)
        In [0, 1].
    """
    out = np.zeros(len(slots))
    for space, here, mine in _by_space(parts, spaces, slots):
        if space in parts.lexical:
            out[here] = parts.lexical[space].coverage(query, mine.tolist())
    return out


def temporal(parts: Parts, phrases: list[Found], slots: Slots) -> Scores:
    """Score candidates by nearness to the dates that the query names.

    Parameters
    ----------
    parts : Parts
        The store's.
    phrases : list of Found
        The date phrases of the query.
    slots : ndarray of int, shape (n,)
        The candidates.

    Returns
    -------
    ndarray of float64, shape (n,)
        In [0.001, 1]; NaN where it is too far away, and everywhere where the query names no date.
    """
    return closeness(parts.table.event_times[slots], [phrase.interval for phrase in phrases])


def salience(parts: Parts, now: datetime, slots: Slots) -> Scores:
    """Score candidates by importance, confidence and recency.

    Parameters
    ----------
    parts : Parts
        The store's.
    now : datetime
        From when the age is counted; what lies in the future has age 0.
    slots : ndarray of int, shape (n,)
        The candidates.

    Returns
    -------
    ndarray of float64, shape (n,)
        In [0, 1].
    """
    table = parts.table
    age = np.maximum(to_micros(now) - table.event_times[slots], 0)
    worth = table.column("importance")[slots] * table.column("confidence")[slots]
    found: Scores = worth * (1 + np.exp2(-age / HALF_LIFE)) / 2
    return found
