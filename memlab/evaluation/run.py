"""Asking a benchmark's queries of a store, and keeping what comes back as a run."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from time import perf_counter
from typing import Any

from memlab.errors import DatasetError, InvalidArgument
from memlab.recalls import Recall
from memlab.records import DEFAULT_SPACE
from memlab.store import MemoryStore
from memlab.trials import Benchmark, Query, Run

# Queries recalled at once: enough that the index is read in bulk, few enough that a bar moves.
BATCH = 64


def build_store(benchmark: Benchmark, encoder: Any = None, *, progress: bool = True) -> MemoryStore:
    """Make a store in memory that holds a benchmark's memories and associations.

    Parameters
    ----------
    benchmark : Benchmark
        What to store.
    encoder : Encoder or str, optional
        As :class:`memlab.store.MemoryStore` takes it; without one, its default encoder. (For a store without
        a dense channel, make it yourself.)
    progress : bool, default True
        Show a bar for what takes more than a second.

    Returns
    -------
    MemoryStore
        Close it, or use it as a context manager.

    Raises
    ------
    MemlabError
        If a memory or an association can't be stored; the store is closed then.
    """
    store = MemoryStore() if encoder is None else MemoryStore(encoder=encoder)
    try:
        store.add_many(benchmark.memories, progress=progress)
        store.associate_many(benchmark.associations)
    except BaseException:
        store.close()
        raise
    return store


def run(
    benchmark: Benchmark,
    method: Any = "default",
    *,
    encoder: Any = None,
    store: MemoryStore | None = None,
    k: int = 100,
    name: str | None = None,
    progress: bool = True,
) -> Run:
    """Recall for every query of a benchmark, each in its own space and at its own time.

    Parameters
    ----------
    benchmark : Benchmark
        What to ask.
    method : str, Method or callable, default "default"
        As ``store.recall`` takes it.
    encoder : Encoder or str, optional
        For the store that is made; without one, the default encoder.
    store : MemoryStore, optional
        A store that holds the benchmark's memories already, such as :func:`build_store` made for several runs.
        What else it holds takes ranks like any other memory. It is left open.
    k : int, default 100
        How many units to rank for each query.
    name : str, optional
        What the run is called; without one, the method as it prints.
    progress : bool, default True
        Show a bar for what takes more than a second.

    Returns
    -------
    Run
        A unit stands where its best memory does; units are ranked in the order of recall. ``seconds`` is the
        wall time of a query's batch, shared evenly among its queries.

    Raises
    ------
    DatasetError
        If the store lacks a memory of the benchmark; the message names it.
    MethodError
        If the method can't be used.
    InvalidArgument
        If k is no whole number from 1 up, or both a store and an encoder are given.

    Notes
    -----
    Where memories are folded into units, so many memories are recalled that k units are among them in the worst
    case: all members of the k - 1 largest units of a space, what belongs to no unit, and one more.

    Examples
    --------
    >>> from memlab.benchmarks.synthetic import synthetic
    >>> from memlab.encoders import HashEncoder
    >>> run(synthetic(n=50), "lexical", encoder=HashEncoder(), k=10, name="words", progress=False)
    Run('words', 23 queries, k=10)
    """
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise InvalidArgument(f"k is {k!r}; it must be a whole number from 1 up")
    if store is None:
        with build_store(benchmark, encoder, progress=progress) as made:
            return run(benchmark, method, store=made, k=k, name=name, progress=progress)
    if encoder is not None:
        raise InvalidArgument("both a store and an encoder are given; a store has its own encoder, leave one out")
    lacking = [m["memory_id"] for m in benchmark.memories if m["memory_id"] not in store]
    if lacking:
        raise DatasetError(
            f"the store lacks {len(lacking)} of the {len(benchmark.memories)} memories of {benchmark.name!r}, "
            f"such as {lacking[0]!r}; build one with build_store(benchmark)"
        )
    rankings, seconds, printed = {}, {}, str(method)
    for query, recall, took in _recalls(benchmark, store, method, k, progress):
        hits = [(hit.memory_id, hit.score) for hit in recall]
        rankings[query.query_id] = fold(hits, benchmark.unit_of, k)
        seconds[query.query_id] = took
        printed = recall.method
    ranked = {query.query_id: rankings[query.query_id] for query in benchmark.queries}
    return Run(name or printed, ranked, seconds, k=k, ordered=True)


def _recalls(
    benchmark: Benchmark, store: MemoryStore, method: Any, k: int, progress: bool
) -> Iterator[tuple[Query, Recall, float]]:
    """Each query with what is recalled for it and its share of the time."""
    from tqdm.auto import tqdm

    depths = _depths(benchmark, k)
    label = f"recall, {method}" if isinstance(method, str) else "recall"
    with tqdm(total=len(benchmark.queries), desc=label, delay=1, disable=not progress) as bar:
        for batch, space, now in _batches(benchmark.queries):
            start = perf_counter()
            found = store.recall(
                [query.text for query in batch],
                depths[space or DEFAULT_SPACE],
                method=method,
                space=space,
                now=now,
            )
            took = (perf_counter() - start) / len(batch)
            for query, recall in zip(batch, found, strict=True):
                yield query, recall, took
            bar.update(len(batch))


def fold(hits: Sequence[tuple[str, float]], unit_of: Callable[[str], str | None], k: int) -> list[tuple[str, float]]:
    """Turn ranked memories into ranked units: each unit stands where its best memory does.

    Parameters
    ----------
    hits : sequence of (str, float)
        Memory ids and scores, best first.
    unit_of : callable
        Memory id to unit id, or to None where a memory belongs to no unit.
    k : int
        How many units to keep.

    Returns
    -------
    list of (str, float)
        Units with the score of their best memory, best first.

    Examples
    --------
    >>> fold([("a1", 0.9), ("b1", 0.8), ("a2", 0.7)], {"a1": "A", "a2": "A", "b1": "B"}.get, 10)
    [('A', 0.9), ('B', 0.8)]
    """
    units: dict[str, float] = {}
    for memory_id, score in hits:
        unit = unit_of(memory_id)
        if unit is not None:
            units.setdefault(unit, score)
    return list(units.items())[:k]


def _depths(benchmark: Benchmark, k: int) -> dict[str, int]:
    """How many memories to recall in each space, so that k units are among them: see the notes of `run`."""
    sizes: dict[str, dict[str | None, int]] = {}
    for memory in benchmark.memories:
        members = sizes.setdefault(memory.get("space") or DEFAULT_SPACE, {})
        unit = benchmark.unit_of(memory["memory_id"])
        members[unit] = members.get(unit, 0) + 1
    # A query in all spaces meets all units.
    everywhere: dict[str | None, int] = {}
    for members in sizes.values():
        for unit, size in members.items():
            everywhere[unit] = everywhere.get(unit, 0) + size
    return {space: _depth(members, k) for space, members in {**sizes, "*": everywhere}.items()}


def _depth(members: dict[str | None, int], k: int) -> int:
    largest = sorted((size for unit, size in members.items() if unit is not None), reverse=True)
    return min(sum(largest[: k - 1]) + members.get(None, 0) + 1, sum(members.values()))


def _batches(queries: Sequence[Query]) -> Iterator[tuple[list[Query], str | None, datetime | None]]:
    """Queries of one space and one time together, at most `BATCH` of them."""
    groups: dict[tuple[str | None, datetime | None], list[Query]] = {}
    for query in queries:
        groups.setdefault((query.space, query.now), []).append(query)
    for (space, now), group in groups.items():
        for start in range(0, len(group), BATCH):
            yield group[start : start + BATCH], space, now
