"""Measuring a run: means over the benchmark's queries, with what each mean is over."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import pandas as pd

from memlab.errors import InvalidArgument
from memlab.evaluation.measures import DEFAULT_MEASURES, Measure, parse_measure, score
from memlab.markup import table
from memlab.queries import NOTHING
from memlab.trials import Benchmark, Run

# Queries that lack the slice still count; they are told apart from those that have it.
WITHOUT = "(none)"


@dataclass(frozen=True, slots=True)
class Scores:
    """Means over some queries, and over how many.

    Parameters
    ----------
    means : mapping of str to float
        Measure to mean over the scored queries; NaN where none was scored.
    n_asked, n_scored : int
        How many queries there are, and how many of them have a relevant unit.
    """

    means: Mapping[str, float]
    n_asked: int
    n_scored: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Evaluation:
    """How good a run is on a benchmark.

    Parameters
    ----------
    run, benchmark, level : str
        What was measured, on what.
    scores : Scores
        Over the answerable queries.
    per_query : DataFrame
        One row a query of the benchmark, in its order: query_id, answerable, n_relevant, each measure (NaN where
        nothing is relevant), seconds, and one column a slice.
    n_unanswerable : int
        How many queries have no answer; they stand in slices only.
    missing : tuple of str
        Queries with relevant units that the run doesn't have; they count 0.
    foreign : tuple of str
        Queries of the run that the benchmark doesn't have; they don't count.
    by : str, optional
        What the slices are made by.
    slices : mapping of str to Scores, default {}
        One a value of `by`, sorted; unanswerable queries stand here too, scored where the benchmark grades
        units for them.
    """

    run: str
    benchmark: str
    level: str
    scores: Scores
    per_query: pd.DataFrame
    n_unanswerable: int
    missing: tuple[str, ...]
    foreign: tuple[str, ...]
    by: str | None = None
    slices: Mapping[str, Scores] = field(default_factory=dict)

    @property
    def means(self) -> Mapping[str, float]:
        """Measure to mean over the scored queries."""
        return self.scores.means

    @property
    def n_asked(self) -> int:
        """How many answerable queries there are."""
        return self.scores.n_asked

    @property
    def n_scored(self) -> int:
        """How many of the asked have a relevant unit."""
        return self.scores.n_scored

    @property
    def frame(self) -> pd.DataFrame:
        """One row for all and one a slice: each measure, n_scored, n_asked."""
        rows = {"all": self.scores, **{f"{self.by}: {name}": found for name, found in self.slices.items()}}
        return pd.DataFrame.from_dict(
            {name: {**s.means, "n_scored": s.n_scored, "n_asked": s.n_asked} for name, s in rows.items()},
            orient="index",
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reader has to know of the counts, one sentence each."""
        unscored = self.n_asked - self.n_scored
        notes = [f"{self.n_scored:,} scored of {self.n_asked:,} asked."]
        if unscored:
            notes.append(f"{unscored:,} have no relevant unit and aren't scored.")
        if self.n_unanswerable:
            notes.append(f"{self.n_unanswerable:,} without an answer stand in slices only.")
        if self.missing:
            notes.append(f"{len(self.missing):,} aren't in the run and count 0: {_first(self.missing)}.")
        if self.foreign:
            notes.append(f"{len(self.foreign):,} of the run aren't asked here and don't count: {_first(self.foreign)}.")
        return tuple(notes)

    def rows(self) -> list[list[str]]:
        """The table's cells: a name, each measure with three digits, and how many were scored of how many."""
        named = {"all": self.scores, **self.slices}
        return [
            [name, *(show(value) for value in found.means.values()), f"{found.n_scored} of {found.n_asked}"]
            for name, found in named.items()
        ]

    def __str__(self) -> str:
        header = ["", *self.means, "scored"]
        title = f"{self.run} on {self.benchmark}, level {self.level}"
        return "\n".join([title, *columns([header, *self.rows()]), *self.notes])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        caption = f"{self.run} on {self.benchmark}, level {self.level}"
        align = ["left", *["right"] * (len(self.means) + 1)]
        header = [self.by or "", *self.means, "scored"]
        return table(header, self.rows(), caption=caption, align=align, note=" ".join(self.notes))


