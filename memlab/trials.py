"""What is measured with: a benchmark to ask, and a run of what came back.

A :class:`Benchmark` holds memories, queries and qrels that fit together; a :class:`Run` is what one method
ranked for each query. Both are frozen and checked when made, so that no measure is ever taken of ids that
don't meet, of repeats or of NaN. Queries and qrels are in :mod:`memlab.queries`, and can be had from here too.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from types import MappingProxyType
from typing import Any

import pandas as pd

from memlab.errors import DatasetError
from memlab.markup import table
from memlab.queries import QUERY_COLUMNS, Qrels, Query
from memlab.records import DEFAULT_SPACE
from memlab.text import check_text

__all__ = ["Benchmark", "Qrels", "Query", "Run"]


@dataclass(frozen=True, slots=True)
class Run:
    """What one method ranked for each query.

    Parameters
    ----------
    name : str
        Says how it was made.
    rankings : mapping of str to (sequence of (str, float), or mapping of str to float)
        Query id to units and scores. An empty ranking is a query that found nothing.
    seconds : mapping of str to float, default {}
        Wall time by query id.
    k : int, optional
        How many units were asked for, by query; None where the rankings are complete.
    ordered : bool, default False
        True where the order given is the ranking, whatever the scores, as in what a recall gives. Otherwise
        the order is made: higher scores first, ties by id.

    Raises
    ------
    DatasetError
        If a score isn't a finite number, or a unit stands twice in a ranking; the message names both.

    Examples
    --------
    >>> Run("mine", {"q1": [("b", 0.5), ("a", 0.5), ("c", 0.9)]}).rankings["q1"]
    (('c', 0.9), ('a', 0.5), ('b', 0.5))
    """

    name: str
    rankings: Mapping[str, Sequence[tuple[str, float]]]
    seconds: Mapping[str, float] = field(default_factory=dict)
    k: int | None = None
    ordered: bool = False

    def __post_init__(self) -> None:
        fix = object.__setattr__
        check_text(self.name, "the name of a run", error=DatasetError)
        if self.k is not None and (isinstance(self.k, bool) or not isinstance(self.k, int) or self.k < 1):
            raise DatasetError(f"run {self.name!r}: k is {self.k!r}; it must be a whole number from 1 up")
        rankings = {}
        for query_id, ranking in self.rankings.items():
            check_text(query_id, f"a query id of run {self.name!r}", error=DatasetError)
            pairs = _ranking(ranking, f"run {self.name!r}, query {query_id!r}")
            rankings[query_id] = tuple(pairs if self.ordered else sorted(pairs, key=lambda p: (-p[1], p[0])))
        fix(self, "rankings", MappingProxyType(rankings))
        fix(self, "seconds", MappingProxyType(dict(self.seconds)))

    @property
    def frame(self) -> pd.DataFrame:
        """One row a ranked unit: query_id, rank (from 1), unit_id, score."""
        rows = [
            (query_id, rank, unit, score)
            for query_id, ranking in self.rankings.items()
            for rank, (unit, score) in enumerate(ranking, 1)
        ]
        return pd.DataFrame(rows, columns=["query_id", "rank", "unit_id", "score"])

    def check(self, benchmark: "Benchmark") -> None:
        """Refuse a run that isn't of this benchmark.

        Parameters
        ----------
        benchmark : Benchmark
            Whose queries these should be.

        Raises
        ------
        DatasetError
            If the run ranks for queries that the benchmark doesn't have; the message names them.
        """
        known = {query.query_id for query in benchmark.queries}
        foreign = [query_id for query_id in self.rankings if query_id not in known]
        if foreign:
            raise DatasetError(
                f"run {self.name!r} has {len(foreign)} queries that {benchmark.name!r} doesn't have: "
                f"{_some(foreign)}; run it on this benchmark"
            )

    def __repr__(self) -> str:
        return f"Run({self.name!r}, {len(self.rankings)} queries, k={self.k})"


def _ranking(ranking: Any, place: str) -> list[tuple[str, float]]:
    """Check one ranking and make its scores plain floats."""
    pairs, seen = [], set()
    for unit, score in ranking.items() if isinstance(ranking, Mapping) else ranking:
        check_text(unit, f"{place}: a unit", error=DatasetError)
        if unit in seen:
            raise DatasetError(f"{place}: {unit!r} is ranked twice; a unit counts once, keep its best rank")
        if isinstance(score, bool) or not isinstance(score, Real) or not math.isfinite(score):
            raise DatasetError(f"{place}: the score of {unit!r} is {score!r}; it must be a finite number")
        seen.add(unit)
        pairs.append((unit, float(score)))
    return pairs


@dataclass(frozen=True, slots=True, repr=False)
class Benchmark:
    """Memories, queries and qrels that fit together.

    Parameters
    ----------
    name : str
        Such as ``"locomo"``.
    level : str
        What a unit is: ``"turn"``, ``"session"``, ``"passage"``, ``"memory"``.
    memories : iterable of mapping
        As ``store.add_many`` takes them; each has a ``memory_id``.
    queries : iterable of Query
        In the order they are asked.
    qrels : Qrels
        Over units; a query without a relevant unit is asked and not scored.
    associations : iterable of mapping, default ()
        As ``store.associate_many`` takes them.
    units : mapping of str to (str or None), optional
        Memory id to the unit it belongs to, for every memory; one that maps to None belongs to no unit and
        takes no rank. Without the mapping a memory is its own unit.
    repairs : iterable of str, default ()
        What the loader mended or left out, one sentence each.
    licence, description : str, default ""
        The data's licence, and what the set is.

    Raises
    ------
    DatasetError
        If ids repeat, or anything names a memory, unit, query or space that isn't there.

    Examples
    --------
    >>> bench = Benchmark("tiny", "memory", [{"memory_id": "m1", "content": "Ana lives in Oslo."}],
    ...                   [Query("q1", "Where does Ana live?")], Qrels({"q1": {"m1": 1}}))
    >>> bench
    Benchmark('tiny', level='memory', 1 memories, 1 queries: 1 scored of 1 asked)
    """

    name: str
    level: str
    memories: Sequence[Mapping[str, Any]]
    queries: Sequence[Query]
    qrels: Qrels
    associations: Sequence[Mapping[str, Any]] = ()
    units: Mapping[str, str | None] | None = None
    repairs: Sequence[str] = ()
    licence: str = ""
    description: str = ""

    def __post_init__(self) -> None:
        fix = object.__setattr__
        for name in ("name", "level"):
            check_text(getattr(self, name), f"the {name} of a benchmark", error=DatasetError)
        for name in ("memories", "associations"):
            fix(self, name, tuple(dict(item) for item in getattr(self, name)))
        for name in ("queries", "repairs"):
            fix(self, name, tuple(getattr(self, name)))
        if self.units is not None:
            fix(self, "units", MappingProxyType(dict(self.units)))
        check_benchmark(self)

    @property
    def n_asked(self) -> int:
        """How many answerable queries there are: what the mean of all speaks of."""
        return sum(query.answerable for query in self.queries)

    @property
    def n_scored(self) -> int:
        """How many of the asked have a relevant unit."""
        return sum(q.answerable and bool(self.qrels.relevant(q.query_id)) for q in self.queries)

    @property
    def n_unanswerable(self) -> int:
        """How many queries have no answer; they stand only in slices."""
        return len(self.queries) - self.n_asked

    def unit_of(self, memory_id: str) -> str | None:
        """Return the unit that a memory counts as.

        Parameters
        ----------
        memory_id : str
            Any memory.

        Returns
        -------
        str or None
            The memory itself, if the benchmark has no units or doesn't know it; None if it counts as nothing.
        """
        return memory_id if self.units is None else self.units.get(memory_id, memory_id)

    @property
    def queries_frame(self) -> pd.DataFrame:
        """One row a query: its fields, how many units are relevant, and one column a slice."""
        names = list(dict.fromkeys(name for query in self.queries for name in query.slices))
        rows = [
            [q.query_id, q.text, q.space, q.now, q.answerable, len(self.qrels.relevant(q.query_id)), q.note]
            for q in self.queries
        ]
        for row, query in zip(rows, self.queries, strict=True):
            row.extend(query.slices.get(name) for name in names)
        return pd.DataFrame(rows, columns=[*QUERY_COLUMNS, *names])

    def summary(self) -> str:
        """Say what is in it, and everything the loader mended or left out.

        Returns
        -------
        str
            One line of counts, then one line a repair.
        """
        parts = self._parts()
        head = f"{self.name}, level {self.level}: {parts[0][1]}"
        return "\n".join([head, *(f"{what}: {said}" for what, said in parts[1:])])

    def _parts(self) -> list[tuple[str, str]]:
        """What there is to say of it, each with a word for what it is."""
        pairs = sum(len(self.qrels.relevant(query.query_id)) for query in self.queries)
        counts = (
            f"{len(self.memories):,} memories, {len(self.associations):,} associations, "
            f"{len(self.queries):,} queries, {pairs:,} relevant"
        )
        scored = f"{self.n_scored:,} of {self.n_asked:,} asked; {self.n_unanswerable:,} without an answer apart"
        parts = [("holds", counts), ("scored", scored)]
        parts += [(what, said) for what, said in (("is", self.description), ("licence", self.licence)) if said]
        return parts + [("repaired", repair) for repair in self.repairs]

    __str__ = summary

    def __repr__(self) -> str:
        return (
            f"Benchmark({self.name!r}, level={self.level!r}, {len(self.memories)} memories, "
            f"{len(self.queries)} queries: {self.n_scored} scored of {self.n_asked} asked)"
        )

    def _repr_html_(self) -> str:
        return table(("part", "what"), self._parts(), caption=f"{self.name}, level {self.level}")


def check_benchmark(benchmark: Benchmark) -> None:
    """Refuse a benchmark whose parts don't meet; called when one is made."""
    spaces = _memory_spaces(benchmark)
    for item in benchmark.associations:
        for end in ("source", "target"):
            if item.get(end) not in spaces:
                raise DatasetError(f"an association's {end} is {item.get(end)!r}, which is no memory of the set")
    unit_spaces: dict[str | None, set[str]] = {}
    for memory_id, space in spaces.items():
        unit_spaces.setdefault(benchmark.unit_of(memory_id), set()).add(space)
    asked: dict[str, str] = {}
    known = set(spaces.values())
    for query in benchmark.queries:
        if query.query_id in asked:
            raise DatasetError(f"two queries have the id {query.query_id!r}; ids must be unique")
        asked[query.query_id] = query.space or DEFAULT_SPACE
        if asked[query.query_id] not in known | {"*"}:
            raise DatasetError(f"query {query.query_id!r} looks in the space {query.space!r}, which has no memory")
    for query_id, units in benchmark.qrels.items():
        if query_id not in asked:
            raise DatasetError(f"the qrels grade for {query_id!r}, which is no query of {benchmark.name!r}")
        _check_units(query_id, asked[query_id], units, unit_spaces)


