"""The channels: each scores all candidates by one kind of evidence.

A channel gives a float64 array over the candidates, higher is better, NaN where it has no evidence:

* **dense**: the cosine of query and memory, by the memory's best window;
* **lexical**: BM25 (:mod:`memlab.lexical`);
* **temporal**: nearness of the event time to the dates that the query names (:mod:`memlab.recall.temporal`);
* **salience**: ``importance * confidence * (1 + recency) / 2`` with ``recency = 2 ** (-age / 180 days)``, the age
  counted from the event time to ``now``. It says nothing of the query.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from memlab.graph import Graph
from memlab.index import DenseIndex
from memlab.lexical import LexicalIndex
from memlab.phrases import Found
from memlab.recall.temporal import DAY, closeness
from memlab.table import Table
from memlab.times import to_micros
from memlab.vocabulary import Relation

Scores = npt.NDArray[np.float64]
Slots = npt.NDArray[np.intp]
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
    """

    table: Table
    graph: Graph
    dense: Mapping[str, DenseIndex]
    lexical: Mapping[str, LexicalIndex]
    relations: Mapping[str, Relation]


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
    for space, here in _by_space(parts, spaces, slots):
        if space in parts.dense:
            index = parts.dense[space]
            out[:, here] = index.scores(vectors, slots[here])
    return out


def _by_space(parts: Parts, spaces: tuple[str, ...], slots: Slots) -> Iterator[tuple[str, Any]]:
    """Give each space with the places of its memories among the slots."""
    if len(spaces) == 1:
        yield spaces[0], slice(None)
        return
    codes, names = parts.table.coded(("space",))
    order = np.argsort(codes[slots], kind="stable")
    first = np.flatnonzero(np.diff(codes[slots][order], prepend=-1))
    for here in np.split(order, first[1:]) if len(order) else ():
        yield names[codes[slots[here[0]]]], here


def lexical(parts: Parts, spaces: tuple[str, ...], query: str, slots: Slots) -> Scores:
    """Score candidates by BM25.

    Parameters
    ----------
    parts : Parts
        The store's.
    spaces : tuple of str
        Where the candidates live; each space has statistics of its own.
    query : str
        The query.
    slots : ndarray of int, shape (n,)
        The candidates.

    Returns
    -------
    ndarray of float64, shape (n,)
        Scores above 0; NaN where no term matches.
    """
    out = np.zeros(len(slots))
    for space, here in _by_space(parts, spaces, slots):
        if space in parts.lexical:
            out[here] = parts.lexical[space].scores(query, parts.table.size)[slots[here]]
    out[out == 0] = np.nan
    return out


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
    for space, here in _by_space(parts, spaces, slots):
        if space in parts.lexical:
            out[here] = parts.lexical[space].coverage(query, parts.table.size)[slots[here]]
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