def evaluate(
    run: Run,
    benchmark: Benchmark,
    *,
    measures: Iterable[str] = DEFAULT_MEASURES,
    by: str | None = None,
) -> Evaluation:
    """Measure a run against a benchmark's qrels.

    Parameters
    ----------
    run : Run
        What to measure.
    benchmark : Benchmark
        Whose qrels count. Means run over its queries, whatever the run has.
    measures : iterable of str, default ("recall@5", "recall@10", "nDCG@10")
        Names of :mod:`memlab.evaluation.measures`.
    by : str, optional
        A slice of the queries, such as ``"category"``.

    Returns
    -------
    Evaluation
        Shows as a table; every figure with how many were scored of how many asked.

    Raises
    ------
    InvalidArgument
        If a measure or slice is unknown, or a cut-off is deeper than the run ranks.

    Notes
    -----
    The mean of all is over the answerable queries that have a relevant unit. A query that the run doesn't have,
    or has no hits for, counts 0. Unanswerable queries stand in slices only. What can't be measured is NaN.

    Examples
    --------
    >>> from memlab.trials import Qrels, Query
    >>> memories = [{"memory_id": name, "content": name} for name in "abc"]
    >>> queries = [Query("q1", "one?", slices={"kind": "x"}), Query("q2", "two?", slices={"kind": "y"})]
    >>> bench = Benchmark("tiny", "memory", memories, queries, Qrels({"q1": ["a", "c"], "q2": ["b"]}))
    >>> print(evaluate(Run("mine", {"q1": [("a", 1.0)]}), bench, measures=["recall@5"], by="kind"))
    mine on tiny, level memory
         recall@5  scored
    all      .250  2 of 2
    x        .500  1 of 1
    y        .000  1 of 1
    2 scored of 2 asked.
    1 aren't in the run and count 0: q2.
    """
    wanted = _wanted(measures, run)
    graded = {q.query_id: benchmark.qrels[q.query_id] for q in benchmark.queries if _scored(benchmark, q.query_id)}
    rankings = {query_id: [unit for unit, _ in ranking] for query_id, ranking in run.rankings.items()}
    values = score(rankings, graded, wanted)
    frame = _per_query(run, benchmark, values)
    names = [measure.name for measure in wanted]
    known = set(frame["query_id"])
    return Evaluation(
        run=run.name,
        benchmark=benchmark.name,
        level=benchmark.level,
        scores=_scores(frame[frame["answerable"]], names),
        per_query=frame,
        n_unanswerable=benchmark.n_unanswerable,
        missing=tuple(query_id for query_id in graded if query_id not in run.rankings),
        foreign=tuple(query_id for query_id in run.rankings if query_id not in known),
        by=by,
        slices=_slices(frame, names, by, benchmark),
    )


def _wanted(measures: Iterable[str], run: Run) -> list[Measure]:
    if isinstance(measures, str):
        raise InvalidArgument(f"measures is {measures!r}; give a list, such as [{measures!r}]")
    wanted = list(dict.fromkeys(parse_measure(name) for name in measures))
    for measure in wanted:
        if run.k is not None and measure.k is not None and measure.k > run.k:
            raise InvalidArgument(
                f"{measure.name} can't be taken of run {run.name!r}, which ranks {run.k} units for a query; "
                f"run it with k={measure.k}"
            )
    return wanted


def _scored(benchmark: Benchmark, query_id: str) -> bool:
    return bool(benchmark.qrels.relevant(query_id))


def _per_query(run: Run, benchmark: Benchmark, values: Mapping[str, Mapping[str, float]]) -> pd.DataFrame:
    frame = benchmark.queries_frame
    ids = list(frame["query_id"])
    slices = frame.columns[list(frame.columns).index("note") + 1 :]
    columns: dict[str, Any] = {name: frame[name] for name in ("query_id", "answerable", "n_relevant")}
    for name, found in values.items():
        columns[name] = [found.get(query_id, math.nan) for query_id in ids]
    columns["seconds"] = [run.seconds.get(query_id, math.nan) for query_id in ids]
    return pd.DataFrame({**columns, **{name: frame[name] for name in slices}})


def _scores(frame: pd.DataFrame, names: Sequence[str]) -> Scores:
    scored = frame[frame["n_relevant"] > 0]
    means = {name: float(scored[name].mean()) if len(scored) else math.nan for name in names}
    return Scores(MappingProxyType(means), len(frame), len(scored))


def _slices(frame: pd.DataFrame, names: Sequence[str], by: str | None, benchmark: Benchmark) -> Mapping[str, Scores]:
    if by is None:
        return NOTHING
    known = sorted({name for query in benchmark.queries for name in query.slices})
    if by not in known:
        raise InvalidArgument(f"the queries of {benchmark.name!r} have no slice {by!r}; they have {known}")
    values = frame[by].fillna(WITHOUT)
    return MappingProxyType({name: _scores(frame[values == name], names) for name in sorted(set(values))})


def show(value: float) -> str:
    """Write a mean with three digits; a dash where nothing was measured.

    Parameters
    ----------
    value : float
        From 0 to 1, or NaN.

    Returns
    -------
    str
        Such as ``.614``.

    Examples
    --------
    >>> show(0.6141), show(1.0), show(float("nan"))
    ('.614', '1.000', '–')
    """
    return "–" if math.isnan(value) else f"{value:.3f}".removeprefix("0")


def columns(rows: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """Line up cells.

    Parameters
    ----------
    rows : sequence of sequences of str
        Rows of equal length.
    left : int, default 1
        How many columns stand to the left; the others stand to the right.

    Returns
    -------
    list of str
        One line a row.

    Examples
    --------
    >>> columns([["", "recall@5"], ["all", ".250"]])
    ['     recall@5', 'all      .250']
    """
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    sides = [str.ljust] * left + [str.rjust] * (len(widths) - left)
    return [
        "  ".join(side(cell, width) for side, cell, width in zip(sides, row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _first(names: Sequence[str], most: int = 5) -> str:
    return ", ".join(names[:most]) + (" …" if len(names) > most else "")
