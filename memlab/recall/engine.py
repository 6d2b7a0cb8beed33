"""The engine: from queries to ranked hits with their evidence.

Candidates first (:mod:`memlab.recall.candidates`), then the channels, fusion, the current-state rule, spread and,
if asked for, diversity. What has no evidence of the query neither lends nor is a hit; salience alone is none.
Scores are rounded to six digits before ranking, and ties go by id.

Where it is proven that it changes nothing, only a short list of the candidates is ranked
(:mod:`memlab.recall.shortlist`).
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from time import perf_counter

import numpy as np
import numpy.typing as npt

from memlab.filters import Filter
from memlab.phrases import Found, find_phrases
from memlab.recall import channels
from memlab.recall.candidates import gather
from memlab.recall.channels import Parts, Scores
from memlab.recall.current import chain
from memlab.recall.evidence import Witness, relevance
from memlab.recall.fuse import fuse
from memlab.recall.method import Method
from memlab.recall.pool import Pool, Slots
from memlab.recall.rerank import diversify
from memlab.recall.shortlist import contenders, shortlist
from memlab.recall.spread import SEEDS, over_associations, to_neighbours
from memlab.recalls import Hit, Part, Step

DIGITS = 6
FINE = 9  # digits of the shares, so that they add up to the score
DEPTH = 5  # of k: candidates that diversity chooses from
EVIDENCE = ("dense", "lexical", "temporal")  # channels that say something of the query
BLOCK = 16_000_000  # numbers in one block of dense scores
TOGETHER = 256  # queries in one block at the most
WORTH = 32  # a short list is made from so many times the hits wanted
Words = tuple[Slots, Scores]  # places and BM25 scores of those that share a word with the query
Scorer = Callable[[int, Words | None], tuple[Slots | None, Scores | None]]
NO_WORDS: Words = (np.empty(0, dtype=np.intp), np.empty(0))


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

    @property
    def depth(self) -> int:
        """How many of the best are looked at."""
        return self.k * DEPTH if self.method.diversify else self.k

    def short(self, pool: Pool) -> bool:
        """Whether the best can be told from a short list: what makes up a score is known before any is fused."""
        method = self.method
        spreads = method.neighbours or method.associations or pool.replaced
        fused = method.fusion == "score" and not (method.temporal or method.salience)
        few = len(self.spaces) == 1 and len(pool.slots) > WORTH * self.depth
        return bool(fused and few and not spreads and not self.min_relevance)


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
    salience = None
    if request.method.salience:
        with clock("salience"):
            salience = channels.salience(parts, request.now, pool.slots)
    once = {step: seconds / max(1, len(queries)) for step, seconds in clock.seconds.items()}
    size = max(1, min(TOGETHER, BLOCK // max(1, len(pool.slots))))
    for begin in range(0, len(queries), size):
        some, clock = queries[begin : begin + size], Clock()
        rows = None if vectors is None else vectors[begin : begin + size]
        with clock("dense"):
            score = _scorer(parts, request, pool, rows)
        for i, query in enumerate(some):
            one = Clock()
            one.seconds = once | {step: seconds / len(some) for step, seconds in clock.seconds.items()}
            with one("lexical"):
                weighed = request.method.lexical > 0
                words = channels.lexical(parts, request.spaces, query, pool) if weighed else None
            with one("dense"):
                chosen, cosines = score(i, words)
            ranked = pool if chosen is None else pool.only(chosen)
            ranking = _Ranking(parts, request, ranked, query, None if rows is None else rows[i], one)
            found = ranking.run(cosines, None if words is None else _line(words, pool, chosen), salience)
            yield replace(found, candidates=pool.count)


def _scorer(parts: Parts, request: Request, pool: Pool, vectors: npt.NDArray[np.float32] | None) -> Scorer:
    """Make what gives, for a query of a block and its words, the places to rank, None for all, and their cosines."""
    if not request.short(pool):
        every = None if vectors is None else channels.dense(parts, request.spaces, vectors, pool.slots)
        return lambda i, words: (None, None if every is None else every[i])
    scan = None if vectors is None else channels.rough(parts, request.spaces[0], vectors, pool.slots)

    def score(i: int, words: Words | None) -> tuple[Slots | None, Scores | None]:
        speaks = vectors is not None and scan is not None and bool(vectors[i].any())
        chosen = shortlist(scan if speaks else None, i, words or NO_WORDS, request.method.weights, request.depth)
        if vectors is None:
            return chosen, None
        if scan is not None and speaks and chosen is not None and not scan.error:
            columns, known = scan.rows(chosen)
            return chosen, np.where(known, scan.values[i, columns].astype(np.float64), np.nan)
        slots = pool.slots if chosen is None else pool.slots[chosen]
        return chosen, channels.dense(parts, request.spaces, vectors[i : i + 1], slots)[0]

    return score


def _line(words: Words, pool: Pool, chosen: Slots | None) -> Scores:
    """Write BM25 scores as the other channels are: NaN where no word is shared."""
    line = np.full(len(pool.slots), np.nan)
    line[words[0]] = words[1]
    return line if chosen is None else line[chosen]


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
        self.total: Scores = np.zeros(pool.count)
        self.evident = np.zeros(pool.count, dtype=bool)
        self.lender: dict[int, int] = {}  # place to the place of the memory of the past that it stands for
        self.paths: dict[int, Step] = {}

    def run(self, cosines: Scores | None, words: Scores | None, salience: Scores | None) -> Answer:
        method, clock = self.request.method, self.clock
        self._score(cosines, words, salience)
        with clock("fuse"):
            self.shares, weights = fuse(self.scores, method.weights, method.fusion, method.rrf_k)
        with clock("current"):
            self._settle()
        with clock("neighbours"):
            if method.neighbours:
                self._add("neighbours", self._from_neighbours(method.neighbours))
        with clock("associations"):
            if method.associations:
                self._add("associations", self._over_associations(method.associations))
        with clock("rank"):
            order = self._order()
        with clock("evidence"):
            worth = self._relevance(order)
            witness = Witness(self.parts, self.query, self.vector, self.phrases)
            hits = tuple(self._hit(rank, at, worth[rank - 1], witness) for rank, at in enumerate(order, start=1))
        return Answer(hits, self.pool.count, clock.seconds, weights)

    def _score(self, cosines: Scores | None, words: Scores | None, salience: Scores | None) -> None:
        parts, request, slots = self.parts, self.request, self.pool.slots
        if cosines is not None:
            self.scores["dense"] = cosines
        if words is not None:
            self.scores["lexical"] = words
        if request.method.temporal:
            with self.clock("temporal"):
                self.phrases = find_phrases(self.query, request.now, request.zone)
                self.scores["temporal"] = channels.temporal(parts, self.phrases, slots)
        if salience is not None:
            self.scores["salience"] = salience

    def _settle(self) -> None:
        """Give what replaced a memory of the past at least that memory's score, and leave the past behind."""
        count, spoken = self.pool.count, [self.scores[name] for name in EVIDENCE if name in self.scores]
        evident = np.zeros(len(self.pool.slots), dtype=bool)
        for scores in spoken:
            evident |= ~np.isnan(scores)
        total = np.zeros(len(self.pool.slots))
        for share in self.shares.values():
            total += share
        # When the past happened says nothing of what stands for it now: that evidence isn't lent.
        lent = total - self.shares.get("temporal", 0.0)
        self.shares = {name: share[:count] for name, share in self.shares.items()}
        self.total, self.evident = total[:count], evident[:count]
        if not self.pool.replaced:
            return
        lift = np.zeros(count)
        for past, ends in self.pool.replaced.items():
            for end in ends if evident[past] else ():
                more = lent[past] - total[end]
                # Of equal memories of the past the one whose id sorts first.
                if more > lift[end] or (more == lift[end] > 0 and self._id(past) < self._id(self.lender[end])):
                    lift[end], self.lender[end] = more, past
        self._add("current", lift)

    def _add(self, name: str, gain: Scores) -> None:
        self.shares[name] = gain
        self.total = self.total + gain
        self.evident = self.evident | (gain > 0)

    def _from_neighbours(self, share: float) -> Scores:
        lent = np.where(self.evident, self.total, 0.0)
        slots = self.pool.slots[: self.pool.count]
        return to_neighbours(lent, slots, self.pool.place, self.parts.table.adjacent, share)

    def _over_associations(self, share: float) -> Scores:
        parts, seeds = self.parts, self._best(np.where(self.evident & (self.total > 0), self.total, -np.inf), SEEDS)
        gain, self.paths = over_associations(
            self.total, seeds, self._id, self._find, parts.graph.touching, parts.relations, share
        )
        return gain

    def _order(self) -> list[int]:
        """Round, cut by relevance, and put the best first."""
        request, fits = self.request, self.evident
        if request.min_relevance > 0:
            fits = fits & (self._relevance(range(self.pool.count)) >= request.min_relevance)
        near = contenders(np.where(fits, self.total, -np.inf), request.depth)
        self.total[near] = np.round(self.total[near], DIGITS)
        order = self._sorted(near, self.total)[: request.depth]
        if not request.method.diversify:
            return order
        ids = [self._id(at) for at in order]
        chosen = diversify(self.total[order], self._vectors(order), ids, request.k, request.method.diversify)
        return [order[at] for at in chosen]

    def _relevance(self, places: Sequence[int]) -> Scores:
        """Say how relevant candidates are; what stands for a memory of the past is as relevant as that."""
        found = self._own_relevance(places)
        stands = [i for i, at in enumerate(places) if at in self.lender]
        if stands:
            found[stands] = np.maximum(found[stands], self._own_relevance([self.lender[places[i]] for i in stands]))
        return np.round(found, DIGITS)

    def _own_relevance(self, places: Sequence[int]) -> Scores:
        at = np.asarray(places, dtype=np.intp)
        covered = None
        if "lexical" in self.scores:
            covered = channels.coverage(self.parts, self.request.spaces, self.query, self.pool.slots[at])
        cosine = self.scores["dense"][at] if "dense" in self.scores else None
        if cosine is None and covered is None:
            return np.nan_to_num(self.scores["temporal"][at], nan=0.0)
        return relevance(cosine, covered)

    def _best(self, scores: Scores, k: int) -> list[int]:
        """Find the k best places; of equal scores the smaller ids; -inf is never among them."""
        return self._sorted(contenders(scores, k), scores)[:k]

    def _sorted(self, places: Slots, scores: Scores) -> list[int]:
        """Sort places by score, and of equals by id."""
        ranked = sorted(
            (-score, self._id(at), at) for at, score in zip(places.tolist(), scores[places].tolist(), strict=True)
        )
        return [at for _, _, at in ranked]

    def _vectors(self, places: Sequence[int]) -> npt.NDArray[np.float32]:
        """The embeddings that likeness is told by: of several windows the one that fits the query best."""
        dense = self.parts.dense
        width = next((index.dimension for index in dense.values()), 1)
        found = np.zeros((len(places), width), dtype=np.float32)
        for row, at in enumerate(places):
            slot = int(self.pool.slots[at])
            space = self.parts.table.at(slot).space
            windows = dense[space].vectors(slot) if space in dense else found[:0]
            if len(windows):
                found[row] = windows[0 if self.vector is None else int(np.argmax(windows @ self.vector))]
        return found

    def _id(self, at: int) -> str:
        return self.parts.table.at(int(self.pool.slots[at])).memory_id

    def _find(self, memory_id: str) -> int:
        return int(self.pool.place[self.parts.table.slots[memory_id]])

    def _hit(self, rank: int, at: int, worth: float, witness: Witness) -> Hit:
        slot = int(self.pool.slots[at])
        found: dict[str, Part] = {}
        for name, share in self.shares.items():
            if name not in self.scores:
                if share[at] > 0:
                    found[name] = Part(round(float(share[at]), DIGITS), round(float(share[at]), FINE), _SAYS[name])
            elif not np.isnan(self.scores[name][at]):
                found[name] = witness.part(name, slot, self.scores[name][at], share[at])
        return Hit(rank, self.parts.table.at(slot), float(self.total[at]), float(worth), found, self._path(at))

    def _path(self, at: int) -> tuple[Step, ...]:
        """The associations that gave a hit most: from what it stands for, or from a stronger hit."""
        lent = self.shares["associations"][at] if at in self.paths else 0.0
        if at in self.lender and self.shares["current"][at] >= lent:
            here, steps = self._id(self.lender[at]), []
            for association in chain(here, self._id(at), self.pool.links):
                steps.append(Step(*association.triple, start=here))
                here = association.target if association.source == here else association.source
            return tuple(steps)
        return (self.paths[at],) if at in self.paths else ()


_SAYS = {
    "neighbours": {"says": "lent by the turns right before and after it in the session"},
    "associations": {"says": "lent over an association by a stronger hit"},
    "current": {"says": "lent by the memory of the past that it stands for"},
}
