"""Measuring recall methods on a benchmark: a table to read, and JSON to keep."""

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from memlab.errors import InvalidArgument
from memlab.evaluation.evaluate import Evaluation, Scores, columns, evaluate
from memlab.evaluation.measures import DEFAULT_MEASURES
from memlab.evaluation.run import build_store, run
from memlab.store import MemoryStore
from memlab.trials import Benchmark

METHODS = ("lexical", "dense", "hybrid", "default")


def bench_recall(
    benchmark: Benchmark,
    methods: Iterable[Any] = METHODS,
    *,
    encoder: Any = None,
    store: MemoryStore | None = None,
    by: str | None = None,
    json_path: str | Path | None = None,
    progress: bool = True,
) -> dict[str, Any]:
    """Measure methods on one benchmark with one store, print a table, and write JSON if asked.

    Parameters
    ----------
    benchmark : Benchmark
        What to measure on.
    methods : iterable of (str, Method or callable), default lexical, dense, hybrid and default
        As ``store.recall`` takes them; each with a name of its own.
    encoder : Encoder or str, optional
        For the store that is made; without one, the default encoder.
    store : MemoryStore, optional
        A store that holds the benchmark's memories already; it is left open.
    by : str, optional
        The slice of the queries that is told apart; without one, ``category`` or ``kind`` where they have it.
    json_path : str or Path, optional
        Where to write the figures.
    progress : bool, default True
        Show bars for what takes more than a second.

    Returns
    -------
    dict
        ``{"benchmark", "level", "n_asked", "n_scored", "methods": {name: {measure: mean, …, "by": {slice:
        {measure: mean, …, "n_asked", "n_scored"}}}}}``, what the JSON holds too. A mean over no query is None.
        The figures of all are over answerable queries; the others stand in ``by``.

    Raises
    ------
    InvalidArgument
        If two methods have the same name, or both a store and an encoder are given.
    DatasetError
        If the queries have no such slice.
    """
    if store is None:
        with build_store(benchmark, encoder, progress=progress) as made:
            return bench_recall(benchmark, methods, store=made, by=by, json_path=json_path, progress=progress)
    if encoder is not None:
        raise InvalidArgument("both a store and an encoder are given; a store has its own encoder, leave one out")
    methods = list(methods)
    named = {_name(method): method for method in methods}
    if len(named) < len(methods):
        raise InvalidArgument(f"methods have the same name: {[_name(method) for method in methods]}; rename one")
    by = _slice(benchmark) if by is None else by
    found = {}
    for name, method in named.items():
        ranked = run(benchmark, method, store=store, name=name, progress=progress)
        found[name] = evaluate(ranked, benchmark, measures=DEFAULT_MEASURES, by=by)
    figures = {
        "benchmark": benchmark.name,
        "level": benchmark.level,
        "n_asked": benchmark.n_asked,
        "n_scored": benchmark.n_scored,
        "methods": {name: _figures(evaluation) for name, evaluation in found.items()},
    }
    print(benchmark)
    print(comparison(found))
    if json_path is not None:
        path = Path(json_path)
        path.write_text(json.dumps(figures, indent=2, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")
        print(f"written to {path}")
    return figures


def comparison(evaluations: Mapping[str, Evaluation]) -> str:
    """Write evaluations of one benchmark as one table.

    Parameters
    ----------
    evaluations : mapping of str to Evaluation
        Name to evaluation; all with the same measures and slices.

    Returns
    -------
    str
        For each, a line over all and one a slice, then the notes.
    """
    if not evaluations:
        return "no method was measured"
    first = next(iter(evaluations.values()))
    rows = [["method", first.by or "", *first.means, "scored"]]
    for name, evaluation in evaluations.items():
        rows += [[name if place == 0 else "", *row] for place, row in enumerate(evaluation.rows())]
    return "\n".join([*columns(rows, left=2), *first.notes])


def _name(method: Any) -> str:
    """The short name of a method: as given, its own, or the callable's."""
    return method if isinstance(method, str) else str(getattr(method, "name", None) or method.__name__)


def _slice(benchmark: Benchmark) -> str | None:
    known = {name for query in benchmark.queries for name in query.slices}
    return next((name for name in ("category", "kind") if name in known), None)


def _figures(evaluation: Evaluation) -> dict[str, Any]:
    slices = {
        name: {**_means(scores), "n_asked": scores.n_asked, "n_scored": scores.n_scored}
        for name, scores in evaluation.slices.items()
    }
    return {**_means(evaluation.scores), "by": slices}


def _means(scores: Scores) -> dict[str, float | None]:
    return {name: None if math.isnan(value) else value for name, value in scores.means.items()}
