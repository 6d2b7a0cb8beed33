"""The engine: from queries to ranked hits with their evidence.

Candidates first (:mod:`memlab.recall.candidates`), then the channels, fusion, spread, the current-state rule and,
if asked for, diversity. Scores are rounded to six digits before ranking, so that a batch of queries, whose sums
run in another order, ranks like single ones; ties go by id.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from time import perf_counter

import numpy as np
import numpy.typing as npt

from memlab.filters import Filter
from memlab.phrases import Found, find_phrases
from memlab.recall import channels
from memlab.recall.candidates import Pool, gather
from memlab.recall.channels import Parts, Scores
from memlab.recall.evidence import Witness, relevance
from memlab.recall.fuse import fuse
from memlab.recall.method import Method
from memlab.recall.rerank import diversify
from memlab.recall.spread import SEEDS, over_associations, to_neighbours
from memlab.recalls import Hit, Part, Step

DIGITS = 6
DEPTH = 5  # of k: candidates that diversity chooses from
BLOCK = 16_000_000  # numbers in one block of dense scores


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is asked, but for the queries.

    Parameters
    ----------
    method : Method
        How to rank.
    k : int
        How many hits at the most.
    spaces : tuple of str
        Where to look.
    wanted : Filter
        What may be returned.
    state : {"current", "history"}
        Whether memories of the past are left out.
    at : datetime
        The time that "current" means.
    now : datetime
        The reference for relative dates and ages.
    zone : str
        The zone that dates in queries are read in.
    min_relevance : float
        Hits below it are left out.
    """

    method: Method
    k: int
    spaces: tuple[str, ...]
    wanted: Filter
    state: str
    at: datetime
    now: datetime
    zone: str
    min_relevance: float


@dataclass(frozen=True, slots=True)
class Answer:
    """What one query found.

    Parameters
    ----------
    hits : tuple of Hit
        Best first.
    candidates : int
        How many memories could have been found.
    seconds : dict of str to float
        Wall time by step.
    weights : dict of str to float
        Of the channels that spoke.
    """

    hits: tuple[Hit, ...]
    candidates: int
    seconds: dict[str, float]
    weights: dict[str, float]


