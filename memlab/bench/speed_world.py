"""The stores that speed is measured on, made once a run, and how two times are compared."""

import gc
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from memlab.bench.speed_data import FILTERS, fits, made_memories, questions
from memlab.bench.speed_references import Flat, RawFile, TimedEncoder, Vectors, raw_row
from memlab.records import Memory
from memlab.store import MemoryStore

K = 10
BLOCK = 10_000  # memories added at a time
SMALL = 1_000


@dataclass(frozen=True, slots=True)
class Row:
    """One figure.

    Parameters
    ----------
    what : str
        What was measured; the same at every size of the store.
    at_most : float
        The ratio that is good enough.
    ratio : float
        Ours to the reference, the median over the rounds; infinite where an answer was wrong.
    ours, reference : float
        Medians over the rounds.
    unit : {"s", "B"}
        Of the two: seconds or bytes.
    fault : str, optional
        What was wrong with an answer.
    """

    what: str
    at_most: float
    ratio: float
    ours: float
    reference: float
    unit: str = "s"
    fault: str | None = None

    @property
    def ok(self) -> bool:
        """Whether it is right and fast enough."""
        return self.fault is None and self.ratio <= self.at_most


def seconds(work: Callable[[], Any]) -> float:
    """Time one call.

    Parameters
    ----------
    work : callable
        What to time.

    Returns
    -------
    float
        Wall time.
    """
    begin = perf_counter()
    work()
    return perf_counter() - begin


def row_of(what: str, at_most: float, pairs: Sequence[tuple[float, float]], fault: str | None = None) -> Row:
    """Make a row of the times of its rounds.

    Parameters
    ----------
    what : str
        What was measured.
    at_most : float
        The limit.
    pairs : sequence of (float, float)
        Ours and the reference's, a pair a round.
    fault : str, optional
        What was wrong with an answer.

    Returns
    -------
    Row
        Its ratio is the median of the rounds' ratios.

    Notes
    -----
    Both halves of a round run right after one another, so that what slows the machine for a while slows both, and
    the median leaves out the rounds in which it slowed but one. Ratios of minima would compare the luckiest moments
    of either, which come more often to the shorter work.
    """
    ratio = median(ours / reference for ours, reference in pairs)
    ours, reference = (median(side) for side in zip(*pairs, strict=True))
    return Row(what, at_most, float("inf") if fault else ratio, ours, reference, fault=fault)


def compare(
    what: str,
    at_most: float,
    ours: Callable[[int], float],
    reference: Callable[[int], float],
    rounds: int,
    fault: str | None = None,
) -> Row:
    """Time two kinds of work in turn.

    Parameters
    ----------
    what : str
        What is measured.
    at_most : float
        The limit.
    ours, reference : callable
        Take the number of the round and give seconds; the reference comes second.
    rounds : int
        How many are counted; one before them is not.
    fault : str, optional
        What was wrong with an answer.

    Returns
    -------
    Row
        As :func:`row_of` makes it.
    """
    gc.collect()
    pairs = [(ours(i), reference(i)) for i in range(-1, rounds)]
    return row_of(what, at_most, pairs[1:], fault)


class Place:
    """A store of some size in a file, and the raw file with the same rows and vectors.

    Parameters
    ----------
    folder : Path
        Where the two files go.
    n : int
        How many memories.
    progress : bool
        Show bars.
    """

    def __init__(self, folder: Path, n: int, progress: bool) -> None:
        self.n = n
        self.next = n  # the number of the next made memory
        self.path, self.raw_path = folder / f"{n}.memlab", folder / f"{n}.sqlite"
        self.encoder = TimedEncoder()
        memories = made_memories(n)
        self.queries = questions(memories)
        self.fits = {share: np.array([fits(share, memory) for memory in memories]) for share in FILTERS}
        with self._open() as store:
            self._fill(store, memories, progress)
            stored = list(store)
        self.ids = {memory.memory_id: at for at, memory in enumerate(stored)}
        self.texts = [memory.text for memory in stored]
        self.text_bytes = sum(len(memory.content.encode()) for memory in stored)
        self.vectors: Vectors = self.encoder.encode(self.texts)
        self.raw = RawFile(self.raw_path)
        self.raw.insert_many(map(raw_row, stored, self.vectors))
        self._exit = ExitStack()
        self._exit.callback(self.raw.close)

    def _open(self) -> MemoryStore:
        return MemoryStore.open(self.path, encoder=self.encoder, durability="normal")

    def _fill(self, store: MemoryStore, memories: list[dict[str, Any]], progress: bool) -> None:
        from tqdm.auto import tqdm

        with tqdm(total=self.n, desc=f"a store of {self.n:,}", unit=" memories", disable=not progress) as bar:
            for begin in range(0, self.n, BLOCK):
                block = memories[begin : begin + BLOCK]
                store.add_many(block, progress=False)
                bar.update(len(block))

    @cached_property
    def store(self) -> MemoryStore:
        """The open store, its indexes filled."""
        store = self._exit.enter_context(self._open())
        store.recall(self.queries[0], method="hybrid")
        return store

    @cached_property
    def flat(self) -> Flat:
        """Raw search over the same vectors and terms."""
        return Flat(self.texts, self.vectors)

    def more(self, count: int) -> list[dict[str, Any]]:
        """Make memories that aren't in the store yet.

        Parameters
        ----------
        count : int
            How many.

        Returns
        -------
        list of dict
            As ``add_many`` takes them.
        """
        self.next += count
        return made_memories(count, self.next - count)

    def raw_rows(self, ids: Sequence[str]) -> list[tuple[Any, ...]]:
        """Give stored memories as rows of the raw file.

        Parameters
        ----------
        ids : sequence of str
            Their ids.

        Returns
        -------
        list of tuple
            For :class:`~memlab.bench.speed_references.RawFile`.
        """
        memories: list[Memory] = [self.store.get(memory_id) for memory_id in ids]
        return list(map(raw_row, memories, self.encoder.encode([memory.text for memory in memories])))

    def everything(self) -> npt.NDArray[np.bool_]:
        """Mark all memories.

        Returns
        -------
        ndarray of bool, shape (n,)
            True throughout.
        """
        return np.ones(self.n, dtype=bool)

    def close(self) -> None:
        """Close both files."""
        self._exit.close()


class World:
    """What the rows of one run are measured on.

    Parameters
    ----------
    folder : Path
        For its files.
    n : int
        How many memories.
    progress : bool, default True
        Show bars.
    """

    def __init__(self, folder: Path, n: int, progress: bool = True) -> None:
        self.n, self.folder, self.progress = n, folder, progress
        self._made: list[Place] = []

    @cached_property
    def large(self) -> Place:
        """The store of n memories."""
        return self._place(self.n)

    @cached_property
    def small(self) -> Place:
        """A store of a thousand memories."""
        return self._place(SMALL)

    def _place(self, n: int) -> Place:
        place = Place(self.folder, n, self.progress)
        self._made.append(place)
        return place

    def __enter__(self) -> "World":
        return self

    def __exit__(self, *exc: object) -> None:
        for place in self._made:
            place.close()