def _memory_spaces(benchmark: Benchmark) -> dict[str, str]:
    """Memory id to space, with ids, contents and units checked on the way."""
    spaces: dict[str, str] = {}
    for place, memory in enumerate(benchmark.memories):
        memory_id = check_text(memory.get("memory_id"), f"the memory_id of memory {place}", error=DatasetError)
        if memory_id in spaces:
            raise DatasetError(f"memory {place} has the id {memory_id!r}, which an earlier one has; ids are unique")
        check_text(memory.get("content"), f"the content of memory {memory_id!r}", error=DatasetError)
        spaces[memory_id] = memory.get("space") or DEFAULT_SPACE
    if benchmark.units is not None:
        if odd := [name for name in spaces if name not in benchmark.units]:
            raise DatasetError(f"units leaves out {len(odd)} memories: {_some(odd)}; map those without a unit to None")
        if odd := [name for name in benchmark.units if name not in spaces]:
            raise DatasetError(f"units maps {len(odd)} ids that are no memories: {_some(odd)}")
    return spaces


def _check_units(query_id: str, space: str, units: Iterable[str], unit_spaces: Mapping[Any, set[str]]) -> None:
    """Refuse judged units that aren't in the set, or that a wall keeps from the query."""
    for unit in units:
        if unit not in unit_spaces:
            raise DatasetError(f"the qrels of query {query_id!r} name {unit!r}, which is no unit of the set")
        if space not in unit_spaces[unit] | {"*"}:
            raise DatasetError(
                f"query {query_id!r} looks in the space {space!r}, but its unit {unit!r} is in "
                f"{_some(unit_spaces[unit])}; nothing crosses a space"
            )


def _some(names: Iterable[str], most: int = 5) -> str:
    """Name the first few of many."""
    names = sorted(names)
    return ", ".join(map(repr, names[:most])) + (" …" if len(names) > most else "")