class Clock:
    """Wall time by step."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, step: str) -> Iterator[None]:
        """Time a block."""
        begin = perf_counter()
        yield
        self.seconds[step] = self.seconds.get(step, 0.0) + perf_counter() - begin


def answer(
    parts: Parts, request: Request, queries: Sequence[str], vectors: npt.NDArray[np.float32] | None
) -> Iterator[Answer]:
    """Answer queries, one after another; what they share is done once.

    Parameters
    ----------
    parts : Parts
        The store's.
    request : Request
        What is asked.
    queries : sequence of str
        The queries.
    vectors : ndarray of float32, shape (q, dimension), optional
        Their embeddings; None where the method has no dense channel.

    Yields
    ------
    Answer
        In the order of the queries.
    """
    clock = Clock()
    with clock("candidates"):
        pool = gather(parts, request.spaces, request.wanted, request.state, request.at)
    shared = clock.seconds["candidates"] / max(1, len(queries))
    step = max(1, BLOCK // max(1, parts.table.size))
    for at in range(0, len(queries), step):
        block = queries[at : at + step]
        cosines = None
        clock = Clock()
        if vectors is not None:
            with clock("dense"):
                cosines = channels.dense(parts, request.spaces, vectors[at : at + step], pool.slots)
        for i, query in enumerate(block):
            one = Clock()
            one.seconds = {"candidates": shared}
            if cosines is not None:
                one.seconds["dense"] = clock.seconds["dense"] / len(block)
            vector = None if vectors is None else vectors[at + i]
            yield _Ranking(parts, request, pool, query, vector, one).run(None if cosines is None else cosines[i])


class _Ranking:
    """The ranking of one query."""

    def __init__(
        self,
        parts: Parts,
        request: Request,
        pool: Pool,
        query: str,
        vector: npt.NDArray[np.float32] | None,
        clock: Clock,
    ) -> None:
        self.parts, self.request, self.pool, self.query, self.vector = parts, request, pool, query, vector
        self.clock = clock
        self.phrases: list[Found] = []
        self.scores: dict[str, Scores] = {}
        self.shares: dict[str, Scores] = {}
        self.paths: dict[int, Step] = {}
        # By slot: its place in the pool. The last entry stands for "no slot".
        self.place = np.full(parts.table.size + 1, -1, dtype=np.int64)
        self.place[pool.slots] = np.arange(len(pool.slots))

    def run(self, cosines: Scores | None) -> Answer:
        self._score(cosines)
        weights = self._fuse()
        total = np.round(np.sum(list(self.shares.values()), axis=0), DIGITS) if self.shares else self._zeros()
        worth = self._relevance()
        fits = self._evident() & (worth >= self.request.min_relevance)
        fits[self.pool.count :] = False
        order = self._best(np.where(fits, total, -np.inf), self._depth())
        if self.request.method.diversify:
            with self.clock("diversify"):
                order = self._diversify(total, order)
        with self.clock("evidence"):
            hits = tuple(self._hit(rank, at, total[at], worth[at]) for rank, at in enumerate(order, start=1))
        return Answer(hits, self.pool.count, self.clock.seconds, weights)

    def _zeros(self) -> Scores:
        return np.zeros(len(self.pool.slots))

    def _score(self, cosines: Scores | None) -> None:
        parts, request, slots = self.parts, self.request, self.pool.slots
        weights = request.method.weights
        if cosines is not None:
            self.scores["dense"] = cosines
        if "lexical" in weights:
            with self.clock("lexical"):
                self.scores["lexical"] = channels.lexical(parts, request.spaces, self.query, slots)
        if "temporal" in weights:
            with self.clock("temporal"):
                self.phrases = find_phrases(self.query, request.now, request.zone)
                self.scores["temporal"] = channels.temporal(parts, self.phrases, slots)
        if "salience" in weights:
            with self.clock("salience"):
                self.scores["salience"] = channels.salience(parts, request.now, slots)

    def _fuse(self) -> dict[str, float]:
        method = self.request.method
        with self.clock("fuse"):
            self.shares, weights = fuse(self.scores, method.weights, method.fusion, method.rrf_k)
        if not self.shares:
            return weights
        with self.clock("spread"):
            if method.neighbours:
                total = np.sum(list(self.shares.values()), axis=0)
                adjacent = self.parts.table.adjacent
                self.shares["neighbours"] = to_neighbours(
                    total, self.pool.slots, self.place, adjacent, method.neighbours
                )
            if method.associations:
                self._walk(np.sum(list(self.shares.values()), axis=0), method.associations)
        self._lend()
        return weights

    def _walk(self, total: Scores, share: float) -> None:
        seeds = [at for at in self._best(total, SEEDS) if total[at] > 0]
        self.shares["associations"], self.paths = over_associations(
            total, seeds, self._id, self._find, self.parts.graph.touching, self.parts.relations, share
        )

    def _find(self, memory_id: str) -> int:
        return int(self.place[self.parts.table.slot(memory_id)])

    def _lend(self) -> None:
        """Give what replaced a memory of the past at least that memory's score."""
        if not self.pool.replaced:
            return
        total = np.sum(list(self.shares.values()), axis=0)
        lift = self._zeros()
        for past, ends in self.pool.replaced.items():
            for end in ends:
                if total[past] - total[end] > lift[end]:
                    lift[end] = total[past] - total[end]
                    self.paths[end] = self._supersession(past, end)
        self.shares["current"] = lift

    def _supersession(self, past: int, end: int) -> Step:
        """The last step of the chain from a memory of the past to what stands for it now."""
        old, new = self._id(past), self._id(end)
        for association in self.parts.graph.superseding:
            if {association.source, association.target} == {old, new}:
                return Step(*association.triple, start=old)
        return Step(old, "SUPERSEDED", new, start=old)

    def _evident(self) -> npt.NDArray[np.bool_]:
        """Mark what has any evidence of the query; salience alone is none."""
        found = np.zeros(len(self.pool.slots), dtype=bool)
        for name in ("dense", "lexical", "temporal"):
            if name in self.scores:
                found |= ~np.isnan(self.scores[name])
        for name in ("neighbours", "associations", "current"):
            if name in self.shares:
                found |= self.shares[name] > 0
        return found

    def _relevance(self) -> Scores:
        covered = None
        if "lexical" in self.scores:
            with self.clock("lexical"):
                covered = channels.coverage(self.parts, self.request.spaces, self.query, self.pool.slots)
        cosine = self.scores.get("dense")
        if cosine is None and covered is None:
            return np.nan_to_num(self.scores["temporal"], nan=0.0)
        return np.round(relevance(cosine, covered), DIGITS)

    def _depth(self) -> int:
        return self.request.k * DEPTH if self.request.method.diversify else self.request.k

    def _best(self, scores: Scores, k: int) -> list[int]:
        """Find the k best places; of equal scores the smaller ids; -inf is never among them."""
        if k < len(scores):
            bar = np.partition(scores, len(scores) - k)[len(scores) - k]
            near = np.flatnonzero((scores >= bar) & (scores > -np.inf))
        else:
            near = np.flatnonzero(scores > -np.inf)
        return sorted(near.tolist(), key=lambda at: (-scores[at], self._id(at)))[:k]

    def _diversify(self, total: Scores, order: list[int]) -> list[int]:
        table, dense = self.parts.table, self.parts.dense
        width = next((index.dimension for index in dense.values()), 1)
        vectors = np.zeros((len(order), width), dtype=np.float32)
        for row, at in enumerate(order):
            slot = int(self.pool.slots[at])
            space = table.at(slot).space
            if space in dense and slot in dense[space]:
                vectors[row] = dense[space].vectors(slot)[0]
        ids = [self._id(at) for at in order]
        chosen = diversify(total[order], vectors, ids, self.request.k, self.request.method.diversify)
        return [order[at] for at in chosen]

    def _id(self, at: int) -> str:
        return self.parts.table.at(int(self.pool.slots[at])).memory_id

    def _hit(self, rank: int, at: int, score: float, worth: float) -> Hit:
        slot = int(self.pool.slots[at])
        witness = Witness(self.parts, self.query, self.vector, self.phrases)
        found: dict[str, Part] = {}
        for name, share in self.shares.items():
            if name in self.scores:
                if not np.isnan(self.scores[name][at]):
                    found[name] = witness.part(name, slot, self.scores[name][at], share[at])
            elif share[at] > 0:
                found[name] = Part(round(float(share[at]), DIGITS), round(float(share[at]), DIGITS), _SAYS[name])
        path = (self.paths[at],) if at in self.paths else ()
        return Hit(rank, self.parts.table.at(slot), float(score), float(worth), found, path)


_SAYS = {
    "neighbours": {"says": "lent by the turns right before and after it in the session"},
    "associations": {"says": "lent over an association by a stronger hit"},
    "current": {"says": "lent by the memory it supersedes"},
}
